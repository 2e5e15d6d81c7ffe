"""Pages of which nothing is expected: each is visited now and then, whatever the predictions say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.state import State

# A round is as many visits as there are pages. After this many rounds without a visit a page is overdue, so
# these visits are a twentieth of all at most. On the news months 20 cost nothing and 10 cost .004 of what is
# found: there, a page without news is visited about once in twenty rounds anyway.
MOST_ROUNDS = 20
_ROOM = 64


class LongestWaits:
    """Counts visits, and knows which pages are overdue.

    >>> from coati.strategies.revisits.scheduler import Cycle
    >>> from coati.strategies.revisits.visits import Visits
    >>> visits = Visits()
    >>> for _ in range(2): visits.add_page(site=0)
    >>> waits, cycle = LongestWaits(), Cycle(0, 0.0, 1, None, visits)
    >>> waits.begin(cycle)
    >>> for _ in range(2 * MOST_ROUNDS): waits.take(0)
    >>> waits.first(cycle)
    >>> waits.begin(cycle)
    >>> waits.first(cycle)
    1
    """

    def __init__(self) -> None:
        self._visits = 0
        # The number of the last visit to each page, or of the last one before the page joined.
        self._last = np.zeros(_ROOM, np.int64)
        self._pages = 0
        self._overdue: list[int] = []
        self._left = 0

    def begin(self, cycle: Cycle) -> None:
        """Work out which pages are overdue; a twentieth of the cycle may go to them, at least one visit."""
        pages = len(cycle.visits)
        while pages > len(self._last):
            self._last = np.concatenate([self._last, np.zeros_like(self._last)])
        self._last[self._pages : pages] = self._visits
        self._pages = pages
        last = self._last[:pages]
        overdue = np.flatnonzero(self._visits - last >= MOST_ROUNDS * pages)
        self._overdue = overdue[np.argsort(last[overdue], kind="stable")].tolist()
        self._left = max(1, cycle.per_cycle // MOST_ROUNDS)

    def first(self, cycle: Cycle) -> int | None:
        """Return the page that is overdue for longest; None if none is, or the cycle has had its share."""
        if self._left <= 0:
            return None
        return next((page for page in self._overdue if cycle.is_open(page)), None)

    def take(self, page: int) -> None:
        """Note a visit to any page."""
        self._visits += 1
        self._last[page] = self._visits
        if page in self._overdue:
            self._overdue.remove(page)
            self._left -= 1

    def save(self) -> dict[str, Any]:
        return {
            "waits_last": self._last[: self._pages].copy(),
            "waits": [self._visits, self._left],
            "waits_overdue": list(self._overdue),
        }

    def load(self, state: State) -> None:
        last = state["waits_last"]
        self._pages = len(last)
        self._last = np.concatenate([last, np.zeros(_ROOM, np.int64)])
        self._visits, self._left = state["waits"]
        self._overdue = list(state["waits_overdue"])
