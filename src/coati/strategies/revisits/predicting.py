"""Predict the new links of each page, and visit those that promise most: REG, and the rankers beside it.

For the first ten hours such a scheduler does what OD-WIN does, to have something to learn from. Then it is
trained every three hours on the visits of the window. Predictions only rank, so negative ones stay as they
are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from coati.strategies.revisits.by_age import ages_in_hours, means_unseen_first
from coati.strategies.revisits.features import own_features
from coati.strategies.revisits.scheduler import EXPECTED, Pick
from coati.strategies.revisits.selection import Selection
from coati.strategies.revisits.similar_pages import SimilarPages
from coati.strategies.state import nested, part_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

BOOTSTRAP_SECONDS = 10 * 3600.0
RETRAIN_SECONDS = 3 * 3600.0


class VisitExample(NamedTuple):
    """What was known of a page that a cycle visited, and how many new links it had."""

    moment: float
    own: Floats
    new: int


class Predictor(Protocol):
    """Learns from examples how many new links a page has."""

    def add(self, example: VisitExample) -> None:
        """Take one more example; they come in the order of their moments, except for a few late ones."""

    def train(self, since: float, now: float) -> None:
        """Learn from the examples whose moment is not before ``since``, and forget the others."""

    def predict(self, own: Floats, now: float) -> Floats:
        """Return a score for each page; the one with most new links should have the highest."""

    def save(self) -> State:
        """Return what `load` needs."""

    def load(self, state: State) -> None:
        """Take over a saved state."""


class Predicting:
    """The scheduler that visits what a predictor ranks first, leaving out those with the same links."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self._similar = SimilarPages()
        self._selection = Selection(np.zeros(0), self._similar)
        self._own = np.zeros((0, 0))
        self._now = 0.0
        # What was known of the pages in flight when they were taken.
        self._in_flight: dict[int, tuple[float, Floats]] = {}
        self._began: float | None = None
        self._trained: float | None = None

    @property
    def has_learnt(self) -> bool:
        """Whether the bootstrap is over."""
        return self._trained is not None

    def begin(self, cycle: Cycle) -> None:
        """Train if it is time, and rank."""
        self._similar.compare()
        self._began = cycle.now if self._began is None else self._began
        self._now, self._own = cycle.now, own_features(cycle)
        if cycle.now - self._began < BOOTSTRAP_SECONDS:
            means = means_unseen_first(cycle.visits)
            self._selection = Selection(means, SimilarPages(), ages_in_hours(cycle))
            return
        if self._trained is None or cycle.now - self._trained >= RETRAIN_SECONDS:
            self.predictor.train(cycle.now - cycle.visits.window_seconds, cycle.now)
            self._trained = cycle.now
        self._selection = Selection(self.predictor.predict(self._own, cycle.now), self._similar)

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return the best page."""
        page = self._selection.best(cycle)
        return None if page is None else Pick(page, EXPECTED, float(self._selection.scores[page]))

    def take(self, page: int) -> None:
        """Drop what is similar to a page, and keep what was known of it."""
        self._selection.take(page)
        self.explore(page)

    def explore(self, page: int) -> None:
        """Note that a page was taken that was not picked here; it is an example all the same."""
        self._in_flight[page] = self._now, self._own[page].copy()

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Keep a visit as an example."""
        self._similar.learn(visit, int(visits.site[visit.page]))
        if visit.page in self._in_flight:
            self.predictor.add(VisitExample(*self._in_flight.pop(visit.page), len(visit.new)))

    def save(self) -> State:
        asked = [[page, moment, own.tolist()] for page, (moment, own) in self._in_flight.items()]
        return {
            **self._similar.save(),
            **self._selection.save(),
            **nested("predictor", self.predictor.save()),
            "own": self._own,
            "now": self._now,
            "asked": asked,
            "began": self._began,
            "trained": self._trained,
        }

    def load(self, state: State) -> None:
        self._similar.load(state)
        similar = SimilarPages() if state["trained"] is None else self._similar
        self._selection = Selection.load(state, similar)
        self.predictor.load(part_of(state, "predictor"))
        self._own, self._now = np.array(state["own"]), state["now"]
        self._in_flight = {page: (moment, np.array(known)) for page, moment, known in state["asked"]}
        self._began, self._trained = state["began"], state["trained"]
