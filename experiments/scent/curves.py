"""The study's curves: a panel a site, a line a strategy, and the band from least to most over its seeds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.axes import Axes

    from experiments.scent.summary import Results

    Line = npt.NDArray[np.float64]

_POINTS = 400
_COLUMNS = 3
# A panel ends at so many times the requests that the slowest of the main strategies needs for 90 %.
_BEYOND = 2.5
# Colours that those who see no red and green can tell apart.
_STYLES = {
    "bfs": ("#999999", "-"),
    "dfs": ("#bbbbbb", "--"),
    "random": ("#cccccc", ":"),
    "focused": ("#e69f00", "-"),
    "sb-classifier": ("#0072b2", "-"),
    "scent": ("#d55e00", "-"),
    "clairvoyant": ("black", "--"),
}


def draw_curves(results: Results, file: Path) -> None:
    """Draw all sites of some results into FILE.png and FILE.svg; nothing if there are none."""
    if not results.sites:
        return
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = math.ceil(len(results.sites) / _COLUMNS)
    figure = Figure(figsize=(4.2 * _COLUMNS, 3.3 * rows), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, squeeze=False)
    for axes, site in zip(panels.flat, results.sites, strict=False):
        _draw_site(axes, results, site)
    for axes in panels.flat[len(results.sites) :]:
        axes.set_visible(False)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.supxlabel("requests, % of the site's URLs", fontsize="medium")
    figure.supylabel("targets found, %", fontsize="medium")
    figure.savefig(file.with_suffix(".png"), dpi=110)
    # Without dates and random names the same numbers give the same file.
    with mpl.rc_context({"svg.hashsalt": "scent"}):
        figure.savefig(file.with_suffix(".svg"), metadata={"Date": None})


def _draw_site(axes: Axes, results: Results, site: str) -> None:
    percent = np.linspace(0, 100, _POINTS)
    for variant, (colour, style) in _STYLES.items():
        lines = _lines(results, site, variant)
        if not lines:
            continue
        width = 2.0 if variant == "scent" else 1.2
        axes.plot(percent, np.median(lines, axis=0), style, color=colour, label=variant, linewidth=width)
        if len(lines) > 1:
            low, high = np.min(lines, axis=0), np.max(lines, axis=0)
            axes.fill_between(percent, low, high, color=colour, alpha=0.18, linewidth=0)
    some = results.runs(site, "scent") or results.runs(site, "bfs")
    axes.set(xlim=(0, _reach(results, site)), ylim=(0, 102))
    axes.set_title(
        f"{site}: {some[0]['urls']:,} URLs, {some[0]['targets_total']:,} targets", fontsize="medium"
    )
    axes.axhline(90, color="silver", linewidth=0.8, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)


def _lines(results: Results, site: str, variant: str) -> list[Line]:
    return [_line(run) for run in results.runs(site, variant) if run.get("curve")]


def _reach(results: Results, site: str) -> float:
    """Give how much of a site is worth showing: where its targets are few and near, the rest is flat."""
    ends = [results.median(site, variant) for variant in ("bfs", "sb-classifier", "scent")]
    return min(100.0, _BEYOND * max((end for end in ends if math.isfinite(end)), default=100.0))


def _line(run: dict[str, Any]) -> Line:
    """Give the percentage of targets after each percentage of the site's URLs."""
    step, targets = run["curve"]
    # The curve has the first request and then every so many; the run's end is known beside it.
    asked = np.concatenate([[0], 1 + step * np.arange(len(targets)), [run["requests"]]])
    found = np.concatenate([[0], targets, [run["targets"]]])
    grid = np.linspace(0, run["urls"], _POINTS)
    return np.asarray(100 * np.interp(grid, asked, found) / max(1, run["targets_total"]), np.float64)
