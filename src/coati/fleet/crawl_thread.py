"""One event loop per process for all slices that it crawls at once.

Each slice is a task of its own in a thread of its own, which mostly waits. If each also had an event loop,
they would stand in each other's way; on one loop, a hundred polite crawls fit on one core.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from coati.live.event_loop import CrawlLoop
from coati.live.stop_signal import StopSignal

T = TypeVar("T")


class CrawlThread:
    """A thread that runs an event loop for ever; `stop_all` ends every crawl on it well."""

    def __init__(self) -> None:
        self._loop = CrawlLoop()
        self._lock = threading.Lock()
        self._stops: set[StopSignal] = set()
        threading.Thread(target=self._run, name="coati-crawls", daemon=True).start()

    def start(self, crawl: Coroutine[Any, Any, T], stop: StopSignal) -> Future[T]:
        """Begin a crawl; ``stop`` is set when all are to end."""
        with self._lock:
            self._stops.add(stop)
        future = asyncio.run_coroutine_threadsafe(crawl, self._loop)
        future.add_done_callback(lambda _: self._stops.discard(stop))
        return future

    def call(self, function: Callable[[], object]) -> None:
        """Have the thread call this soon."""
        self._loop.call_soon_threadsafe(function)

    def stop_all(self) -> int:
        """End every crawl; returns how many there were."""
        with self._lock:
            stops = list(self._stops)
        for stop in stops:
            stop.set()
        return len(stops)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()


_making = threading.Lock()
_only = cache(CrawlThread)


def crawl_thread() -> CrawlThread:
    """Return the thread of this process."""
    # Several slices that begin at once would each get one of their own.
    with _making:
        return _only()
