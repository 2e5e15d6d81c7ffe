"""Run watches over the history in an archive, and measure them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coati.archive.archive import Archive
from coati.archive.watched_pages import pages_to_watch
from coati.assembly import Need, StrategySettings, build_strategy, strategy_row
from coati.errors import ConfigError, UsageError
from coati.jobs.notebook_tables import rows_table
from coati.machine_errors import writing_to
from coati.replaying.charts import draw_coverage
from coati.replaying.site import ReplaySite
from coati.replaying.watch_replay import WatchStudy, WatchTruth, snapshot_times
from coati.runs.durable import write_json_lines
from coati.settings.relevance_model import relevance_model
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.watch import WatchSettings
from coati.web.likely_extensions import likely_extensions

if TYPE_CHECKING:
    from coati.replaying.watch_replay import WatchRun

_MOST_CYCLES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchReplayPlan:
    """Which watches are replayed (``wanted``: strategies and seeds), and how.

    The other fields are the options of ``coati replay``. ``every`` is None where the snapshots of the archive
    are the cycles.
    """

    wanted: Sequence[tuple[str, int | None]]
    start_urls: Sequence[str] = ()
    per_cycle: int = 50
    per_site: int | None = None
    every: float | None = None
    relevant: str = ""
    cold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchCallbacks:
    """Who is told how a replay goes: what is being done and how far it is, the pages and cycles, each run."""

    on_progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None
    on_ready: Callable[[str, int, int], None] = lambda _name, _pages, _cycles: None
    on_result: Callable[[WatchRun], None] = lambda _run: None


@dataclass(frozen=True, slots=True)
class WatchReplayResults:
    """Every run, in order."""

    site: str
    runs: tuple[WatchRun, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat object per run; None where a measure is not defined."""
        return [run.row() for run in self.runs]

    def strategies(self) -> list[str]:
        """List the strategies that were run, in order."""
        return list(dict.fromkeys(run.strategy for run in self.runs))

    def median(self, strategy: str, measure: str) -> float | None:
        """Return the median over seeds."""
        values = [row[measure] for row in self.rows() if row["strategy"] == strategy]
        known = [float(value) for value in values if value is not None]
        return statistics.median(known) if known else None

    def write(self, folder: str | Path) -> None:
        """Write ``results.jsonl``, and coverage over time as PNG and SVG."""
        folder = Path(folder)
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_json_lines(folder / "results.jsonl", self.rows())
            for form in ("png", "svg"):
                draw_coverage(self.runs, folder / f"coverage.{form}", self.site)

    def _repr_html_(self) -> str:
        return rows_table(self.site, self.rows())


def are_watches(wanted: Sequence[tuple[str, int | None]]) -> bool:
    """Tell whether the strategies watch pages; some that do and some that do not cannot be compared."""
    watch = {Need.HISTORY in strategy_row(name).needs for name, _ in wanted}
    if len(watch) > 1:
        raise ConfigError(
            "strategies that watch pages and those that crawl a site cannot be replayed together"
        )
    return watch == {True}


def replay_watches(archive: Path, plan: WatchReplayPlan, callbacks: WatchCallbacks) -> WatchReplayResults:
    """Carry a replay of watches out."""
    with Archive.open(archive) as opened:
        moments = _cycle_times(opened, plan.every)
        extensions = tuple(likely_extensions(opened.meta.types)) if opened.meta.types else ()
        model = relevance_model(plan.relevant)
        relevant = parse_relevance(plan.relevant, extensions, model)
        settings = StrategySettings(
            watch=WatchSettings(
                per_cycle=plan.per_cycle, per_site=plan.per_site, cold=plan.cold, moments=moments
            ),
            relevant=plan.relevant,
            likely_extensions=extensions,
            start_model=model,
        )
        urls = plan.start_urls or pages_to_watch(opened)
        site = ReplaySite(
            opened, start_urls=urls, progress=lambda *far: callbacks.on_progress("extracting links", *far)
        )
        callbacks.on_ready(site.name, len(site.start_urls), len(moments))
        truth = WatchTruth(
            site, site.start_urls, moments, relevant, lambda *far: callbacks.on_progress("what is new", *far)
        )
        study = WatchStudy(site, truth, moments, plan.relevant)
        total = plan.per_cycle * len(moments)
        runs = []
        for name, seed in plan.wanted:
            strategy = build_strategy(name, site.start_urls, seed or 0, settings=settings, page_truth=truth)

            def far(done: int, _: int, name: str = name) -> None:
                callbacks.on_progress(name, done, total)

            runs.append(study.run(name, seed, strategy, far))
            callbacks.on_result(runs[-1])
        return WatchReplayResults(site.name, tuple(runs))


def _cycle_times(archive: Archive, every: float | None) -> tuple[float, ...]:
    name, moments = archive.meta.name, archive.moments()
    if not moments:
        raise UsageError(f"the archive {name} has no capture times, so it is not a history")
    if every is None:
        times = snapshot_times(moments)
    else:
        cycles = int((moments[-1] - moments[0]) / every) + 1
        if cycles > _MOST_CYCLES:
            raise ConfigError(f"--every is too short: the history would have {cycles:,} cycles")
        times = tuple(moments[0] + every * number for number in range(cycles))
    if len(times) < 2:  # noqa: PLR2004 - a first look and a cycle
        raise UsageError(f"the archive {name} has each page at one time only: there is nothing to watch")
    return times
