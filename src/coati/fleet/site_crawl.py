"""The crawl of one site on a worker: it runs on the loop of the process, and may pause between slices."""

from __future__ import annotations

import tempfile
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from coati.assembly import stop_rule
from coati.budget import Budget
from coati.fleet.crawl_thread import CrawlThread
from coati.fleet.publishing import Publisher
from coati.fleet.slice_turns import SliceTurns
from coati.harvesting.site_crawls import Standing, is_done, standing_of
from coati.live.stop_signal import StopSignal
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_file import to_toml_values
from coati.settings.run_settings import RunSettings
from coati.strategies.stopping.early_stop import EarlyStop
from coati.watching.cycle import CycleResult


class CrawlEnd(NamedTuple):
    """How a crawl ended: whether anything is left, and for how long its hosts must be left alone."""

    done: bool
    rest_seconds: float
    messages: tuple[str, ...] = ()
    cycle: CycleResult | None = None


class SiteCrawl:
    """The crawl of the run in a folder; ``publisher`` is the way from there to the store.

    ``scratch`` is what `remove` removes.
    """

    def __init__(
        self,
        settings: RunSettings,
        per_site: Budget,
        publisher: Publisher,
        scratch: tempfile.TemporaryDirectory[str],
    ) -> None:
        self.settings = settings
        self.per_site = per_site
        self.publisher = publisher
        self.turns = SliceTurns(settings.delay, publisher.manifest.state.promises)
        self.stop = StopSignal()
        self.running: Future[CrawlEnd] | None = None
        self.messages: list[str] = []
        self._scratch = scratch

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.publisher.folder

    @property
    def rests(self) -> bool:
        """Whether it is still open, for another slice."""
        return self.running is not None and not self.running.done()

    def start(self, thread: CrawlThread) -> Future[CrawlEnd] | None:
        """Begin the crawl, unless it runs; None if nothing is left to do."""
        if self.running is None:
            early_stop = stop_rule(self.settings.stop_when_dry)
            standing = standing_of(self.folder, self.per_site, early_stop)
            if standing is not Standing.DONE:
                crawl = self._crawl(early_stop, new=standing is Standing.NEW)
                self.running = thread.start(crawl, self.stop)
        return self.running

    def remove(self) -> None:
        """End the crawl, if it runs, and remove its folder: what it did was published, or does not count."""
        self.stop.set()
        if self.running is not None:
            self.running.exception()
        self._scratch.cleanup()

    async def _crawl(self, early_stop: EarlyStop | None, *, new: bool) -> CrawlEnd:
        """Crawl as any harvest does; this runs on the loop."""
        from coati.live.running import crawl_async

        values = to_toml_values(self.settings)
        with RunStore.begin(self.folder, values, time.time(), resumed=not new) as store:
            self.messages += store.messages
            resources = CrawlResources(
                store=store, early_stop=early_stop, on_event=self.turns.on_event, stop=self.stop
            )
            plan = crawl_plan(self.settings, resources)
            result = await crawl_async(replace(plan, turns=self.turns))
            done = is_done(result.stop.value, store.totals, self.per_site)
        # Waits are told in tenths of a second.
        rest = max((wait.seconds + 0.1 for wait in result.progress.waits.values()), default=0.0)
        return CrawlEnd(done, rest, result.messages)


class RestingCrawls:
    """Crawls between two slices of this process, so that the next one need not restore them.

    They are named by the store and the place of their run. Beyond ``most`` the one that rests longest is let
    go: the next worker takes it from the store.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._crawls: dict[tuple[str, str], SiteCrawl] = {}
        self._lock = threading.Lock()

    def put(self, name: tuple[str, str], crawl: SiteCrawl) -> None:
        """Keep a crawl that rests."""
        with self._lock:
            self._crawls[name] = crawl
            oldest = next(iter(self._crawls)) if len(self._crawls) > self._most else None
            dropped = None if oldest is None else self._crawls.pop(oldest)
        if dropped is not None:
            dropped.remove()

    def take(self, name: tuple[str, str]) -> SiteCrawl | None:
        """Return a crawl that rests, if there is one; it is the caller's from now on."""
        with self._lock:
            return self._crawls.pop(name, None)

    def close(self) -> None:
        """Let all go, and wait for it."""
        with self._lock:
            crawls = list(self._crawls.values())
            self._crawls.clear()
        for crawl in crawls:
            crawl.stop.set()
        for crawl in crawls:
            crawl.remove()
