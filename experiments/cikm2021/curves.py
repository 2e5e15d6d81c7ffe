"""Harvest curves of the discovery study: repositories after so many pages, as a table and as a picture."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.cikm2021.study import Outcome

_SHARES = (5, 10, 20, 40, 60, 80, 100)
_DRAWN = {
    "prospect": ("C3", "-"),
    "dsdd": ("C0", "-"),
    "bd": ("C0", "--"),
    "ache": ("C2", "-"),
    "disco": ("C4", "-"),
    "search-engine": ("grey", ":"),
    "dsdd-kw": ("C1", "-"),
    "dsdd-rl": ("C1", "--"),
    "dsdd-bl": ("C1", "-."),
    "dsdd-fw": ("C1", ":"),
}


def sum_of_medians(outcomes: Sequence[Outcome], method: str, value: Callable[[Outcome], float]) -> float:
    """Add up over the topics what is the median over the seeds."""
    by_topic: dict[str, list[float]] = {}
    for each in outcomes:
        if each.method == method:
            by_topic.setdefault(each.topic, []).append(value(each))
    return sum(map(statistics.median, by_topic.values()))


def curve_table(outcomes: Sequence[Outcome], budget: int) -> list[str]:
    """Write the curves as a table."""
    methods = list(dict.fromkeys(each.method for each in outcomes))
    steps = len(outcomes[0].curve)
    lines = [
        "Repositories (of any topic) after so many pages fetched, median over seeds, added up over topics:",
        "",
        f"| method | {' | '.join(f'{budget * share // 100:,}' for share in _SHARES)} |",
        f"|---|{'---|' * len(_SHARES)}",
    ]
    for method in methods:
        places = [max(0, steps * share // 100 - 1) for share in _SHARES]
        cells = [sum_of_medians(outcomes, method, lambda each, at=at: each.curve[at]) for at in places]  # type: ignore[misc]
        lines.append(f"| {method} | {' | '.join(f'{cell:.0f}' for cell in cells)} |")
    return lines


def draw_curves(outcomes: Sequence[Outcome], budget: int, file: Path) -> None:
    """Draw one panel per topic: repositories against pages fetched, median over seeds."""
    from matplotlib.figure import Figure

    topics = list(dict.fromkeys(each.topic for each in outcomes))
    columns = min(3, len(topics))
    rows = -(-len(topics) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, topic in zip(panels, topics, strict=False):
        _panel(axes, [each for each in outcomes if each.topic == topic], budget)
        axes.set_title(topic)
    for axes in list(panels)[len(topics) :]:
        axes.set_visible(False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(file, dpi=120)


def _panel(axes: Axes, outcomes: Sequence[Outcome], budget: int) -> None:
    steps = len(outcomes[0].curve)
    pages = [0, *(budget * step // steps for step in range(1, steps + 1))]
    for method in dict.fromkeys(each.method for each in outcomes):
        curves = [each.curve for each in outcomes if each.method == method]
        found = [0.0, *(statistics.median(at) for at in zip(*curves, strict=True))]
        colour, style = _DRAWN.get(method, ("black", "-"))
        axes.plot(
            pages, found, style, color=colour, label=method, linewidth=2 if method == "prospect" else 1.2
        )
    axes.set_xlabel("pages fetched")
    axes.set_ylabel("repositories found")
    axes.set_xlim(0, budget)
    axes.set_ylim(bottom=0)
