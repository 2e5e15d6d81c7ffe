"""An event loop that knows when an answer can have arrived, apart from when somebody gets to read it.

A response that has arrived is noticed only when the loop comes to it. In a process that crawls a hundred
sites, or on a busy machine, that takes longer than the response itself; taken for slowness of the server, it
would make requests rarer and rarer. So the loop keeps, for each of its turns, the last moment at which what
the turn deals with was not there yet:

- if the turn began with waiting, nothing was there until the wait ended;
- if something was there at once, it came while the last turn was at work, at its beginning at the earliest.

Who awaits a response continues one turn after it was noticed; so it is the turn before that counts.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections import deque
from contextlib import suppress
from typing import Final, NamedTuple

from coati.live.spacing import ByteSpacing, RequestSpacing

# A turn of more than this holds up everything: no answer is read, no signal heard.
STALL_SECONDS = 1.0

# A wait that is shorter was none: the call alone takes that long.
_WAITED_SECONDS = 0.0002


class Stalls(NamedTuple):
    """How often a turn of the loop took longer than `STALL_SECONDS`, and how long the longest took.

    >>> NO_STALLS.after(0.2).after(3.0).after(1.5)
    Stalls(times=2, longest_seconds=3.0)
    """

    times: int = 0
    longest_seconds: float = 0.0

    def after(self, seconds: float) -> Stalls:
        """Count a turn."""
        if seconds <= STALL_SECONDS:
            return self
        return Stalls(self.times + 1, max(self.longest_seconds, seconds))


NO_STALLS: Final = Stalls()


class _TurnTimes(selectors.DefaultSelector):
    """A selector that remembers when what it reports can have come, for this turn and the one before."""

    def __init__(self) -> None:
        super().__init__()
        self._returned_at = time.monotonic()
        self.came_after = deque([self._returned_at] * 2, maxlen=2)
        self.stalls = NO_STALLS

    def restart(self) -> None:
        """Let the turn that is under way begin now, and be the first that counts."""
        self._returned_at = time.monotonic()
        self.stalls = NO_STALLS

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        worked_from, begun = self._returned_at, time.monotonic()
        self.stalls = self.stalls.after(begun - worked_from)
        found = super().select(timeout)
        self._returned_at = time.monotonic()
        waited = self._returned_at - begun > _WAITED_SECONDS
        self.came_after.append(self._returned_at if waited else worked_from)
        return found


class CrawlLoop(asyncio.SelectorEventLoop):
    """The loop of our crawls: it times its turns, and spaces what leaves and what comes."""

    def __init__(self) -> None:
        self.request_spacing = RequestSpacing()
        self.byte_spacing = ByteSpacing()
        self._turns = _TurnTimes()
        super().__init__(self._turns)

    def crawl_begins(self) -> None:
        """Count stalls from here: loading what a crawl needs is not a stall."""
        self._turns.restart()

    @property
    def stalls(self) -> Stalls:
        """The turns that took too long so far."""
        return self._turns.stalls

    @property
    def came_after(self) -> float:
        """The earliest moment (of ``time.monotonic``) at which what is there now can have arrived."""
        return self._turns.came_after[0]


def stalls_of_loop() -> Stalls:
    """Return the stalls of the running loop; none on another loop, or where none runs."""
    with suppress(RuntimeError):
        loop = asyncio.get_running_loop()
        if isinstance(loop, CrawlLoop):
            return loop.stalls
    return NO_STALLS


def count_stalls_from_here() -> None:
    """Forget the stalls of the running loop, if it is ours."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, CrawlLoop):
        loop.crawl_begins()


def byte_spacing_of_loop() -> ByteSpacing:
    """Return what all crawls on the running loop share; one of its own on another loop."""
    loop = asyncio.get_running_loop()
    return loop.byte_spacing if isinstance(loop, CrawlLoop) else ByteSpacing()


def seconds_of_server(started: float) -> float:
    """Say how long an answer that is now there took, at least, if it was requested at ``started``.

    On another loop it is all the time since then.
    """
    loop = asyncio.get_running_loop()
    came = loop.came_after if isinstance(loop, CrawlLoop) else time.monotonic()
    return max(0.0, came - started)
