"""When the crawl of a site may make a request: while it has its lease and its slice is not used up.

When a slice is spent, the crawl *rests*: it stays open, with nothing in flight, until the next slice.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from coati.bandits.site_choice import Promises
from coati.live.progress import Event, EventKind
from coati.live.site_turns import CrawlControl, Usage
from coati.stop_reasons import StopReason

# Nobody is left alone for longer than this on account of one answer.
_LONGEST_PACE = 3600.0
# Waits are told in tenths of a second.
_ROUNDING = 0.1


class SliceTurns:
    """The turns of a site: within a slice all are its own, as long as its lease holds.

    So a worker that cannot reach the store any more, or that was away, sends nothing more to a site that is
    somebody else's by now. Everything but ``pace_seconds``, ``promises`` and ``spent`` is for the loop of the
    crawl.

    ``promises`` is what the crawl promises, counted as `coati.live.site_turns` does. ``pace_seconds`` is how
    long its hosts are to be left alone between two requests, ``rest_seconds`` how long they were to be when
    it rested. ``spent`` is what the run has spent in all, as of the last request.
    """

    def __init__(self, pace_seconds: float, promises: Promises) -> None:
        self._rested: Future[None] = Future()
        self._seconds_usable: Callable[[], float] = lambda: 0.0
        self._requests_left = 0
        # Attempts at the request that is open, beyond the first.
        self._more_attempts = 0
        self._ends: StopReason | None = None
        self._site: CrawlControl | None = None
        self.pace_seconds = pace_seconds
        self.rest_seconds = 0.0
        self.promises = promises
        self.spent = Usage(0, 0, 0)

    def begin(self, requests: int, seconds_usable: Callable[[], float], rested: Future[None]) -> None:
        """Let the crawl make this many requests, while its lease is usable; ``rested`` ends then."""
        self._rested = rested
        self._requests_left = requests
        self._seconds_usable = seconds_usable
        self.resume()

    def resume(self) -> None:
        """Let the crawl choose again, if it had to wait."""
        if self._site is not None:
            self._site.wake()

    def spend(self) -> None:
        """End the slice: the crawl rests as soon as nothing is in flight."""
        self._requests_left = 0
        if self._site is not None and not self._site.open_count:
            self._rest()

    def end(self, reason: StopReason) -> None:
        """End the crawl, for a reason that its log is to have."""
        self._ends = reason
        if self._site is not None:
            self._site.stop(reason)

    def add(self, site: CrawlControl) -> None:
        self._site = site
        self.promises = self.promises._replace(promise=site.expects())
        if self._ends is not None:
            site.stop(self._ends)

    def may_choose(self) -> bool:
        if self._requests_left <= 0:
            self._rest()
            return False
        return self._seconds_usable() > 0

    def yield_turn(self) -> None:
        """Nobody else waits for the turn."""

    def charge(self, attempts: int) -> bool:
        if attempts > 0:
            spent = 1 + self._more_attempts + attempts > self._requests_left
            if spent or self._seconds_usable() <= 0:
                return False
        self._more_attempts += attempts
        return True

    def observed(self, brought: Usage) -> None:
        """Learn what a request brought; one that cost nothing is as if it had not been made."""
        self._requests_left -= brought.requests
        self._more_attempts = 0
        if self._site is not None:
            self.spent = self._site.spent()
        if brought.requests and self._site is not None:
            self.promises = self.promises.after(brought.targets, self._site.expects())

    def remove(self) -> None:
        """What it brought stands in the log."""

    def received(self, _size_bytes: int) -> bool:
        """Whoever gives out slices counts the bytes of all sites."""
        return True

    def seconds_left(self) -> None:
        """Whoever gives out slices ends them when the time is over."""

    def on_event(self, event: Event) -> None:
        """Learn how long hosts are to be left alone."""
        seconds = event.data.get("seconds")
        if event.what is EventKind.WAITING and isinstance(seconds, float | int):
            self.pace_seconds = max(self.pace_seconds, min(float(seconds), _LONGEST_PACE))

    def _rest(self) -> None:
        if self._site is not None and not self._rested.done():
            rests = self._site.rests_seconds()
            self.rest_seconds = rests + _ROUNDING if rests else 0.0
            self._rested.set_result(None)
