"""A crawl that follows the link of the highest value first: the frame of FOCUSED and TP-OFF.

What a link is worth, and what is learnt from a fetch, is a `LinkValues`. Links of every kind wait in one
frontier; the value of a link is fixed when it is added, and all that wait are valued again only when the
values say so. Of equal values the link added first is followed, so that values which know nothing yet crawl
breadth-first.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coati.model import Deferred, Link, Method, Page, Redirect, Request, Settlement
from coati.strategies.deferrals import Deferrals
from coati.strategies.known_urls import KnownUrls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coati.model import Hosts, Later, Outcome
    from coati.strategies.state import State

NO_PAGE = -1


class LinkValues(Protocol):
    """Values links, which have the numbers of `KnownUrls`, consecutive from 0 for the start page."""

    def add(self, number: int, link: Link, source: int) -> float:
        """Value a new link of the page ``source``; `NO_PAGE` for the start page."""

    def redirect(self, number: int, url: str, source: int) -> float:
        """Value a new URL that the link ``source`` was redirected to; comes before its `observe`."""

    def observe(self, number: int, url: str, outcome: Outcome) -> float | None:
        """Learn from a fetch; return the reward that was learnt, if any."""

    def needs_revaluing(self) -> bool:
        """Tell, once, whether all waiting links must be valued again."""

    def value(self, number: int, url: str) -> float:
        """Value a link that waits."""

    def arm(self, number: int) -> int | None:
        """Name the group that a link is valued by, if there are groups."""

    def label(self, arm: int) -> str:
        """Describe a group."""

    def save(self) -> State:
        """Return what `load` needs."""

    def load(self, state: State) -> None:
        """Take over what was saved."""


class BestFirst:
    """Numbers that wait, by value; of equals the lowest first.

    >>> waiting = BestFirst()
    >>> for number, value in enumerate([1.0, 3.0, 3.0]): waiting.push(number, value)
    >>> waiting.pop(), waiting.pop(), len(waiting)
    ((1, 3.0), (2, 3.0), 1)
    """

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, number: int, value: float) -> None:
        heapq.heappush(self._heap, (-value, number))

    def peek(self) -> int:
        return self._heap[0][1]

    def pop(self) -> tuple[int, float]:
        value, number = heapq.heappop(self._heap)
        return number, -value

    def remove(self, number: int) -> float:
        """Take a number out of turn, and return its value; raise `ValueError` if it does not wait."""
        place = [waiting for _, waiting in self._heap].index(number)
        value, _ = self._heap.pop(place)
        heapq.heapify(self._heap)
        return -value

    def revalue(self, value: Callable[[int], float]) -> None:
        """Value everything that waits again."""
        self._heap = [(-value(number), number) for _, number in self._heap]
        heapq.heapify(self._heap)

    def save(self) -> State:
        # In order, which is a heap too: the same state whatever order things came in.
        ordered = sorted(self._heap)
        return {
            "waiting": np.array([number for _, number in ordered], np.uint32),
            "waiting_values": np.array([-value for value, _ in ordered], np.float64),
        }

    def load(self, state: State) -> None:
        values, numbers = state["waiting_values"].tolist(), state["waiting"].tolist()
        self._heap = [(-value, number) for value, number in zip(values, numbers, strict=True)]


class BestFirstStrategy:
    """Request every URL once, the most valuable first. The location of a redirect waits like any link."""

    def __init__(self, start_urls: Sequence[str], values: LinkValues) -> None:
        self._known = KnownUrls()
        self._values = values
        self._waiting = BestFirst()
        self._in_flight: dict[int, tuple[int, float]] = {}
        self._deferred: Deferrals[tuple[int, float]] = Deferrals()
        self._turn = 0
        for url in start_urls:
            self._add_link(Link(url, ()), NO_PAGE)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take a deferred link that is due, else the most valuable one."""
        waiting = bool(len(self._waiting))
        deferred = self._deferred.take(now, idle=not waiting and not self._in_flight)
        if deferred is not None:
            return self._request(*deferred)
        return self._request(*self._waiting.pop()) if waiting else self._deferred.answer()

    def redo(self, request: Request, now: float) -> None:
        """Take the URL of a logged request: nearly always the one that `choose` would take."""
        deferred = self._deferred.take_logged(request)
        if deferred is not None:
            self._request(*deferred)
        elif len(self._waiting) and self._known[self._waiting.peek()] == request.url:
            self._request(*self._waiting.pop())
        else:
            number = self._known.find(request.url)
            self._request(number, self._waiting.remove(number))

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Learn from the fetch, then queue the new links."""
        number, value = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, self._known[number], (number, value), outcome.until)
            return ()
        if isinstance(outcome, Redirect):
            self._add_redirect(outcome.location, number)
        reward = self._values.observe(number, self._known[number], outcome)
        if self._values.needs_revaluing():
            self._waiting.revalue(lambda waiting: self._values.value(waiting, self._known[waiting]))
        if isinstance(outcome, Page):
            links = outcome.links
            for index, url in enumerate(links.urls):
                if url not in self._known:
                    self._add_link(links.link(index), number)
        return () if reward is None else (Settlement(request_id, reward),)

    def save(self) -> State:
        """Return the known URLs, what waits, what is in flight, and the values."""
        return {
            **self._known.save(),
            **self._waiting.save(),
            **self._values.save(),
            "in_flight": [[key, *sent] for key, sent in self._in_flight.items()],
            "deferred": self._deferred.save(list),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        self._known = KnownUrls()
        self._known.load(state)
        self._waiting.load(state)
        self._values.load(state)
        self._in_flight = {key: (number, value) for key, number, value in state["in_flight"]}
        self._deferred.load(state["deferred"], tuple)
        self._turn = state["turn"]

    def arm_label(self, arm: int) -> str:
        """Describe a group of links."""
        return self._values.label(arm)

    def _add_link(self, link: Link, source: int) -> None:
        number = self._known.add(link.url)
        if number is not None:
            self._waiting.push(number, self._values.add(number, link, source))

    def _add_redirect(self, location: str, source: int) -> None:
        number = self._known.add(location)
        if number is not None:
            self._waiting.push(number, self._values.redirect(number, location, source))

    def _request(self, number: int, value: float) -> Request:
        request = Request(self._turn, Method.GET, self._known[number], self._values.arm(number), value)
        self._in_flight[self._turn] = number, value
        self._turn += 1
        return request
