"""Multinomial naive Bayes on bags: scikit-learn's ``MultinomialNB`` with its default smoothing.

It keeps counts alone, so that nothing is worked out for positions that no bag of a query holds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.learners.bags import Bag

# How often each position is taken to have been seen in each class beforehand (Laplace).
_SMOOTHING = 1.0
# A class without examples is impossible to scikit-learn; this far is impossible enough, and a number.
_IMPOSSIBLE = 1e6


class MultinomialBayes:
    """Counts of bags with this many positions, for two classes.

    >>> from coati.learners.bags import bag_of
    >>> model = MultinomialBayes(9025)
    >>> model.learn([bag_of(["/a.html"]), bag_of(["/b.csv"])], [False, True])
    >>> model.score(bag_of(["/c.csv"])) > 0 > model.score(bag_of(["/d.html"]))
    True
    """

    def __init__(self, dimensions: int) -> None:
        self._counts = np.zeros((2, dimensions))
        self._totals = [0.0, 0.0]
        self._examples = [0, 0]

    def score(self, bag: Bag) -> float:
        """Return the log-odds of the true class."""
        if not all(self._examples):
            return _IMPOSSIBLE * ((self._examples[1] > 0) - (self._examples[0] > 0))
        likely = np.log(self._counts[:, bag] + _SMOOTHING).sum(1).tolist()
        room = _SMOOTHING * self._counts.shape[1]
        no, yes = (
            likely[side] - len(bag) * math.log(self._totals[side] + room) + math.log(self._examples[side])
            for side in (0, 1)
        )
        return float(yes - no)

    def learn(self, bags: Sequence[Bag], labels: Sequence[bool]) -> None:
        """Count a batch of examples."""
        for bag, label in zip(bags, labels, strict=True):
            np.add.at(self._counts[int(label)], bag, 1.0)
            self._totals[label] += len(bag)
            self._examples[label] += 1

    def save(self) -> dict[str, Any]:
        """Return the counts."""
        used = np.flatnonzero(self._counts.any(0))
        return {
            "model_at": used.astype(np.int32),
            "model_weights": self._counts[:, used],
            "model_rest": [self._totals, self._examples],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._counts = np.zeros_like(self._counts)
        self._counts[:, state["model_at"]] = state["model_weights"]
        totals, examples = state["model_rest"]
        self._totals, self._examples = list(totals), list(examples)
