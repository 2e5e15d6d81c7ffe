"""Runs of watches over histories: archives with several moments, and a generated one."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coati.archive.archive import Archive
from coati.archive.watched_pages import pages_to_watch
from coati.assembly import build_strategy
from coati.experiments.deciding_code import modules_digest
from coati.experiments.site_specs import GENERATED, WatchedHistory
from coati.experiments.sites import History, OpenHistory, SiteFacts
from coati.experiments.trials import AGES_HOURS, Trial, TrialResult
from coati.replaying.measures import SiteTotals
from coati.replaying.site import ReplaySite
from coati.replaying.watch_replay import WatchRun, WatchStudy, WatchTruth, snapshot_times
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.watch import WatchSettings

if TYPE_CHECKING:
    from coati.experiments.workers import WorkerCache


_GENERATOR = ("coati.testing.page_histories",)


def describe_history(history: WatchedHistory, folder: Path | None, open_history: OpenHistory) -> SiteFacts:
    """Sum a history up: how many pages, at how many moments."""
    if folder is None:
        opened = open_history(history.seed)
        pages, cycles = len(opened.pages), len(opened.moments)
        digest = hashlib.sha256(f"{history.seed} {modules_digest(_GENERATOR)}".encode()).hexdigest()
    else:
        with Archive.open(folder) as archive:
            pages, cycles = len(pages_to_watch(archive)), len(snapshot_times(archive.moments()))
            digest = archive.digest()
    return SiteFacts(
        name=history.name,
        archive=folder or Path(),
        digest=digest,
        start_url="",
        totals=SiteTotals(pages, 0, 0, 0),
        available=pages,
        generated=folder is None,
        scale=f"{pages:,} pages, {cycles:,} cycles",
    )


def run_watch_trial(
    cache: WorkerCache, trial: Trial, watched: WatchedHistory, open_history: OpenHistory
) -> TrialResult:
    """Watch a history."""
    history = _opened(cache, watched, trial.archive, open_history)
    truth = _truth(cache, history, watched.relevant)
    settings = replace(
        trial.settings,
        watch=WatchSettings(per_cycle=watched.per_cycle, moments=history.moments),
        relevant=watched.relevant,
    )
    strategy = build_strategy(
        trial.variant.strategy, history.pages, trial.seed or 0, settings=settings, page_truth=truth
    )
    study = WatchStudy(history.site, truth, history.moments, watched.relevant)
    return _result(trial, study.run(trial.label, trial.seed, strategy), truth, len(history.moments))


def _opened(cache: WorkerCache, watched: WatchedHistory, folder: Path, open_history: OpenHistory) -> History:
    """Open a history, or take it from the cache, which holds one: they are large."""
    place = (folder, watched.folder, watched.seed)
    if cache.get("history of") != place:
        if "archive" in cache:
            cache["archive"].close()
        cache.clear()
        if watched.folder == GENERATED:
            opened = open_history(watched.seed)
        else:
            archive = cache["archive"] = Archive.open(folder)
            site = ReplaySite(archive, start_urls=pages_to_watch(archive))
            opened = History(site, tuple(site.start_urls), snapshot_times(archive.moments()))
        cache.update({"history of": place, "history": opened})
    history = cache["history"]
    assert isinstance(history, History)  # noqa: S101 - for the reader and for mypy: nobody else puts one there
    return history


def _truth(cache: WorkerCache, history: History, relevant: str) -> WatchTruth:
    if cache.get("truth of") != relevant:
        truth = WatchTruth(history.site, history.pages, history.moments, parse_relevance(relevant, ()))
        cache.update({"truth of": relevant, "truth": truth})
    known = cache["truth"]
    assert isinstance(known, WatchTruth)  # noqa: S101 - as above
    return known


def _result(trial: Trial, run: WatchRun, truth: WatchTruth, cycles: int) -> TrialResult:
    came = np.bincount(list(truth.first_cycle.values()), minlength=cycles)
    # The curve is in parts of what was new until each cycle.
    found = np.rint(run.curve * np.maximum(came.cumsum(), 1)).astype(np.int64)
    values = {
        "requests": run.requests,
        "targets": run.new_links,
        "new_links_total": run.new_links_total,
        "coverage": run.coverage,
        "mean_age_hours": run.mean_age_hours,
        "within_1h": run.within_1h,
        "within_4h": run.within_4h,
        "cpu_seconds": round(run.cpu_seconds, 4),
        "cpu_ms_per_request": 1000 * run.cpu_seconds / max(run.requests, 1),
    }
    cycles_of_links = np.repeat(np.arange(cycles), np.diff(found, prepend=0))
    return replace(
        TrialResult.of(trial, "the history is over", values, cycles_of_links),
        came=came.tolist(),
        # A link of exactly an hour was found within the hour.
        ages=np.diff(
            np.searchsorted(np.sort(run.ages), [*AGES_HOURS, math.inf], "right"), prepend=0
        ).tolist(),
    )
