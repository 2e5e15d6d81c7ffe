"""Breadth-first, depth-first and random: one frontier for every kind of link, and no learning."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Method, Page, Redirect, Request
from coati.strategies.frontier import Fifo, Lifo, Pool
from coati.strategies.known_urls import KnownUrls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Outcome, Ready, Settlement
    from coati.strategies.frontier import Frontier
    from coati.strategies.state import State


class FrontierStrategy:
    """Ask for every URL once, in the order that the frontier gives.

    Where a redirect leads waits in the frontier like any link.

    >>> from coati.model import Link, LinkList, always_ready
    >>> crawl = breadth_first("http://example.org/")
    >>> request = crawl.choose(0.0, always_ready)
    >>> crawl.observe(request.id, Page(200, 9, LinkList([Link("http://example.org/a", ("html", "a"))])))
    ()
    >>> crawl.choose(1.0, always_ready).url
    'http://example.org/a'
    """

    def __init__(self, start_url: str, frontier: Frontier) -> None:
        self._known = KnownUrls()
        self._frontier = frontier
        self._in_flight: dict[int, int] = {}
        self._turn = 0
        self._meet(start_url)

    def choose(self, now: float, ready: Ready) -> Request | None:
        """Take the next of the frontier."""
        if not len(self._frontier):
            return None
        return self._request(self._frontier.pop(self._turn))

    def redo(self, request: Request) -> None:
        """Take the URL of a logged request: nearly always the one that `choose` would take."""
        if len(self._frontier) and self._known[self._frontier.peek(self._turn)] == request.url:
            number = self._frontier.pop(self._turn)
        else:
            number = self._known.find(request.url)
            self._frontier.remove(number)
        self._request(number)

    def observe(self, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        """Let the new links of a page wait; nothing is learnt."""
        del self._in_flight[request_id]
        if isinstance(outcome, Page):
            for url in outcome.links.urls:
                self._meet(url)
        elif isinstance(outcome, Redirect):
            self._meet(outcome.location)
        return ()

    def save(self) -> State:
        """Give the known URLs, what waits, and what is in flight."""
        return {
            **self._known.save(),
            "frontier": np.array(self._frontier.save(), np.uint32),
            "in_flight": list(self._in_flight.items()),
            "turn": self._turn,
        }

    def load(self, state: State) -> None:
        """Take over a saved state."""
        self._known = KnownUrls()
        self._known.load(state)
        self._frontier.load(array("I", state["frontier"].astype(np.uint32).tobytes()))
        self._in_flight = dict(state["in_flight"])
        self._turn = state["turn"]

    def arm_label(self, arm: int) -> str:
        """Name the only arm there is."""
        return f"all links ({arm})"

    def _meet(self, url: str) -> None:
        number = self._known.add(url)
        if number is not None:
            self._frontier.push(number)

    def _request(self, number: int) -> Request:
        request = Request(self._turn, Method.GET, self._known[number])
        self._in_flight[self._turn] = number
        self._turn += 1
        return request


def breadth_first(start_url: str) -> FrontierStrategy:
    """Crawl in the order of discovery (BFS)."""
    return FrontierStrategy(start_url, Fifo())


def depth_first(start_url: str) -> FrontierStrategy:
    """Crawl the link found last first (DFS): of a page, its last link."""
    return FrontierStrategy(start_url, Lifo())


def uniformly_random(start_url: str, seed: int) -> FrontierStrategy:
    """Crawl any known link with the same probability (RANDOM)."""
    return FrontierStrategy(start_url, Pool(seed))
