"""Breadth-first, depth-first and random: one frontier for every kind of link, and no learning."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Deferred, Method, Page, Redirect, Request
from coati.strategies.deferrals import Deferrals
from coati.strategies.frontier import Fifo, Lifo, Pool
from coati.strategies.known_urls import KnownUrls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Later, Outcome, Settlement
    from coati.strategies.frontier import Frontier
    from coati.strategies.state import State


class FrontierStrategy:
    """Request every URL once, in the order that the frontier gives.

    The location of a redirect waits in the frontier like any link.

    >>> from coati.model import EVERY_HOST, Link, LinkList
    >>> crawl = breadth_first(["http://example.org/"])
    >>> request = crawl.choose(0.0, EVERY_HOST)
    >>> page = Page(200, 9, LinkList([Link("http://example.org/a", ("html", "a"))]))
    >>> crawl.observe(request.id, page, 1.0)
    ()
    >>> crawl.choose(1.0, EVERY_HOST).url
    'http://example.org/a'
    """

    def __init__(self, start_urls: Sequence[str], frontier: Frontier) -> None:
        self._known = KnownUrls()
        self._frontier = frontier
        self._in_flight: dict[int, int] = {}
        self._deferred: Deferrals[int] = Deferrals()
        self._turn = 0
        for url in start_urls:
            self._add_url(url)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Take a deferred link that is due, else the next of the frontier."""
        waiting = bool(len(self._frontier))
        number = self._deferred.take(now, idle=not waiting and not self._in_flight)
        if number is None:
            if not waiting:
                return self._deferred.answer()
            number = self._frontier.pop(self._turn)
        return self._request(number)

    def redo(self, request: Request, now: float) -> None:
        """Take the URL of a logged request: nearly always the one that `choose` would take."""
        number = self._deferred.take_logged(request)
        self._request(self._take_logged(request.url) if number is None else number)

    def _take_logged(self, url: str) -> int:
        if len(self._frontier) and self._known[self._frontier.peek(self._turn)] == url:
            return self._frontier.pop(self._turn)
        number = self._known.find(url)
        self._frontier.remove(number)
        return number

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Queue the new links of a page; nothing is learnt."""
        number = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._deferred.push(Method.GET, self._known[number], number, outcome.until)
        elif isinstance(outcome, Page):
            urls = outcome.links.urls
            for place in self._known.new_indices(urls):
                self._add_url(urls[place])
        elif isinstance(outcome, Redirect):
            self._add_url(outcome.location)
        return ()

    def save(self) -> State:
        """Return the known URLs, what waits, and what is in flight."""
        return {
            **self._known.save(),
            "frontier": np.array(self._frontier.save(), np.uint32),
            "in_flight": list(self._in_flight.items()),
            "deferred": self._deferred.save(int),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        self._known = KnownUrls()
        self._known.load(state)
        self._frontier.load(array("I", state["frontier"].astype(np.uint32).tobytes()))
        self._in_flight = dict(state["in_flight"])
        self._deferred.load(state["deferred"], int)
        self._turn = state["turn"]

    def arm_label(self, arm: int) -> str:
        """Name the only arm there is."""
        return f"all links ({arm})"

    def _add_url(self, url: str) -> None:
        number = self._known.add(url)
        if number is not None:
            self._frontier.push(number)

    def _request(self, number: int) -> Request:
        request = Request(self._turn, Method.GET, self._known[number])
        self._in_flight[self._turn] = number
        self._turn += 1
        return request


def breadth_first(start_urls: Sequence[str]) -> FrontierStrategy:
    """Crawl in the order of discovery (BFS)."""
    return FrontierStrategy(start_urls, Fifo())


def depth_first(start_urls: Sequence[str]) -> FrontierStrategy:
    """Crawl the link found last first (DFS): of a page, its last link."""
    return FrontierStrategy(start_urls, Lifo())


def uniformly_random(start_urls: Sequence[str], seed: int) -> FrontierStrategy:
    """Crawl a random known link (RANDOM)."""
    return FrontierStrategy(start_urls, Pool(seed))
