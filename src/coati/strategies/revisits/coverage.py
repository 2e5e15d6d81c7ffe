"""Schedulers that cover most links: GREEDY, which knows them, and COV*, which assumes those of the past."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.by_age import ages_in_hours
from coati.strategies.revisits.scheduler import EXPECTED, Pick

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.truth import PageTruth
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State

    IsOpen = Callable[[int], bool]


class GreedyCover:
    """Takes the set with most elements that no taken one has, again and again; of equals the first in line.

    What a set has left only ever falls, so it is counted again when the set comes first, and not before.

    >>> cover = GreedyCover([{1, 2}, {2, 3, 4}, {4}], line=[0, 1, 2])
    >>> cover.best(lambda _: True), cover.left(0)
    (1, 2)
    >>> cover.take(1)
    >>> cover.best(lambda _: True), cover.left(0)
    (0, 1)
    """

    def __init__(self, sets: Sequence[AbstractSet[int]], line: Sequence[int]) -> None:
        self._sets = sets
        self._line = line
        self._covered: set[int] = set()
        self._heap = [(-len(elements), line[number], number) for number, elements in enumerate(sets)]
        heapq.heapify(self._heap)

    def left(self, number: int) -> int:
        """Count the elements of a set that are not covered."""
        return len(self._sets[number] - self._covered)

    def best(self, is_open: IsOpen) -> int | None:
        """Return the set to take; those that are not open are dropped for good."""
        while self._heap:
            before, place, number = self._heap[0]
            if not is_open(number):
                heapq.heappop(self._heap)
                continue
            left = self.left(number)
            if left == -before:
                return number
            heapq.heapreplace(self._heap, (-left, place, number))
        return None

    def take(self, number: int) -> None:
        """Cover the elements of a set."""
        self._covered |= self._sets[number]

    def cover(self, elements: AbstractSet[int]) -> None:
        """Cover some elements."""
        self._covered |= elements

    def covered(self) -> list[int]:
        """Return what is covered."""
        return sorted(self._covered)


class _Covering:
    """A scheduler that covers most of the links that it expects on the pages."""

    def __init__(self) -> None:
        self._sets: list[set[int]] = []
        self._line: list[int] = []
        self._cover = GreedyCover([], [])

    def _begin(self, sets: list[set[int]], cycle: Cycle) -> None:
        ages = ages_in_hours(cycle)
        line = np.empty(len(ages), np.int64)
        line[np.lexsort((-ages,))] = np.arange(len(ages))
        self._sets, self._line = sets, line.tolist()
        self._cover = GreedyCover(self._sets, self._line)

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return the page with most links that no taken page has."""
        page = self._cover.best(cycle.is_open)
        return None if page is None else Pick(page, EXPECTED, float(self._cover.left(page)))

    def take(self, page: int) -> None:
        """Cover the links of a page."""
        self._cover.take(page)

    def save(self) -> State:
        """Return the links expected on the pages, and those that are covered."""
        sets = [sorted(links) for links in self._sets]
        return {"sets": sets, "line": self._line, "covered": self._cover.covered()}

    def load(self, state: State) -> None:
        self._sets, self._line = [set(links) for links in state["sets"]], list(state["line"])
        self._cover = GreedyCover(self._sets, self._line)
        self._cover.cover(set(state["covered"]))


class Greedy(_Covering):
    """GREEDY: the oracle. It covers most of the links that are there now and that it does not know."""

    def __init__(self, truth: PageTruth) -> None:
        super().__init__()
        self._truth = truth
        self._known: set[int] = set()

    def begin(self, cycle: Cycle) -> None:
        """Look at what is new on each page."""
        pages = range(len(cycle.visits))
        self._begin([set(self._truth.links(page, cycle.now)) - self._known for page in pages], cycle)

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Note what is known."""
        self._known.update(visit.counting)

    def save(self) -> State:
        return {**super().save(), "known": sorted(self._known)}

    def load(self, state: State) -> None:
        super().load(state)
        self._known = set(state["known"])


class PastCover(_Covering):
    """COV*: as if each page had all links that were ever seen on it."""

    def __init__(self) -> None:
        super().__init__()
        self._ever: dict[int, set[int]] = {}

    def begin(self, cycle: Cycle) -> None:
        """Take what was seen on each page."""
        self._begin([set(self._ever.get(page, ())) for page in range(len(cycle.visits))], cycle)

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Note what was seen."""
        self._ever.setdefault(visit.page, set()).update(visit.counting)

    def save(self) -> State:
        ever = [[page, sorted(links)] for page, links in self._ever.items()]
        return {**super().save(), "ever": ever}

    def load(self, state: State) -> None:
        super().load(state)
        self._ever = {page: set(links) for page, links in state["ever"]}
