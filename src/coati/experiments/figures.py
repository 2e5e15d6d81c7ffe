"""The figures of the paper: curves of each site with bands over seeds, and the rewards of the best groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.assembly import strategy_row
from coati.experiments.area_figure import area_figure
from coati.experiments.measures import TOP_GROUPS
from coati.experiments.search_figures import repositories_figure
from coati.experiments.summaries import shown_rows
from coati.experiments.trials import CURVE_POINTS, TrialResult
from coati.experiments.watch_figures import watch_figures
from coati.replaying.charts import PLAIN_LINE, bound_lines
from coati.runs.durable import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coati.experiments.runner import Study
    from coati.experiments.sites import SiteFacts
    from coati.experiments.spec import Variant
    from coati.replaying.charts import Line

    Lines = npt.NDArray[np.float64]

_FORMATS = ("png", "svg")
# A site may be named by its types, such as `application/pdf`.
_IN_FILE_NAMES = str.maketrans("/:", "--")
_SHARE_PCT = 90
# As many as matplotlib has before it begins again.
_COLOURS = 10


def draw_figures(study: Study, folder: Path) -> list[Path]:
    """Draw the figure that the experiment names, as PNG and as SVG; return the files."""
    files: list[Path] = []
    name = study.experiment.file_stem
    if "curves" in study.experiment.figures:
        for site in study.sites:
            files += _save(_curves(study, site), folder, f"{name}-{site.name}")
    if "shares" in study.experiment.figures:
        for site in study.sites:
            files += _save(_relevant_shares(study, site), folder, f"{name}-{site.name}")
    if "areas" in study.experiment.figures:
        files += _save(area_figure(study), folder, f"{name}-areas")
    if "groups" in study.experiment.figures:
        files += _save(_groups(study), folder, f"{name}-groups")
    if "repositories" in study.experiment.figures:
        files += _save(repositories_figure(study), folder, f"{name}-repositories")
    if "watches" in study.experiment.figures:
        for setting, figure in watch_figures(study):
            files += _save(figure, folder, f"{name}-{setting}")
    return files


def _save(figure: Figure, folder: Path, name: str) -> list[Path]:
    import io

    files = []
    for form in _FORMATS:
        drawn = io.BytesIO()
        # Without a date and with fixed ids the same numbers give the same file.
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(drawn, format=form, dpi=150, metadata=metadata)
        file = folder / f"{name.translate(_IN_FILE_NAMES)}.{form}"
        write_whole(file, [drawn.getvalue()])
        files.append(file)
    return files


def _curves(study: Study, site: SiteFacts) -> Figure:
    # Imported here: it takes longer than a small experiment, and only this needs it.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = shown_rows(study.experiment)
    bounds = bound_lines(variant.label for variant in rows if strategy_row(variant.strategy).bound)
    for variant in rows:
        results = study.of(site.name, variant)
        drawn = bounds.get(variant.label, PLAIN_LINE)
        _band(left, variant, np.array([_by_requests(result, site) for result in results]), drawn)
        curves = [result.volume_pct for result in results if result.volume_pct]
        if curves:
            _band(right, variant, np.array(curves), drawn)
    left.set(xlabel="requests, % of the site's URLs", ylabel="targets found, %", title="Requests")
    right.set(xlabel="other bytes, % of the site's", ylabel="target bytes, %", title="Volume")
    for axes in (left, right):
        axes.set(xlim=(0, 100), ylim=(0, 102))
        axes.spines[["top", "right"]].set_visible(False)
        if not site.totals.targets:
            axes.text(50, 50, "not defined: there are no targets", ha="center", color="grey")
        axes.axhline(_SHARE_PCT, color="silver", linewidth=0.8, zorder=0)
    # Outside: with ten curves there is no free place among them.
    figure.legend(*left.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=5)
    totals = site.totals
    figure.suptitle(
        f"{site.name}: {totals.urls:,} URLs, {totals.targets:,} targets; mean ± 1 standard deviation"
    )
    return figure


def _relevant_shares(study: Study, site: SiteFacts) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.6), layout="constrained")
    axes = figure.subplots()
    for place, variant in enumerate(shown_rows(study.experiment)):
        results = study.of(site.name, variant)
        pages = np.linspace(0, max(int(each.values["requests"] or 0) for each in results), CURVE_POINTS)[1:]
        shares = [np.searchsorted(each.found(), pages, side="right") / pages for each in results]
        # More rows than colours: the second round is dashed.
        style = "-" if place < _COLOURS else "--"
        axes.plot(pages, np.mean(shares, axis=0), label=variant.label, linestyle=style, linewidth=1.6)
    axes.set(xlabel="pages fetched", ylabel="relevant pages, share of those fetched")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside lower center", ncols=3, fontsize="small")
    figure.suptitle(f"{study.experiment.title}: {site.totals.urls:,} pages, mean over seeds")
    return figure


def _by_requests(result: TrialResult, site: SiteFacts) -> Lines:
    """Return the share of targets after equal steps of requests, the last value held."""
    grid = np.linspace(0, site.totals.urls, CURVE_POINTS)
    found = np.searchsorted(result.found(), grid, side="right")
    return 100 * found / max(site.totals.targets, 1)


def _band(axes: Axes, variant: Variant, lines: Lines, drawn: Line) -> None:
    percent = np.linspace(0, 100, CURVE_POINTS)
    mean, sd = lines.mean(axis=0), lines.std(axis=0)
    colour, style = drawn
    (line,) = axes.plot(percent, mean, label=variant.label, color=colour, linestyle=style, linewidth=1.6)
    if len(lines) > 1:
        low, high = (mean - sd).clip(0, 100), (mean + sd).clip(0, 100)
        axes.fill_between(percent, low, high, color=line.get_color(), alpha=0.15, linewidth=0)


def _groups(study: Study) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    variant = study.experiment.variants[0]
    for site in study.sites:
        rewards = _mean_rewards(study.of(site.name, variant))
        if rewards:
            axes.plot(range(1, len(rewards) + 1), rewards, marker="o", markersize=3, label=site.name)
    axes.set(
        xlabel="group, by mean reward",
        ylabel="mean reward (new targets per page)",
        xticks=range(1, TOP_GROUPS + 1),
    )
    if axes.lines:
        axes.set_yscale("log")
        axes.legend(frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"The ten best groups of {variant.label}, mean over seeds")
    return figure


def _mean_rewards(results: Sequence[TrialResult]) -> list[float]:
    """Average the rewards of each rank over seeds, as far as there are groups with any."""
    means = []
    for rank in range(1, TOP_GROUPS + 1):
        values = [value for each in results if (value := each.values.get(f"group_reward:{rank}"))]
        if len(values) < len(results):
            break
        means.append(float(np.mean(values)))
    return means
