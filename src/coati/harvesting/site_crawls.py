"""One site of a harvest: how it is crawled, and the state of its run folder."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import Enum, auto
from pathlib import Path

from coati.budget import Budget
from coati.harvesting.sites import HarvestSite
from coati.runs.layout import holds_run
from coati.runs.reader import RunReader
from coati.runs.totals import Totals
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import FAILED_STARTS, StopReason
from coati.strategies.stopping.early_stop import EarlyStop
from coati.times import from_iso

# A site that ended so has nothing left that the budget could be spent on.
_DONE = frozenset({StopReason.FINISHED.value, StopReason.STOPPED_EARLY.value})


class Standing(Enum):
    """Where the crawl of a site stands: there is none, it is under way, nothing is left, it got nowhere."""

    NEW = auto()
    UNDER_WAY = auto()
    DONE = auto()
    FAILED_START = auto()


def site_settings(settings: RunSettings, site: HarvestSite, per_site: Budget) -> RunSettings:
    """Return the settings of one site's crawl; of the budget, it has what one site may get."""
    return with_values(
        settings,
        {
            "urls": site.urls,
            "scope": site.scope.value,
            "max_requests": per_site.max_requests,
            "max_bytes": per_site.max_bytes,
            "max_targets": per_site.max_targets,
            "max_time": per_site.max_seconds,
            "concurrency": 1,
        },
    )


def standing_of(folder: Path, per_site: Budget, early_stop: EarlyStop | None) -> Standing:
    """Say where the crawl in a folder stands; ``early_stop`` is told what the crawl has seen so far."""
    if not holds_run(folder):
        return Standing.NEW
    with RunReader(folder) as run:
        totals, sessions = run.totals(), run.sessions()
        reason = sessions[-1].stop_reason if sessions else None
        for point in run.curve():
            if early_stop is not None:
                early_stop.observe(point.requests, point.targets, point.score)
    if reason in FAILED_STARTS and not totals.pages and not totals.targets:
        return Standing.FAILED_START
    return Standing.DONE if is_done(reason, totals, per_site) else Standing.UNDER_WAY


def seconds_at_work(folders: Iterable[Path]) -> float:
    """Return how long any of these crawls was at work; sites that were crawled side by side count once."""
    spans: list[tuple[float, float]] = []
    for folder in folders:
        if holds_run(folder):
            with RunReader(folder) as run:
                spans += [
                    (from_iso(session.started_at), from_iso(session.ended_at))
                    for session in run.sessions()
                    if session.ended_at is not None
                ]
    total, covered = 0.0, -math.inf
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, covered))
        covered = max(covered, end)
    return total


def is_done(stop_reason: str | None, totals: Totals, per_site: Budget) -> bool:
    """Tell whether a crawl that ended for a reason has nothing left to do, or had its share."""
    spent = per_site.spent(totals.requests, totals.bytes, 0.0, totals.targets)
    return stop_reason in _DONE or spent is not None
