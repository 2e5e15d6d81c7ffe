"""A way to stop a crawl from outside: another thread, a button of a notebook, a dashboard."""

from __future__ import annotations

import threading
from collections.abc import Callable


class StopSignal:
    """Pass it to a crawl and call `set` to stop that crawl: requests in flight are finished and saved.

    >>> signal, heard = StopSignal(), []
    >>> signal.attach(lambda: heard.append("stop"))
    >>> signal.set()
    >>> heard
    ['stop']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self.is_set = False

    def set(self) -> None:
        """Stop every crawl that it was given to, now and later; any thread may call this."""
        with self._lock:
            self.is_set = True
            stops = list(self._stops)
        for stop in stops:
            stop()

    def attach(self, stop: Callable[[], None]) -> None:
        """Call this when the signal is set, or at once if it is already; for drivers."""
        with self._lock:
            self._stops.append(stop)
            late = self.is_set
        if late:
            stop()
