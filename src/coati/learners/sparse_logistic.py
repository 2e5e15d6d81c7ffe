"""Logistic regression on sets of features, online, with AdaGrad's steps: quick for a dozen of them."""

from __future__ import annotations

from array import array
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.sigmoid import sigmoid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# As much of the squared gradients is taken for granted, which keeps first steps small.
_GRADIENTS_BEFORE = 0.1


class SparseLogistic:
    """The probability that something holds, from the numbers of its features.

    >>> model = SparseLogistic(dimensions=8, rate=0.3)
    >>> for _ in range(50):
    ...     model.learn({1, 2}, label=True)
    ...     model.learn({2, 3}, label=False)
    >>> model.predict({1, 2}) > 0.9, model.predict({3}) < 0.2
    (True, True)
    """

    def __init__(self, dimensions: int, rate: float) -> None:
        self._rate = rate
        # The last feature is everybody's.
        self._weights = array("d", bytes(8 * (dimensions + 1)))
        self._gradients = array("d", [_GRADIENTS_BEFORE]) * (dimensions + 1)

    def predict(self, features: Iterable[int]) -> float:
        """Return the probability."""
        weights = self._weights
        return sigmoid(weights[-1] + sum([weights[feature] for feature in features]))

    def learn(self, features: Iterable[int], *, label: bool) -> None:
        """Take one step for one example."""
        error = self.predict(features) - label
        weights, gradients, square = self._weights, self._gradients, error * error
        for feature in (*features, -1):
            gradients[feature] += square
            weights[feature] -= self._rate * error / sqrt(gradients[feature])

    def save(self) -> dict[str, Any]:
        """Return the weights and the squared gradients of features that were seen."""
        gradients = np.array(self._gradients)
        used = np.flatnonzero(gradients != _GRADIENTS_BEFORE)
        return {
            "logistic_features": used.astype(np.int32),
            "logistic_weights": np.array(self._weights)[used],
            "logistic_gradients": gradients[used],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        weights = np.zeros(len(self._weights))
        gradients = np.full(len(self._weights), _GRADIENTS_BEFORE)
        weights[state["logistic_features"]] = state["logistic_weights"]
        gradients[state["logistic_features"]] = state["logistic_gradients"]
        self._weights = array("d", weights.tobytes())
        self._gradients = array("d", gradients.tobytes())
