"""RR and OD-WIN: the schedulers that learn nothing, or next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.scheduler import EXPECTED, EXPLORED, Pick, Ranking

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State


def ages_in_hours(cycle: Cycle) -> npt.NDArray[np.float64]:
    """Return how many hours ago each page was requested."""
    ages: npt.NDArray[np.float64] = (cycle.now - cycle.visits.requested_at) / 3600
    return ages


def means_unseen_first(visits: Visits) -> npt.NDArray[np.float64]:
    """Return the means over the window; infinity without a visit in it, or the page would never get one."""
    return np.where(visits.counts > 0, visits.means(), np.inf)


class RoundRobin:
    """RR: the page that was requested longest ago."""

    _why = EXPLORED

    def __init__(self) -> None:
        self._ranking = Ranking(np.zeros(0))

    def begin(self, cycle: Cycle) -> None:
        """Rank the pages."""
        self._ranking = Ranking(ages_in_hours(cycle))

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return the first page of the order."""
        page = self._ranking.first_open(cycle)
        return None if page is None else Pick(page, self._why, float(self._ranking.scores[page]))

    def take(self, page: int) -> None:
        """Nothing to note: a page that was taken is closed."""

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Nothing to learn: the visits are counted elsewhere."""

    def save(self) -> State:
        """Return the order of the cycle."""
        return self._ranking.save("ranking")

    def load(self, state: State) -> None:
        self._ranking = Ranking.load(state, "ranking")


class WindowMean(RoundRobin):
    """OD-WIN: the page with the highest mean of new links in the window.

    Pages without a visit in it go first, and of equals the one with the older visit.
    """

    _why = EXPECTED

    def begin(self, cycle: Cycle) -> None:
        """Rank the pages."""
        self._ranking = Ranking(means_unseen_first(cycle.visits), ties=ages_in_hours(cycle))
