"""The contract of a scheduler: which of the watched pages a cycle visits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container

    import numpy.typing as npt

    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State

# Why a page is visited: the arms of a watch, which its requests name. 4 and 5 are those of
# `coati.strategies.revisits.site_watch`.
FIRST_LOOK, EXPECTED, EXPLORED, AGAIN, DATED = 0, 1, 2, 3, 6
WHY = {
    FIRST_LOOK: "first look",
    EXPECTED: "most new links expected",
    EXPLORED: "longest not visited",
    AGAIN: "requested again after an outage or a redirect",
    DATED: "a sitemap or feed says that it changed",
}


class Pick(NamedTuple):
    """A page to visit, why (one of `WHY`), and the score that won."""

    page: int
    why: int
    score: float


class Cycle:
    """One cycle: how many pages it may visit, and which ones are still open to it.

    A page is closed if it is in flight or waits after an outage, if it was taken in this cycle, or if its
    site has had its share.
    """

    def __init__(self, number: int, now: float, per_cycle: int, per_site: int | None, visits: Visits) -> None:
        self.number = number
        self.now = now
        self.per_cycle = per_cycle
        self.per_site = per_site
        self.visits = visits
        self.taken = self.prioritised = 0
        self.closed = np.zeros(len(visits), bool)
        self._taken_of_site: dict[int, int] = {}

    def is_open(self, page: int) -> bool:
        """Tell whether a page may be taken; one that joined during the cycle waits for the next."""
        if page >= len(self.closed) or self.closed[page]:
            return False
        site = int(self.visits.site[page])
        return self.per_site is None or self._taken_of_site.get(site, 0) < self.per_site

    def take(self, page: int) -> None:
        """Note that a page was taken."""
        self.closed[page] = True
        self.taken += 1
        site = int(self.visits.site[page])
        self._taken_of_site[site] = self._taken_of_site.get(site, 0) + 1

    def undo(self, page: int) -> None:
        """Undo `take` after an outage: the visit does not count, and the page waits elsewhere."""
        self.taken -= 1
        self._taken_of_site[int(self.visits.site[page])] -= 1

    def save(self) -> dict[str, Any]:
        """Return what `load` needs beside the arguments."""
        return {
            "cycle": [self.number, self.now, self.taken, self.prioritised],
            "cycle_taken_of_site": list(map(list, self._taken_of_site.items())),
            "cycle_closed": self.closed.copy(),
        }

    @classmethod
    def load(cls, state: State, per_cycle: int, per_site: int | None, visits: Visits) -> Cycle:
        """Return a saved cycle."""
        number, now, taken, prioritised = state["cycle"]
        cycle = cls(number, now, per_cycle, per_site, visits)
        cycle.taken, cycle.prioritised = taken, prioritised
        cycle._taken_of_site = dict(state["cycle_taken_of_site"])
        cycle.closed = np.array(state["cycle_closed"], bool)
        return cycle


class Scheduler(Protocol):
    """Says which page a cycle visits next; it may learn between two picks of a cycle."""

    def begin(self, cycle: Cycle) -> None:
        """Prepare for a cycle: train and rank. What the last one brought came by `learn`."""

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return the next page among those that are open; None if there is none. It is not yet taken."""

    def take(self, page: int) -> None:
        """Note that a page was taken, by a `pick` or by what a log holds."""

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Learn from one visit, first looks included; it is part of ``visits`` already."""

    def save(self) -> State:
        """Return what `load` needs."""

    def load(self, state: State) -> None:
        """Take over a saved state."""


class Ranking:
    """Pages in an order that is made when a cycle begins; what is closed is skipped.

    >>> from coati.strategies.revisits.visits import Visits
    >>> visits = Visits()
    >>> for site in (0, 0, 1): visits.add_page(site)
    >>> cycle = Cycle(0, 0.0, 2, None, visits)
    >>> ranking = Ranking(np.array([1.0, 3.0, 2.0]))
    >>> cycle.take(1)
    >>> ranking.first_open(cycle)
    2
    """

    def __init__(self, scores: npt.NDArray[np.float64], ties: npt.NDArray[np.float64] | None = None) -> None:
        """Rank by falling scores, equal ones by falling ``ties``, then by number."""
        keys = (-scores,) if ties is None else (-ties, -scores)
        self.scores = scores
        self._order = np.lexsort(keys).astype(np.int32)
        self._at = 0

    def first_open(self, cycle: Cycle, but: Container[int] = ()) -> int | None:
        """Return the best page that may be taken, except ``but``, to which pages are only ever added."""
        # Within a cycle a closed page stays closed, so the walk never goes back.
        while self._at < len(self._order):
            page = int(self._order[self._at])
            if cycle.is_open(page) and page not in but:
                return page
            self._at += 1
        return None

    def first(self, count: int) -> npt.NDArray[np.int32]:
        """Return the best pages, open or not."""
        return self._order[:count]

    def save(self, name: str) -> dict[str, Any]:
        """Return the order and the position in it, under keys that begin with ``name``."""
        return {f"{name}_order": self._order, f"{name}_scores": self.scores, f"{name}_at": self._at}

    @classmethod
    def load(cls, state: State, name: str) -> Ranking:
        """Return a saved ranking."""
        ranking = cls(np.zeros(0))
        ranking._order, ranking.scores = state[f"{name}_order"], state[f"{name}_scores"]
        ranking._at = state[f"{name}_at"]
        return ranking
