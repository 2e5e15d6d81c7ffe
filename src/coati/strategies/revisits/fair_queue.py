"""Links that wait to be followed: pages take turns, and a link's turn comes the sooner the more it promises.

Where more new links come than can be followed, a page with many of them would else keep the single file of a
quiet page waiting for ever. This is fair queueing as networks do it: a link takes the longer the less it
promises, the links of a page follow each other, and whichever would be done first is next.

Of a page, the links that promise most are first, and of those that promise about as much, the newest. Where a
page brings more than is followed for weeks, its newest links are followed, and the others are never reached.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    # What orders the links of a page: about how much they promise, their cycle, how much exactly.
    _Place = tuple[int, int, float]

# What promises less than this waits no longer than what promises this.
_LEAST_SCORE = 1e-6


class LinkToFollow(NamedTuple):
    """A link to follow: where it stood, and since which cycle.

    ``depth`` is how many links from a watched page it is, ``hops`` how often it moved.
    """

    url: str
    page: str
    score: float
    depth: int = 1
    hops: int = 0
    cycle: int = 0


class FairQueue:
    """The queue; an address waits in it once.

    >>> queue = FairQueue()
    >>> for name in "1234": queue.push(LinkToFollow(name, "front", 0.9))
    >>> queue.push(LinkToFollow("a story", "quiet", 0.3))
    >>> queue.push(LinkToFollow("a file", "quiet", 0.8))
    >>> [queue.pop().url for _ in range(6)]
    ['1', 'a file', '2', '3', '4', 'a story']
    >>> queue.push(LinkToFollow("of last week", "front", 0.94, cycle=1))
    >>> queue.push(LinkToFollow("of today", "front", 0.91, cycle=2))
    >>> queue.pop().url
    'of today'
    """

    def __init__(self) -> None:
        self._items: dict[str, LinkToFollow] = {}
        # Per page: when its first link began to take its time, and its links, the first one first.
        self._begun: dict[str, float] = {}
        self._of_page: dict[str, list[tuple[_Place, int, str]]] = {}
        # When the first link of a page is done, and its number; a page that has got another one since is
        # skipped.
        self._done: dict[str, tuple[float, int]] = {}
        self._order: list[tuple[float, int, str]] = []
        self._now = 0.0
        self._pushed = 0

    def __len__(self) -> int:
        return len(self._items)

    def push(self, link: LinkToFollow) -> None:
        """Let a link wait, unless it waits already."""
        if link.url in self._items:
            return
        self._items[link.url] = link
        self._pushed += 1
        self._begun.setdefault(link.page, self._now)
        links = self._of_page.setdefault(link.page, [])
        heapq.heappush(links, (_place_of(link), self._pushed, link.url))
        if links[0][2] == link.url:
            self._set_done(link.page)

    def _set_done(self, page: str) -> None:
        """Work out when the first link of a page is done; forget a page without links."""
        links = self._of_page[page]
        while links and links[0][2] not in self._items:
            heapq.heappop(links)
        if links:
            _, number, url = links[0]
            done = self._begun[page] + _time_of(self._items[url])
            self._done[page] = done, number
            heapq.heappush(self._order, (done, number, page))
        else:
            del self._begun[page], self._of_page[page], self._done[page]

    def _next_page(self) -> str | None:
        while self._order:
            done, number, page = self._order[0]
            if self._done.get(page) == (done, number):
                return page
            heapq.heappop(self._order)
        return None

    def pop(self) -> LinkToFollow:
        """Take the link whose turn it is; raise `IndexError` if there is none."""
        page = self._next_page()
        if page is None:
            raise IndexError("no link waits")
        self._now = self._begun[page] = self._done[page][0]
        link = self._items.pop(self._of_page[page][0][2])
        self._set_done(page)
        return link

    def take(self, url: str) -> LinkToFollow | None:
        """Take a given link; None if it does not wait."""
        page = self._next_page()
        if page is not None and self._of_page[page][0][2] == url:
            return self.pop()
        return self._remove(url)

    def _remove(self, url: str) -> LinkToFollow | None:
        link = self._items.pop(url, None)
        if link is not None and self._of_page[link.page][0][2] == url:
            self._set_done(link.page)
        return link

    def keep(self, is_kept: Callable[[str], bool]) -> None:
        """Drop the addresses that are not kept."""
        for url in [url for url in self._items if not is_kept(url)]:
            self._remove(url)

    def in_order(self) -> list[LinkToFollow]:
        """Return all links in the order of their turns, if no other came."""
        turns = []
        for page, links in self._of_page.items():
            done = self._begun[page]
            for _, number, url in sorted(links):
                if url in self._items:
                    done += _time_of(self._items[url])
                    turns.append((done, number, url))
        return [self._items[url] for *_, url in sorted(turns)]

    def save(self) -> dict[str, Any]:
        return {
            "waiting": [list(link) for link in self._items.values()],
            "begun": [list(pair) for pair in self._begun.items()],
            "now": self._now,
        }

    @classmethod
    def load(cls, state: dict[str, Any]) -> FairQueue:
        """Return a saved queue."""
        queue = cls()
        queue._now, queue._begun = state["now"], dict(state["begun"])
        for link in state["waiting"]:
            queue.push(LinkToFollow(*link))
        return queue


def _place_of(link: LinkToFollow) -> _Place:
    # What differs by less than a factor of two mostly promises as much.
    return -round(math.log2(_score_of(link))), -link.cycle, -link.score


def _time_of(link: LinkToFollow) -> float:
    return 1 / _score_of(link)


def _score_of(link: LinkToFollow) -> float:
    return max(link.score, _LEAST_SCORE)
