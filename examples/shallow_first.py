"""A strategy of one's own: of all links that wait, follow the one with the fewest folders in its address.

    coati replay ARCHIVE --strategy shallow_first:ShallowFirst,bfs
    coati crawl https://www.example.org/ --strategy shallow_first:ShallowFirst

docs/how-to/write-a-strategy.md goes through it step by step.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from coati.model import Deferred, Later, Method, Page, Redirect, Request
from coati.strategies.deferrals import Deferrals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Outcome, Settlement
    from coati.strategies.state import State


class ShallowFirst:
    """Follows the link with the fewest folders first; of equals, the one that was found first."""

    def __init__(self, start_urls: Sequence[str], seed: int = 0) -> None:
        self._known: list[str] = []
        self._numbers: dict[str, int] = {}
        self._waiting: list[tuple[int, int]] = []
        self._in_flight: dict[int, int] = {}
        self._deferred: Deferrals[int] = Deferrals()
        self._turn = 0
        for url in start_urls:
            self._add_url(url)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Return a link that failed in an outage and is due, else the shallowest one."""
        number = self._deferred.take(now, idle=not self._waiting and not self._in_flight)
        if number is None:
            if not self._waiting:
                return self._deferred.answer()
            _, number = heapq.heappop(self._waiting)
        return self._ask(number)

    def redo(self, request: Request, now: float) -> None:
        """Make a choice that a log holds, whichever it was."""
        number = self._deferred.take_logged(request)
        if number is None:
            number = self._numbers.get(request.url, -1)
            # Raises ValueError where the link does not wait, as the contract wants it.
            self._waiting.remove((_folders(request.url), number))
            heapq.heapify(self._waiting)
        self._ask(number)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Let the new links of a page wait; no arm, so no reward."""
        number = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, self._known[number], number, outcome.until)
        elif isinstance(outcome, Page):
            for url in outcome.links.urls:
                self._add_url(url)
        elif isinstance(outcome, Redirect):
            self._add_url(outcome.location)
        return ()

    def save(self) -> State:
        """Return everything that `load` needs, requests in flight included."""
        return {
            "known": list(self._known),
            "waiting": sorted(self._waiting),
            "in_flight": list(self._in_flight.items()),
            "deferred": self._deferred.save(int),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        """Take over a saved state."""
        self._known = list(state["known"])
        self._numbers = {url: number for number, url in enumerate(self._known)}
        self._waiting = [(folders, number) for folders, number in state["waiting"]]
        self._in_flight = dict(state["in_flight"])
        self._deferred.load(state["deferred"], int)
        self._turn = state["turn"]

    def arm_label(self, arm: int) -> str:
        """Name an arm; this strategy has none."""
        return "all links"

    def _add_url(self, url: str) -> None:
        if url not in self._numbers:
            self._numbers[url] = len(self._known)
            heapq.heappush(self._waiting, (_folders(url), len(self._known)))
            self._known.append(url)

    def _ask(self, number: int) -> Request:
        url = self._known[number]
        request = Request(self._turn, Method.GET, url, score=-float(_folders(url)))
        self._in_flight[self._turn] = number
        self._turn += 1
        return request


def _folders(url: str) -> int:
    return url.partition("?")[0].count("/")
