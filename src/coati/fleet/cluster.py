"""Where slices run, as the client sees it; and the simplest such place, its own process."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

from coati.fleet.crawl_thread import crawl_thread
from coati.fleet.orders import SliceOrder, SliceResult
from coati.fleet.site_crawl import RestingCrawls
from coati.fleet.slices import run_slice
from coati.fleet.worker import Worker
from coati.live.site_turns import Usage


class FinishedSlice(NamedTuple):
    """A slice that is no longer out: what came of it, or why nothing came.

    ``worker_died``: the worker that had it is gone. Else an error is ours, the store's or the machine's.
    """

    site: str
    result: SliceResult | None = None
    error: BaseException | None = None
    worker_died: bool = False


class Cluster(Protocol):
    """Workers that crawl slices."""

    def places(self) -> int:
        """Return how many slices may be out at once."""

    def workers(self) -> set[str]:
        """Return the names of the workers that are there now."""

    def send(self, order: SliceOrder, *, apart: bool = False) -> None:
        """Have a worker crawl a slice; ``apart``: a worker that has no other such slice, if there is one."""

    def wait(self, seconds: float) -> FinishedSlice | None:
        """Wait for a slice to come back; None if none does within the time."""

    def underway(self) -> Mapping[str, Usage]:
        """Return what the runs of slices that are out had spent in all at their last report, by site."""

    def recall(self) -> None:
        """Let every slice that is out end soon, and be published."""

    def leave_out(self, worker: str) -> None:
        """Send nothing more to a worker."""

    def close(self) -> None:
        """Release the workers."""


class OwnProcess:
    """Slices in threads of this process, for one machine and for tests."""

    def __init__(
        self, places: int = 8, crawl: Callable[[SliceOrder, Worker], SliceResult] = run_slice
    ) -> None:
        self._places = places
        self._crawl = crawl
        self._worker = Worker(resting=RestingCrawls(), report=self._hear)
        self._underway: dict[str, Usage] = {}
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="coati-slice")
        self._finished: queue.Queue[FinishedSlice] = queue.Queue()

    def places(self) -> int:
        return self._places

    def workers(self) -> set[str]:
        return set()

    def send(self, order: SliceOrder, *, apart: bool = False) -> None:
        future = self._pool.submit(self._crawl, order, self._worker)
        future.add_done_callback(lambda done: self._finished.put(_finished(order.site.name, done)))

    def wait(self, seconds: float) -> FinishedSlice | None:
        try:
            finished = self._finished.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        self._underway.pop(finished.site, None)
        return finished

    def _hear(self, order: SliceOrder, spent: Usage) -> None:
        self._underway[order.site.name] = spent

    def underway(self) -> Mapping[str, Usage]:
        return self._underway.copy()

    def recall(self) -> None:
        crawl_thread().stop_all()

    def leave_out(self, worker: str) -> None:
        """There is only this process."""

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._worker.resting.close()


def _finished(site: str, future: Future[SliceResult]) -> FinishedSlice:
    error = future.exception()
    return FinishedSlice(site, error=error) if error is not None else FinishedSlice(site, future.result())
