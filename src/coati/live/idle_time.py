"""How long a process has waited for the network, apart from what it did itself meanwhile.

An answer that has arrived is noticed only when the event loop gets to it. In a process that crawls a hundred
sites, or on a busy machine, that takes longer than the answer itself, and who takes it for slowness of the
server asks more and more seldom. So a server's latency is measured on a clock of its own: it goes on only
while the loop sits in ``select`` with nothing to do. What it shows between a request and its answer is surely
the server's; a process that is never idle learns nothing about servers, and its delays stay as they are set.
"""

from __future__ import annotations

import asyncio
import selectors
import time

from coati.live.turnstile import Turnstile


class _TimedSelector(selectors.DefaultSelector):
    """A selector that adds up how long it waited."""

    waited_seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        begun = time.monotonic()
        try:
            return super().select(timeout)
        finally:
            self.waited_seconds += time.monotonic() - begun


class IdleTimedLoop(asyncio.SelectorEventLoop):
    """An event loop that knows how long it was idle, and lets requests leave one after the other."""

    def __init__(self) -> None:
        self.turnstile = Turnstile()
        self._timed = _TimedSelector()
        super().__init__(self._timed)

    @property
    def idle_seconds(self) -> float:
        """The time without anything to do, since the loop was made."""
        return self._timed.waited_seconds


def idle_seconds() -> float:
    """Read the clock of the running loop; only differences mean something.

    On a loop of somebody else's it is the time in which this thread did not compute, nearly the same.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, IdleTimedLoop):
        return loop.idle_seconds
    return time.monotonic() - time.thread_time()
