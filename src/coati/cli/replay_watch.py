"""``coati replay`` for strategies that watch pages: over the history that an archive holds."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coati.assembly import Need, StrategySettings, build_strategy, strategy_row
from coati.errors import ConfigError, UsageError
from coati.replaying.charts import draw_coverage
from coati.replaying.site import ReplaySite
from coati.replaying.watching import WatchStudy, WatchTruth, snapshot_times
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.watch import WatchSettings
from coati.web.likely_extensions import likely_extensions
from coati.web.unseen import safe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.progress import Progress

    from coati.archive.archive import Archive
    from coati.replaying.comparison import Cell
    from coati.replaying.watching import WatchRun

_MOST_CYCLES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """How the pages of an archive are watched; ``every`` is None where its own snapshots are the cycles."""

    per_cycle: int = 50
    per_site: int | None = None
    every: float | None = None
    relevant: str = ""
    cold: bool = False


def are_watches(cells: Sequence[Cell]) -> bool:
    """Tell whether the strategies watch pages; some that do and some that do not cannot be compared."""
    watch = {Need.HISTORY in strategy_row(cell.strategy).needs for cell in cells}
    if len(watch) > 1:
        raise ConfigError("strategies that watch pages and those that fetch a site are replayed apart")
    return watch == {True}


def replay_watches(
    archive: Archive,
    cells: Sequence[Cell],
    how: WatchOptions,
    *,
    start_urls: Sequence[str],
    bar: Progress,
    messages: Console,
    as_json: bool,
) -> list[WatchRun]:
    """Run the watches and print one object or one line of a table for each."""
    urls = list(start_urls) or watched_pages(archive)
    moments = _cycle_times(archive, how.every)
    extensions = likely_extensions(archive.meta.types) if archive.meta.types else ()
    relevant = parse_relevance(how.relevant, extensions)
    settings = StrategySettings(
        watch=WatchSettings(per_cycle=how.per_cycle, per_site=how.per_site, cold=how.cold, moments=moments),
        relevant=how.relevant,
        likely_extensions=tuple(extensions),
    )
    task = bar.add_task("extracting links", total=None)

    def told(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    site = ReplaySite(archive, start_urls=urls, progress=told)
    what = f"links with {how.relevant}" if how.relevant else "links"
    messages.print(safe(f"{site.name}: {len(urls):,} pages, {len(moments):,} cycles; new {what} count"))
    bar.update(task, description="what is new in each cycle")
    truth = WatchTruth(site, site.start_urls, moments, relevant, told)
    study = WatchStudy(site, truth, moments, how.relevant)
    runs = []
    for cell in cells:
        bar.update(task, description=cell.strategy, completed=0, total=how.per_cycle * len(moments))
        strategy = build_strategy(
            cell.strategy, site.start_urls, cell.seed or 0, settings=settings, page_truth=truth
        )
        run = study.run(cell.strategy, cell.seed, strategy, lambda done, _: bar.update(task, completed=done))
        runs.append(run)
        if as_json:
            click.echo(json.dumps(run.row()))
    return runs


def watched_pages(archive: Archive) -> list[str]:
    """Return the pages that the archive holds at several moments, or all pages where there are none."""
    from coati.archive.link_cache import is_page

    newest = list(archive.entries())
    older = [entry for entry in archive.older_entries() if is_page(entry)]
    several = {entry.url for entry in older}
    pages = [entry.url for entry in newest if entry.url in several] or [
        entry.url for entry in newest if is_page(entry)
    ]
    if not pages:
        raise UsageError(f"the archive {archive.meta.name} holds no page that could be watched")
    return pages


def _cycle_times(archive: Archive, every: float | None) -> tuple[float, ...]:
    moments = archive.moments()
    if not moments:
        raise UsageError(
            f"the archive {archive.meta.name} says of no capture when it was made: it is no history"
        )
    if every is None:
        times = snapshot_times(moments)
    else:
        cycles = int((moments[-1] - moments[0]) / every) + 1
        if cycles > _MOST_CYCLES:
            raise ConfigError(f"--every is so short that the history has {cycles:,} cycles")
        times = tuple(moments[0] + every * number for number in range(cycles))
    if len(times) < 2:  # noqa: PLR2004 - a first look and a cycle
        raise UsageError(
            f"the archive {archive.meta.name} holds its pages at one moment only: there is nothing to watch"
        )
    return times


def watch_table(runs: Sequence[WatchRun], name: str) -> Table:
    """Show a line per strategy, medians over seeds."""
    first = runs[0]
    kind = f"{first.relevant}, " if first.relevant else ""
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=Text(
            f"{name}: {first.new_links_total:,} new links ({kind}{first.per_cycle} pages per cycle,"
            f" {first.cycles:,} cycles)"
        ),
        caption="coverage: of what visiting every page in every cycle finds. Ages: of those found.",
    )
    table.add_column("strategy")
    for title in ("seeds", "coverage", "mean age, h", "within 1 h", "within 4 h", "requests", "CPU s"):
        table.add_column(title, justify="right")
    columns = {"coverage": "{:.3f}", "mean_age_hours": "{:.1f}", "within_1h": "{:.3f}", "within_4h": "{:.3f}"}
    columns |= {"requests": "{:,.0f}", "cpu_seconds": "{:.2f}"}
    for strategy in dict.fromkeys(run.strategy for run in runs):
        rows = [run.row() for run in runs if run.strategy == strategy]
        seeds = "-" if rows[0]["seed"] is None else str(len(rows))
        table.add_row(strategy, seeds, *(_median(rows, key, form) for key, form in columns.items()))
    return table


def _median(rows: Sequence[dict[str, object]], key: str, form: str) -> str:
    values = [float(str(row[key])) for row in rows if row[key] is not None]
    return form.format(statistics.median(values)) if values else "-"


def write_watches(runs: Sequence[WatchRun], folder: Path, name: str) -> None:
    """Write the results and a picture of coverage over time into a folder."""
    lines = [json.dumps(run.row()) for run in runs]
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for suffix in ("png", "svg"):
        draw_coverage(runs, folder / f"coverage.{suffix}", name)
