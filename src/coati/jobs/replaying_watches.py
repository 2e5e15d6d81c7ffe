"""Run watches over the history in an archive, and measure them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.watched_pages import pages_to_watch
from coati.assembly import Need, StrategySettings, build_strategy, strategy_row
from coati.errors import ConfigError, UsageError
from coati.jobs.replay_results import ReplayCallbacks, WatchReplayResults
from coati.replaying.site import ReplaySite
from coati.replaying.watch_replay import WatchStudy, WatchTruth, snapshot_times
from coati.settings.relevance_model import relevance_model
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.watch import WatchSettings
from coati.web.likely_extensions import likely_extensions

_MOST_CYCLES = 100_000
_PER_CYCLE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchReplayPlan:
    """Which watches are replayed (``wanted``: strategies and seeds), and how.

    The other fields are the options of ``coati replay``. ``every`` is None where the snapshots of the archive
    are the cycles.
    """

    wanted: Sequence[tuple[str, int | None]]
    start_urls: Sequence[str] = ()
    per_cycle: int | None = None
    per_site: int | None = None
    every: float | None = None
    relevant: str = ""
    cold: bool = False
    link_cache: bool = True


def are_watches(wanted: Sequence[tuple[str, int | None]]) -> bool:
    """Tell whether the strategies watch pages; some that do and some that do not cannot be compared."""
    watch = {Need.HISTORY in strategy_row(name).needs for name, _ in wanted}
    if len(watch) > 1:
        raise ConfigError(
            "strategies that watch pages and those that crawl a site cannot be replayed together"
        )
    return watch == {True}


def replay_watches(archive: Path, plan: WatchReplayPlan, callbacks: ReplayCallbacks) -> WatchReplayResults:
    """Carry a replay of watches out."""
    per_cycle = plan.per_cycle or _PER_CYCLE
    with Archive.open(archive) as opened:
        moments = _cycle_times(opened, plan.every)
        extensions = tuple(likely_extensions(opened.meta.types)) if opened.meta.types else ()
        model = relevance_model(plan.relevant)
        relevant = parse_relevance(plan.relevant, extensions, model)
        settings = StrategySettings(
            watch=WatchSettings(per_cycle=per_cycle, per_site=plan.per_site, cold=plan.cold, moments=moments),
            relevant=plan.relevant,
            likely_extensions=extensions,
            start_model=model,
        )
        urls = plan.start_urls or pages_to_watch(opened)
        site = ReplaySite(
            opened,
            start_urls=urls,
            use_link_cache=plan.link_cache,
            progress=lambda *step: callbacks.on_progress("extracting links", *step),
        )
        callbacks.on_ready(f"{site.name}: {len(site.start_urls):,} pages, {len(moments):,} cycles")
        truth = WatchTruth(
            site,
            site.start_urls,
            moments,
            relevant,
            lambda *step: callbacks.on_progress("what is new", *step),
        )
        study = WatchStudy(site, truth, moments, plan.relevant)
        total = per_cycle * len(moments)
        runs = []
        for name, seed in plan.wanted:
            strategy = build_strategy(name, site.start_urls, seed or 0, settings=settings, page_truth=truth)

            def report_run(done: int, _: int, name: str = name) -> None:
                callbacks.on_progress(name, done, total)

            runs.append(replace(study.run(name, seed, strategy, report_run), bound=strategy_row(name).bound))
            callbacks.on_result(runs[-1])
        return WatchReplayResults(site.name, tuple(runs))


def _cycle_times(archive: Archive, every: float | None) -> tuple[float, ...]:
    name, moments = archive.meta.name, archive.moments()
    if not moments:
        raise UsageError(f"the archive {name} has no capture times, so it is not a history")
    if every is None:
        times = snapshot_times(moments)
    elif every <= 0:
        raise ConfigError("every must be above 0")
    else:
        cycles = int((moments[-1] - moments[0]) / every) + 1
        if cycles > _MOST_CYCLES:
            raise ConfigError(f"--every is too short: the history would have {cycles:,} cycles")
        times = tuple(moments[0] + every * number for number in range(cycles))
    if len(times) < 2:  # noqa: PLR2004 - a first look and a cycle
        raise UsageError(f"the archive {name} has each page at one time only: there is nothing to watch")
    return times
