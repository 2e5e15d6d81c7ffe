"""``coati replay`` for strategies that watch pages: its table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from coati.jobs.replay_results import WatchReplayResults

_COLUMNS = {
    "coverage": ("coverage", "{:.3f}"),
    "mean_age_hours": ("mean age, h", "{:.1f}"),
    "within_1h": ("within 1 h", "{:.3f}"),
    "within_4h": ("within 4 h", "{:.3f}"),
    "requests": ("requests", "{:,.0f}"),
    "cpu_seconds": ("CPU s", "{:.2f}"),
}


def watch_table(results: WatchReplayResults) -> Table:
    """Show a line per strategy, medians over seeds."""
    first = results.runs[0]
    kind = f"{first.relevant}, " if first.relevant else ""
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=Text(
            f"{results.site}: {first.new_links_total:,} new links ({kind}{first.per_cycle} pages per cycle,"
            f" {first.cycles:,} cycles)"
        ),
        caption="coverage: share of what visiting every page in every cycle finds. Ages: of the links found.",
    )
    table.add_column("strategy", overflow="fold")
    for title in ("seeds", *(title for title, _ in _COLUMNS.values())):
        table.add_column(title, justify="right")
    for strategy in results.strategies():
        seeds = [run.seed for run in results.runs if run.strategy == strategy]
        medians = ((results.spread(strategy, name).median, form) for name, (_, form) in _COLUMNS.items())
        shown = ("-" if math.isnan(median) else form.format(median) for median, form in medians)
        table.add_row(strategy, "-" if seeds[0] is None else str(len(seeds)), *shown)
    return table
