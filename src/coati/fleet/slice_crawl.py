"""A slice of a crawl, as its thread attends to it: it renews the lease, publishes, and sees that it ends."""

from __future__ import annotations

import shlex
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from typing import Any, Final

from coati.fleet.generations import ChainBrokenError, Manifest, RunState
from coati.fleet.leases import HeldLease, LeaseLostError
from coati.fleet.objects import StoreError
from coati.fleet.orders import SliceEnd, SliceOrder, SliceResult
from coati.fleet.overtime import Overtime
from coati.fleet.parquet_tables import write_tables
from coati.fleet.site_crawl import CrawlEnd, SiteCrawl
from coati.fleet.store_retries import StoreRetries
from coati.fleet.worker import Worker
from coati.harvesting.folder import summary_of
from coati.reporting.page import report_page
from coati.runs.layout import holds_run
from coati.runs.reader import RunReader

# Publishing takes time in proportion to the run; no more than this share of a core goes into it.
_PUBLISHING_SHARE: Final = 0.02
# How often a slice says what it has spent so far, for its client.
_REPORT_SECONDS: Final = 5.0
_LAST_EVENT = "SELECT coalesce(max(observed_event), 0) FROM requests"


def pause_between_publications(wanted: float, cpu_seconds: float) -> float:
    """Return how long to wait after a publication that took this much CPU time; ``wanted`` is the least.

    >>> pause_between_publications(30.0, 0.01), pause_between_publications(30.0, 1.5)
    (30.0, 75.0)
    """
    return max(wanted, cpu_seconds / _PUBLISHING_SHARE)


class SliceCrawl:
    """Crawls a site for one slice, and publishes it; the lease is released at the end."""

    def __init__(self, order: SliceOrder, lease: HeldLease, crawl: SiteCrawl, retries: StoreRetries) -> None:
        self._order = order
        self._lease = lease
        self._crawl = crawl
        self._publisher = crawl.publisher
        self._retries = retries
        self._before = crawl.publisher.manifest
        self._begun = time.monotonic()
        self._rested: Future[None] = Future()

    def run(self, worker: Worker) -> SliceResult:
        """Crawl to the end of the slice; raises what the crawl raised."""
        running = self._begin(worker)
        if running is None:
            done = replace(self._before.state, done=True)
            if done != self._before.state:
                self._retries.run(lambda: self._publisher.publish_state(done, time.time()))
            self._retries.run(self._lease.release)
            return self._result(self._publisher.manifest, worker)
        self._supervise(running, worker)
        ended = running.result() if running.done() else None
        rest_seconds = self._crawl.turns.rest_seconds if ended is None else ended.rest_seconds
        free_at = time.time() + max(rest_seconds, self._crawl.settings.delay)
        self._retries.run(self._secure_lease)
        after = self._publish_end(ended, free_at)
        self._retries.run(lambda: self._lease.release(free_at))
        return self._result(after, worker, ended)

    def _begin(self, worker: Worker) -> Future[CrawlEnd] | None:
        """Begin or continue the crawl; None if nothing is left to do."""
        thread, turns, order = worker.thread(), self._crawl.turns, self._order
        requests = self._requests_left()
        if (reason := order.ends) is not None:
            thread.call(lambda: turns.end(reason))
        else:
            thread.call(lambda: turns.begin(requests, lambda: self._lease.seconds_usable, self._rested))
        return self._crawl.start(thread)

    def _requests_left(self) -> int:
        """Return how many requests of the slice nobody has made yet."""
        order, made = self._order, self._before.state.requests
        return (
            order.requests
            if order.known_requests is None
            else order.requests - max(0, made - order.known_requests)
        )

    def _supervise(self, running: Future[CrawlEnd], worker: Worker) -> None:
        """Renew the lease and publish while the crawl runs, and see that it rests or ends."""
        times = self._order.times
        now = time.monotonic()
        renew_at, publish_at = now + times.term / 4, now + times.publish
        ends: tuple[Future[Any], ...] = running, self._rested
        overtime = Overtime(self._crawl.turns, worker, times)
        act_at, report_at = now + self._order.seconds, now + _REPORT_SECONDS
        while True:
            wait_seconds = max(0.0, min(renew_at, publish_at, act_at, report_at) - time.monotonic())
            if wait(ends, wait_seconds, FIRST_COMPLETED).done:
                return
            now = time.monotonic()
            if now >= act_at:
                act_at = now + overtime.act(now)
            if now >= report_at:
                worker.report(self._order, self._crawl.turns.spent)
                report_at = now + _REPORT_SECONDS
            if now >= renew_at:
                self._renew(worker)
                renew_at = time.monotonic() + times.term / 4
            if now >= publish_at:
                cpu = time.thread_time()
                self._publish_within()
                pause = pause_between_publications(times.publish, time.thread_time() - cpu)
                publish_at = time.monotonic() + pause

    def _renew(self, worker: Worker) -> None:
        try:
            self._lease.renew(self._crawl.turns.pace_seconds)
        except StoreError as error:
            self._crawl.messages.append(str(error))
        except LeaseLostError:
            self._crawl.stop.set()
        else:
            worker.thread().call(self._crawl.turns.resume)

    def _secure_lease(self) -> None:
        """Make sure that the lease is ours while the end is published."""
        if self._lease.seconds_usable < self._order.times.term / 4:
            self._lease.renew(self._crawl.turns.pace_seconds)
        else:
            self._lease.check()

    def _publish_within(self) -> None:
        """Publish what there is so far; what fails now is tried again at the next time."""
        if not holds_run(self._crawl.folder):
            return
        try:
            self._lease.check()
            with RunReader(self._publisher.copy(), immutable=True) as run:
                news = replace(self._publisher.manifest, written_at=time.time(), state=self._state(run))
                self._publisher.publish(run, news, ended=False)
        except StoreError as error:
            self._crawl.messages.append(str(error))
        except (LeaseLostError, ChainBrokenError):
            self._crawl.stop.set()

    def _publish_end(self, ended: CrawlEnd | None, free_at: float) -> Manifest:
        """Publish the slice; of a crawl that ended, also its report."""
        last = self._publisher.manifest
        store, place = self._publisher.store, self._order.place
        folder = self._publisher.copy() if ended is None else self._crawl.folder
        with RunReader(folder, immutable=True) as run:
            (last_event,) = run.connection.execute(_LAST_EVENT).fetchone()
            news = replace(
                last,
                written_at=time.time(),
                state=replace(self._state(run), done=ended is not None and ended.done, free_at=free_at),
                slices=last.slices + 1,
                tables=(last.tables[1], last_event),
            )
            after = self._retries.run(lambda: self._publisher.publish(run, news, ended=True))
            self._retries.run(lambda: write_tables(store, place, after, run.connection))
            page = None if ended is None else report_page(run, self._pull_command).encode()
        if page is not None:
            self._retries.run(lambda: store.replace(f"{place}/report.html", page))
        return after

    @property
    def _pull_command(self) -> str:
        return shlex.join(
            ["coati", "pull", self._order.store, self._order.site.name, "--out", self._order.site.name]
        )

    def _state(self, run: RunReader) -> RunState:
        site = self._order.site
        summary = summary_of(run, site.name, site.urls[0], self._order.place)
        return RunState.of_summary(summary, self._crawl.turns.promises)

    def _result(self, after: Manifest, worker: Worker, ended: CrawlEnd | None = None) -> SliceResult:
        before = self._before.state
        messages = tuple(self._crawl.messages)
        self._crawl.messages.clear()
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
            messages=(*messages, *(() if ended is None else ended.messages)),
            cycle=None if ended is None else ended.cycle,
        )
