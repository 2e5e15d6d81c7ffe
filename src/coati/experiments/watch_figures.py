"""The figures of the WSDM 2018 paper: new links, coverage over time and against k, ages when found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.assembly import strategy_row
from coati.experiments.site_specs import WatchedHistory
from coati.experiments.summaries import shown_rows
from coati.experiments.trials import AGES_HOURS, TrialResult
from coati.replaying.charts import BOUND_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coati.experiments.runner import Study
    from coati.experiments.spec import Variant

    Style = tuple[str, str]

_TOP = 1.02
_COLOURS = 10


def watch_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw one figure per history and kind of links, with the name of its file."""
    histories = [site for site in study.experiment.sites if isinstance(site, WatchedHistory)]
    for setting in dict.fromkeys(history.setting for history in histories):
        of_setting = sorted(
            (each for each in histories if each.setting == setting), key=lambda each: each.per_cycle
        )
        yield setting.replace(" ", "-"), _figure(study, of_setting)


def _figure(study: Study, histories: Sequence[WatchedHistory]) -> Figure:
    # Imported here: it takes longer than a small experiment, and only this needs it.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
    (came, time), (against, ages) = figure.subplots(2, 2)
    # The paper's k is about the least with which all could be found; the middle one tells most.
    shown = histories[len(histories) // 2]
    rows = shown_rows(study.experiment)
    _draw_came(came, study.of(shown.name, rows[0])[0])
    for variant in rows:
        results = study.of(shown.name, variant)
        style = _style(variant, rows)
        _draw_over_time(time, variant, results, style)
        _draw_ages(ages, results, style)
        _draw_against(against, study, variant, histories, style)
    time.set(title=f"Coverage over time, k={shown.per_cycle}", xlabel="cycle", ylim=(0, _TOP))
    against.set(title="Coverage against k", xlabel="pages per cycle", ylim=(0, _TOP))
    ages.set(title=f"Age when found, k={shown.per_cycle}", xlabel="hours", xscale="log", ylim=(0, _TOP))
    ages.set_ylabel("share of the links found")
    for axes in (came, time, against, ages):
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*time.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=6)
    figure.suptitle(shown.setting)
    return figure


def _draw_came(axes: Axes, result: TrialResult) -> None:
    """Draw the new links per cycle; what was there at the first look is known."""
    axes.plot(range(1, len(result.came)), result.came[1:], linewidth=0.8, color="grey")
    axes.set(title="New links", xlabel="cycle", ylabel="links per cycle")
    axes.set_ylim(bottom=0)


def _draw_over_time(axes: Axes, variant: Variant, results: Sequence[TrialResult], style: Style) -> None:
    cycles = np.arange(len(results[0].came))
    new = np.maximum(np.cumsum(results[0].came), 1)
    shares = [np.searchsorted(result.found(), cycles, side="right") / new for result in results]
    mean = np.mean(shares, axis=0)
    axes.plot(cycles[1:], mean[1:], label=variant.label, linewidth=1.4, color=style[0], linestyle=style[1])


def _draw_ages(axes: Axes, results: Sequence[TrialResult], style: Style) -> None:
    counts = np.sum([result.ages for result in results], axis=0).cumsum()
    shares = counts[:-1] / max(counts[-1], 1)
    axes.plot(AGES_HOURS, shares, linewidth=1.4, color=style[0], linestyle=style[1])


def _draw_against(
    axes: Axes, study: Study, variant: Variant, histories: Sequence[WatchedHistory], style: Style
) -> None:
    shares = [
        np.mean([result.values["coverage"] or 0 for result in study.of(each.name, variant)])
        for each in histories
    ]
    numbers = [each.per_cycle for each in histories]
    axes.plot(numbers, shares, marker="o", markersize=3, linewidth=1.2, color=style[0], linestyle=style[1])


def _style(variant: Variant, rows: Sequence[Variant]) -> Style:
    """Return a colour and a kind of line: beyond ten strategies the colours come again, dotted."""
    if strategy_row(variant.strategy).bound:
        return BOUND_LINES[0]
    place = rows.index(variant)
    return f"C{place % _COLOURS}", "-" if place < _COLOURS else ":"
