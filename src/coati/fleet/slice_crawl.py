"""The crawl of a slice: it runs on the loop of the process, and is attended to from its own thread."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coati.assembly import stop_rule
from coati.budget import Budget
from coati.fleet.generations import ChainBrokenError, Manifest, RunState
from coati.fleet.leases import HeldLease, LeaseLostError
from coati.fleet.objects import StoreError
from coati.fleet.orders import SliceEnd, SliceOrder, SliceResult
from coati.fleet.patience import Patience
from coati.fleet.publishing import Publisher
from coati.fleet.slice_turns import SliceTurns
from coati.fleet.tables import write_tables
from coati.fleet.worker import Worker
from coati.harvesting.folder import summary_of
from coati.harvesting.site_crawls import Standing, is_done, site_settings, standing_of
from coati.live.stop_signal import StopSignal
from coati.reporting.page import report_page
from coati.runs.layout import Layout, holds_run
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from coati.settings.plan import CrawlResources, crawl_plan
from coati.settings.run_file import to_toml_values
from coati.watching.cycle import CycleResult

if TYPE_CHECKING:
    from coati.strategies.early_stop import EarlyStop

_PROMISED = "SELECT total(score) FROM requests WHERE charged > 0"
_LAST_EVENT = "SELECT coalesce(max(observed_event), 0) FROM requests"


class Ended(NamedTuple):
    """How a crawl ended: whether anything is left, and for how long its hosts must be left alone."""

    done: bool
    rest_seconds: float
    messages: tuple[str, ...] = ()
    cycle: CycleResult | None = None


class SliceCrawl:
    """Crawls the run in a folder for one slice, and publishes it; the lease is released at the end."""

    def __init__(
        self, order: SliceOrder, lease: HeldLease, publisher: Publisher, folder: Path, patience: Patience
    ) -> None:
        self._order = order
        self._lease = lease
        self._publisher = publisher
        self._folder = folder
        self._patience = patience
        self._settings = site_settings(order.settings, order.site, order.per_site)
        self._turns = SliceTurns(lambda: lease.seconds_to_ask, self._settings.delay)
        self._stop = StopSignal()
        self._before = publisher.manifest
        self._begun = time.monotonic()
        self._messages: list[str] = []

    @property
    def pace_seconds(self) -> float:
        """How long the site is to be left alone after the last request."""
        return self._turns.pace_seconds

    def run(self, worker: Worker) -> SliceResult:
        """Crawl to the end of the slice; raises what the crawl raised."""
        running = self._begin(worker)
        if running is None:
            self._lease.release()
            return self._result(replace(self._before, state=replace(self._before.state, done=True)), worker)
        self._attend(running, worker)
        ended = running.result()
        free_at = time.time() + max(ended.rest_seconds, self._settings.delay)
        self._patience.until_done(lambda: self._lease.renew(self.pace_seconds))
        after = self._publish_end(ended, free_at)
        self._patience.until_done(lambda: self._lease.release(free_at))
        return self._result(after, worker, ended)

    def _begin(self, worker: Worker) -> Future[Ended] | None:
        """Begin the crawl; None if nothing is left to do."""
        early_stop = stop_rule(self._settings.stop_when_dry)
        standing = standing_of(self._folder, self._order.per_site, early_stop)
        if standing is Standing.DONE:
            return None
        crawl = self._crawl(early_stop, new=standing is Standing.NEW)
        return worker.thread().start(crawl, self._stop)

    async def _crawl(self, early_stop: EarlyStop | None, *, new: bool) -> Ended:
        """Crawl as any harvest does, within the budget of the slice; this runs on the loop."""
        from coati.live.running import crawl_async

        values = to_toml_values(self._settings)
        now = time.time()
        with RunStore.create(self._folder, values, now) if new else RunStore.open(self._folder, now) as store:
            if not new:
                store.change_settings(values)
            self._messages += store.messages
            resources = CrawlResources(
                store=store, early_stop=early_stop, on_event=self._turns.on_event, stop=self._stop
            )
            plan = crawl_plan(self._settings, resources)
            result = await crawl_async(replace(plan, budget=self._budget(store), turns=self._turns))
            done = is_done(result.stop.value, store.totals, self._order.per_site)
        # Waits are told in tenths of a second.
        rest = max((wait.seconds + 0.1 for wait in result.progress.waits.values()), default=0.0)
        return Ended(done, rest, result.messages)

    def _budget(self, store: RunStore) -> Budget:
        """Return how far the run may go in this slice, as part of what its site may get."""
        requests = store.totals.requests + self._order.requests
        seconds = store.seconds_spent + self._order.seconds
        own = self._order.per_site
        return Budget(
            requests if own.max_requests is None else min(requests, own.max_requests),
            own.max_bytes,
            seconds if own.max_seconds is None else min(seconds, own.max_seconds),
            own.max_targets,
        )

    def _attend(self, running: Future[Ended], worker: Worker) -> None:
        """Renew the lease and publish while the crawl runs, and see that it ends."""
        times = self._order.times
        now = time.monotonic()
        renew_at, publish_at = now + times.term / 4, now + times.publish
        ends_at = now + self._order.seconds + times.grace
        while True:
            with suppress(StillRunning):
                running.exception(max(0.0, min(renew_at, publish_at, ends_at) - time.monotonic()))
                return
            now = time.monotonic()
            if now >= ends_at:
                if self._stop.is_set:
                    worker.end_process()
                self._stop.set()
                ends_at = now + times.grace
            if now >= renew_at:
                self._renew(worker)
                renew_at = time.monotonic() + times.term / 4
            if now >= publish_at:
                self._publish_within()
                publish_at = time.monotonic() + times.publish

    def _renew(self, worker: Worker) -> None:
        try:
            self._lease.renew(self.pace_seconds)
        except StoreError as error:
            self._messages.append(str(error))
        except LeaseLostError:
            self._stop.set()
        else:
            worker.thread().call(self._turns.go_on)

    def _publish_within(self) -> None:
        """Publish what there is so far; what fails now is tried again at the next time."""
        if not holds_run(self._folder):
            return
        try:
            self._lease.check()
            copy = self._publisher.copy()
            state = self._state(copy, self._before.state.promise)
            news = replace(self._publisher.manifest, written_at=time.time(), state=state)
            self._publisher.publish(copy, news, ended=False)
        except StoreError as error:
            self._messages.append(str(error))
        except (LeaseLostError, ChainBrokenError):
            self._stop.set()

    def _publish_end(self, ended: Ended, free_at: float) -> Manifest:
        last = self._publisher.manifest
        database = Layout(self._folder).database
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (last_event,) = connection.execute(_LAST_EVENT).fetchone()
        state = self._state(self._folder, self._turns.promise)
        news = replace(
            last,
            written_at=time.time(),
            state=replace(state, done=ended.done, free_at=free_at),
            slices=last.slices + 1,
            tables=(last.tables[1], last_event),
        )
        after = self._patience.until_done(lambda: self._publisher.publish(self._folder, news, ended=True))
        store = self._publisher.store
        self._patience.until_done(lambda: write_tables(store, self._order.place, after, database))
        with RunReader(self._folder) as run:
            page = report_page(run).encode()
        self._patience.until_done(lambda: store.replace(f"{self._order.place}/report.html", page))
        return after

    def _state(self, folder: Path, promise: float | None) -> RunState:
        summary = summary_of(folder, self._order.site.name, self._order.place)
        with RunReader(folder) as run:
            (promised,) = run.connection.execute(_PROMISED).fetchone()
        return RunState(
            start_url=summary.start_url,
            requests=summary.requests,
            targets=summary.targets,
            files=summary.files,
            target_bytes=summary.target_bytes,
            bytes=summary.bytes,
            pages=summary.pages,
            errors=summary.errors,
            seconds=summary.seconds,
            stop_reason=summary.stop_reason,
            promised=promised,
            promise=promise,
        )

    def _result(self, after: Manifest, worker: Worker, ended: Ended | None = None) -> SliceResult:
        before = self._before.state
        return SliceResult(
            site=self._order.site.name,
            end=SliceEnd.CRAWLED,
            by=worker.name,
            state=after.state,
            generation=after.generation,
            requests=after.state.requests - before.requests,
            targets=after.state.targets - before.targets,
            seconds=time.monotonic() - self._begun,
            until=after.state.free_at,
            messages=(*self._messages, *(() if ended is None else ended.messages)),
            cycle=None if ended is None else ended.cycle,
        )
