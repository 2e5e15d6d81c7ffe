"""Select: the best pages, leaving out those that bring what a chosen one brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.strategies.revisits.scheduler import Ranking

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.similar_pages import SimilarPages
    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]


class Selection:
    """Walks down a ranking; each page that is taken drops the pages similar to it.

    When no others are left, the best of the dropped ones are taken after all.
    """

    def __init__(self, scores: Floats, similar: SimilarPages, ties: Floats | None = None) -> None:
        self.scores = scores
        self._similar = similar
        self._undropped = Ranking(scores, ties)
        self._dropped_too = Ranking(scores, ties)
        self._dropped: set[int] = set()

    def best(self, cycle: Cycle) -> int | None:
        """Return the best page that may be taken."""
        page = self._undropped.first_open(cycle, self._dropped)
        return self._dropped_too.first_open(cycle) if page is None else page

    def take(self, page: int) -> None:
        """Drop what is similar to a page that was taken."""
        self._dropped.update(self._similar.to(page))

    def save(self) -> dict[str, Any]:
        return {
            **self._undropped.save("undropped"),
            **self._dropped_too.save("dropped_too"),
            "dropped": sorted(self._dropped),
        }

    @classmethod
    def load(cls, state: State, similar: SimilarPages) -> Selection:
        """Return a saved selection."""
        selection = cls(np.zeros(0), similar)
        selection._undropped = Ranking.load(state, "undropped")
        selection._dropped_too = Ranking.load(state, "dropped_too")
        selection.scores = selection._undropped.scores
        selection._dropped = set(state["dropped"])
        return selection
