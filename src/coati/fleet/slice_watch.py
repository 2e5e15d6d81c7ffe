"""A cycle of a watch as a slice: it starts from the site's crawl in the same store."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from coati.errors import ConfigError, UsageError
from coati.fleet.downloading import download_for_crawl
from coati.fleet.generations import Chain
from coati.fleet.site_crawl import CrawlEnd
from coati.fleet.slice_crawl import SliceCrawl
from coati.fleet.worker import Worker
from coati.live.plan import CrawlPlan
from coati.runs.layout import holds_run
from coati.watching.known_pages import KnownPages, read_known
from coati.watching.watch import WatchPlace, watch_once
from coati.watching.watch_options import WatchOptions


class SliceWatch(SliceCrawl):
    """Runs a cycle of the watch in a folder; the rest is as in any slice."""

    def _begin(self, worker: Worker) -> Future[CrawlEnd] | None:
        options = self._order.watch
        if options is None:
            raise UsageError("a slice of a watch needs its options")
        # A cycle has limits of its own, and never rests.
        self._crawl.turns.begin(sys.maxsize, lambda: self._lease.seconds_usable, Future())
        pool = ThreadPoolExecutor(1, thread_name_prefix="coati-cycle")
        self._crawl.running = pool.submit(self._cycle, options, self._known(), worker.clock)
        pool.shutdown(wait=False)
        return self._crawl.running

    def _known(self) -> KnownPages:
        """Read what the crawl of the site knows."""
        site = self._order.site.name
        chain = Chain(self._publisher.store, f"sites/{site}")
        newest = chain.newest()
        if newest is None or not newest.database:
            raise ConfigError(f"there is no crawl of {site} to watch")
        folder = self._crawl.folder.with_name("crawl")
        folder.mkdir()
        download_for_crawl(chain, newest, folder)
        return read_known([folder])

    def _cycle(self, options: WatchOptions, known: KnownPages, clock: Callable[[], float]) -> CrawlEnd:
        delay = self._crawl.settings.delay
        known = replace(known, settings=replace(known.settings, delay=delay, log_file=""))
        place = WatchPlace(self._crawl.folder, options, known, holds_run(self._crawl.folder))
        cycle = watch_once(place, clock, planned=self._planned)
        return CrawlEnd(cycle.moved, self._crawl.turns.pace_seconds, cycle.messages, cycle)

    def _planned(self, plan: CrawlPlan) -> CrawlPlan:
        turns = self._crawl.turns
        return replace(plan, turns=turns, stop=self._crawl.stop, on_event=turns.on_event)
