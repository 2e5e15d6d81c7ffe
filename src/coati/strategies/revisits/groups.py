"""CLIQ-WIN*: groups of pages that bring the same links, and of each the page that brought most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.by_age import ages_in_hours, means_unseen_first
from coati.strategies.revisits.scheduler import EXPECTED, Pick, Ranking
from coati.strategies.revisits.similar_pages import SimilarPages

if TYPE_CHECKING:
    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State


class GroupsByWindowMean:
    """Takes the best page of each group first, then the second of each, and so on.

    A group is a clique: all of its pages are similar to each other. Pages join the first group that they fit
    into, in the order of their numbers.
    """

    def __init__(self) -> None:
        self._similar = SimilarPages()
        self._ranking = Ranking(np.zeros(0))
        self._scores = np.zeros(0)

    def begin(self, cycle: Cycle) -> None:
        """Group and rank."""
        self._similar.compare()
        self._scores = means_unseen_first(cycle.visits)
        by_mean = np.lexsort((-ages_in_hours(cycle), -self._scores))
        groups = self._groups(len(by_mean))
        turns = np.zeros(len(by_mean))
        taken: dict[int, int] = {}
        for page in by_mean.tolist():
            turns[page] = taken[groups[page]] = taken.get(groups[page], -1) + 1
        place = np.empty(len(by_mean))
        place[by_mean] = np.arange(len(by_mean))
        self._ranking = Ranking(-turns, ties=-place)

    def _groups(self, pages: int) -> list[int]:
        members: list[set[int]] = []
        group_of = [-1] * pages
        for page in range(pages):
            similar = set(self._similar.to(page))
            # Only groups of similar pages with lower numbers can take it in.
            candidates = sorted({group_of[other] for other in similar if group_of[other] >= 0})
            fitting = next((group for group in candidates if members[group] <= similar), None)
            if fitting is None:
                fitting = len(members)
                members.append(set())
            members[fitting].add(page)
            group_of[page] = fitting
        return group_of

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return the first page of the order."""
        page = self._ranking.first_open(cycle)
        return None if page is None else Pick(page, EXPECTED, float(self._scores[page]))

    def take(self, page: int) -> None:
        """Nothing to note: a page that was taken is closed."""

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Note what a page brought."""
        self._similar.learn(visit, int(visits.site[visit.page]))

    def save(self) -> State:
        return {**self._similar.save(), **self._ranking.save("ranking"), "scores": self._scores}

    def load(self, state: State) -> None:
        self._similar.load(state)
        self._ranking, self._scores = Ranking.load(state, "ranking"), state["scores"]
