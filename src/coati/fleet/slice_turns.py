"""What lets the crawl of a slice ask: its lease, before each choice and each further attempt."""

from __future__ import annotations

from collections.abc import Callable

from coati.live.progress import Event, EventKind
from coati.live.site_turns import Crawled, Spent

# Nobody is left alone for longer than this on account of one answer.
_LONGEST_PACE = 3600.0


class SliceTurns:
    """The turns of a slice: all are its own, as long as its lease holds.

    So a worker that cannot reach the store any more, or that was away, does not go on asking a site that is
    somebody else's by now. ``promise`` is what the next choice promised when the crawl ended, and
    ``pace_seconds`` is how long its hosts are to be left alone between two requests.
    """

    def __init__(self, seconds_to_ask: Callable[[], float], pace_seconds: float) -> None:
        self._seconds_to_ask = seconds_to_ask
        self._site: Crawled | None = None
        self._waiting = False
        self.pace_seconds = pace_seconds
        self.promise: float | None = None

    def joins(self, site: Crawled) -> None:
        self._site = site

    def may_choose(self) -> bool:
        self._waiting = self._seconds_to_ask() <= 0
        return not self._waiting

    def passes(self) -> None:
        """Nobody else waits for the turn."""

    def charge(self, attempts: int) -> bool:
        return attempts <= 0 or self._seconds_to_ask() > 0

    def observed(self, brought: Spent) -> None:
        """What it brought stands in the log."""

    def leaves(self) -> None:
        if self._site is not None:
            self.promise = self._site.expects()

    def go_on(self) -> None:
        """Let the crawl ask again, if it had to wait; to be called on its loop."""
        if self._waiting and self._site is not None:
            self._site.awaken()

    def on_event(self, event: Event) -> None:
        """Learn how long hosts are to be left alone."""
        seconds = event.data.get("seconds")
        if event.what is EventKind.WAITING and isinstance(seconds, float | int):
            self.pace_seconds = max(self.pace_seconds, min(float(seconds), _LONGEST_PACE))
