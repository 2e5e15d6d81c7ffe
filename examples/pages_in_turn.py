"""A watch of one's own: visit the pages in the order of their list, again and again.

    coati replay HISTORY --strategy pages_in_turn:ROW,rr --per-cycle 5

docs/how-to/write-a-strategy.md says what each part is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.assembly import Need, StrategyInputs, StrategyRow
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.scheduler import EXPECTED, Pick
from coati.strategies.revisits.watch import Watch

if TYPE_CHECKING:
    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State


class InTurn:
    """A scheduler: it chooses the pages of a cycle, and `Watch` does all else."""

    def __init__(self) -> None:
        self._next = 0

    def begin(self, cycle: Cycle) -> None:
        """Prepare for a cycle; the order never changes."""

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return the next page that may be visited in this cycle."""
        count = len(cycle.visits)
        for page in ((self._next + step) % count for step in range(count)):
            if cycle.is_open(page):
                return Pick(page, EXPECTED, score=0.0)
        return None

    def take(self, page: int) -> None:
        """Note which page is visited."""
        self._next = page + 1

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Learn from a visit; this order learns nothing."""

    def save(self) -> State:
        """Return everything that `load` needs."""
        return {"next": self._next}

    def load(self, state: State) -> None:
        """Take over a saved state."""
        self._next = state["next"]


def build(given: StrategyInputs) -> Watch:
    """Build the watch of some pages, with the settings that the row names."""
    settings = given.settings
    relevant = parse_relevance(settings.relevant, settings.likely_extensions, settings.start_model)
    return Watch(given.start_urls, InTurn(), settings.watch, relevant)


ROW = StrategyRow(
    "watches: each page in turn",
    build,
    modules=(),
    settings=("watch", "relevant", "likely_extensions", "start_model"),
    needs=frozenset({Need.HISTORY, Need.OUT_LINKS}),
    seeded=False,
)
