"""The curves of a study as a picture: targets against requests, and target bytes against other bytes."""

from __future__ import annotations

import io
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from coati.runs.durable import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coati.replaying.comparison import MeasuredRun
    from coati.replaying.watch_replay import WatchRun

    Curve = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
    Line = tuple[str | None, str]

_POINTS = 400
PLAIN_LINE = (None, "-")
# The colours and styles of the lines of bounds, in the order in which they are drawn.
BOUND_LINES = (("black", "--"), ("grey", ":"))


def bound_lines(bounds: Iterable[str]) -> dict[str, Line]:
    """Return how the lines of bounds are drawn, by name; the others get their colours from matplotlib.

    >>> bound_lines(["clairvoyant", "clairvoyant"])
    {'clairvoyant': ('black', '--')}
    """
    return dict(zip(dict.fromkeys(bounds), cycle(BOUND_LINES), strict=False))


def draw_curves(results: Sequence[MeasuredRun], file: Path) -> None:
    """Draw a line per strategy: the median over seeds, with the band from least to most; format by suffix."""
    # Imported here: it takes longer than a small replay, and only this needs it.
    from matplotlib.figure import Figure

    totals = results[0].totals
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    lines = bound_lines(result.strategy for result in results if result.bound)
    for strategy in dict.fromkeys(result.strategy for result in results):
        runs = [result for result in results if result.strategy == strategy]
        line = lines.get(strategy, PLAIN_LINE)
        _draw(left, strategy, [_by_requests(run) for run in runs], totals.urls, line)
        _draw(right, strategy, [_by_volume(run) for run in runs], totals.other_bytes, line)
    left.set(xlabel="requests, % of the site's URLs", ylabel="targets found, %", title="Requests")
    right.set(xlabel="other bytes, % of the site's", ylabel="target bytes, %", title="Volume")
    for axes in (left, right):
        axes.set(xlim=(0, 100), ylim=(0, 102))
        axes.axhline(90, color="silver", linewidth=0.8, zorder=0)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, loc="lower right")
    figure.suptitle(f"{results[0].site}: {totals.urls:,} URLs, {totals.targets:,} targets")
    _save(figure, file)


def draw_coverage(runs: Sequence[WatchRun], file: Path, name: str) -> None:
    """Draw the coverage of watches over time, one line per strategy; format by suffix."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.subplots()
    lines = bound_lines(run.strategy for run in runs if run.bound)
    for strategy in dict.fromkeys(run.strategy for run in runs):
        curves = np.array([run.curve for run in runs if run.strategy == strategy])
        colour, style = lines.get(strategy, PLAIN_LINE)
        middle = 100 * np.median(curves, axis=0)
        axes.plot(middle, label=strategy, color=colour, linestyle=style, linewidth=1.6)
    axes.set(xlabel="cycle", ylabel="new links found until then, %", ylim=(0, 102))
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    first = runs[0]
    focus = f", {first.relevant}" if first.relevant else ""
    axes.set_title(f"{name}: {first.per_cycle} pages per cycle{focus}")
    _save(figure, file)


def _save(figure: Figure, file: Path) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, format=file.suffix.removeprefix("."), dpi=150)
    write_whole(file, [drawn.getvalue()])


def _by_requests(result: MeasuredRun) -> Curve:
    targets = np.frombuffer(result.run.trace.targets, np.uint32).astype(np.float64)
    return np.arange(1, len(targets) + 1, dtype=np.float64), _percent(targets, result.totals.targets)


def _by_volume(result: MeasuredRun) -> Curve:
    wanted = np.frombuffer(result.run.trace.target_bytes, np.uint64).astype(np.float64)
    everything = np.frombuffer(result.run.trace.sizes, np.uint64).astype(np.float64).cumsum()
    return everything - wanted, _percent(wanted, result.totals.target_bytes)


def _percent(values: npt.NDArray[np.float64], total: int) -> npt.NDArray[np.float64]:
    return 100 * values / max(total, 1)


def _draw(axes: Axes, strategy: str, curves: Sequence[Curve], total: int, drawn: Line) -> None:
    grid = np.linspace(0, max(total, 1), _POINTS)
    lines = np.array([_sample(curve, grid) for curve in curves])
    middle = np.median(lines, axis=0)
    percent = 100 * grid / max(total, 1)
    colour, style = drawn
    (line,) = axes.plot(percent, middle, label=strategy, color=colour, linestyle=style, linewidth=1.6)
    if len(curves) > 1:
        axes.fill_between(
            percent, lines.min(axis=0), lines.max(axis=0), color=line.get_color(), alpha=0.15, linewidth=0
        )


def _sample(curve: Curve, grid: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Read a curve that rises in steps at the points of a grid, the last value held."""
    x, y = curve
    at = np.searchsorted(x, grid, side="right")
    return np.concatenate([[0.0], y])[at]
