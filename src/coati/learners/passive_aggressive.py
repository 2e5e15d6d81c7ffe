"""A passive-aggressive classifier (PA-I of Crammer et al., JMLR 2006), on bags.

An example that is right by a margin changes nothing. Any other moves the weights just far enough, though
never further than `AGGRESSIVENESS` times the example. The numbers are scikit-learn's, which are those of the
paper but for a slow intercept; a test compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.batch_order import batch_order
from coati.learners.linear_sgd import SPARSE_INTERCEPT_RATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.learners.bags import Bag

# "C" in the paper: the longest step, in lengths of the example. scikit-learn's default.
AGGRESSIVENESS = 1.0


class PassiveAggressive:
    """A linear model of bags with this many positions.

    >>> from coati.learners.bags import bag_of
    >>> model = PassiveAggressive(9025)
    >>> model.learn([bag_of(["/a.html"]), bag_of(["/b.csv"])], [False, True])
    >>> model.score(bag_of(["/c.csv"])) > 0 > model.score(bag_of(["/d.html"]))
    True
    """

    def __init__(self, dimensions: int) -> None:
        self._weights = np.zeros(dimensions)
        self._intercept = 0.0

    def score(self, bag: Bag) -> float:
        """Return the signed distance to the margin."""
        return float(self._weights[bag].sum()) + self._intercept

    def learn(self, bags: Sequence[Bag], labels: Sequence[bool]) -> None:
        """Take at most one step for each example of a batch, in an order that depends on its size alone."""
        for place in batch_order(len(bags)):
            self._learn_one(bags[place], side=1.0 if labels[place] else -1.0)

    def _learn_one(self, bag: Bag, side: float) -> None:
        loss = 1 - side * self.score(bag)
        if loss <= 0 or not len(bag):
            return
        positions, counts = np.unique(bag, return_counts=True)
        step = side * min(AGGRESSIVENESS, loss / float(counts @ counts))
        self._weights[positions] += step * counts
        self._intercept += step * SPARSE_INTERCEPT_RATE

    def save(self) -> dict[str, Any]:
        used = np.flatnonzero(self._weights)
        return {
            "model_at": used.astype(np.int32),
            "model_weights": self._weights[used],
            "model_rest": [self._intercept],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._weights = np.zeros(len(self._weights))
        self._weights[state["model_at"]] = state["model_weights"]
        (self._intercept,) = state["model_rest"]
