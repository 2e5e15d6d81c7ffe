"""Two logistic models over the same rows of hashed keys, online, with AdaGrad's steps.

A row has a fixed number of 32-bit keys, 0 for none. Only their low bits choose the place in the table. When
the table fills up it is doubled by writing it twice in a row: every key finds what it had learnt, and keys
that had to share a place part from then on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.sigmoid import FAR, sigmoid

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Rows = npt.NDArray[np.uint32]

MODELS = 2

# AdaGrad divides by the root of the squared gradients so far; this much of them is taken for granted, which
# keeps a key's first step small.
_GRADIENTS_BEFORE = 0.1
# A table that is fuller than this doubles.
_FULL = 0.25


class HashedLogistic:
    """The probability of two independent yes-or-no questions about a row.

    >>> model = HashedLogistic(bias=(-1.0, -3.0), rate=0.15)
    >>> row = np.array([7, 8], np.uint32)
    >>> before = model.predict(row)[0]
    >>> model.learn(row, (True, False))
    >>> model.predict(row)[0] > before
    True
    """

    def __init__(self, bias: tuple[float, float], rate: float, bits: int = 14, most_bits: int = 20) -> None:
        self._rate = rate
        self._most = 1 << most_bits
        self._bias = list(bias)
        self._bias_gradients = [_GRADIENTS_BEFORE] * MODELS
        # Of each key the weights in both models, then the squared gradients.
        self._table = np.zeros((2 * MODELS, 1 << bits), np.float32)
        self._table[MODELS:] = _GRADIENTS_BEFORE
        self._no_key = self._table[:, 0].copy()
        self._mask = np.uint32((1 << bits) - 1)
        self._used = 0

    def set_prior(self, key: int, weights: tuple[float, float]) -> None:
        """Return a key weights before anything was learnt."""
        self._table[:MODELS, key & self._mask] = weights

    def predict(self, row: Rows) -> tuple[float, float]:
        """Return both probabilities for one row."""
        return self._probabilities(self.weights(row))

    def _probabilities(self, weights: npt.NDArray[np.float32]) -> tuple[float, float]:
        # The empty key's place stays as it is, so that its weights are 0.
        first, second = weights.sum(1).tolist()
        return sigmoid(first + self._bias[0]), sigmoid(second + self._bias[1])

    def predict_all(self, columns: Rows) -> npt.NDArray[np.float32]:
        """Return both probabilities for many rows, one a column: an array of 2 x rows."""
        odds = self.weights(columns).sum(1)
        odds += np.array(self._bias, np.float32)[:, None]
        np.clip(odds, -FAR, FAR, out=odds)
        return np.asarray(1 / (1 + np.exp(-odds)))

    def weights(self, row: Rows) -> npt.NDArray[np.float32]:
        """Return what each key of a row adds to the log-odds: an array of 2 x keys."""
        return self._table[:MODELS].take(row & self._mask, axis=1)

    @property
    def bias(self) -> tuple[float, float]:
        """The log-odds of a row of which nothing is known."""
        return self._bias[0], self._bias[1]

    def learn(self, row: Rows, answers: tuple[bool, bool], *, bias: bool = True) -> None:
        """Take one step for one example; without ``bias``, only its own keys learn from it."""
        places = row & self._mask
        cells = self._table.take(places, axis=1)
        weights, gradients = cells[:MODELS], cells[MODELS:]
        new = gradients[0] == np.float32(_GRADIENTS_BEFORE)
        self._used += int(np.count_nonzero(new & (places != 0)))
        errors = [
            probability - answer
            for probability, answer in zip(self._probabilities(weights), answers, strict=True)
        ]
        gradients += np.array([[error * error] for error in errors], np.float32)
        weights -= np.array([[self._rate * error] for error in errors], np.float32) / np.sqrt(gradients)
        self._table[:, places] = cells
        self._table[:, 0] = self._no_key
        for model, error in enumerate(errors if bias else ()):
            self._bias_gradients[model] += error * error
            self._bias[model] -= self._rate * error / math.sqrt(self._bias_gradients[model])
        size = self._table.shape[1]
        if self._used > _FULL * size and size < self._most:
            self._table = np.concatenate([self._table, self._table], axis=1)
            self._mask = np.uint32(2 * size - 1)

    def save(self) -> dict[str, Any]:
        """Return the model's numbers."""
        return {
            "logistic_table": self._table,
            "logistic_bias": [*self._bias, *self._bias_gradients],
            "logistic_used": self._used,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved model."""
        self._table = state["logistic_table"].copy()
        self._bias = list(state["logistic_bias"][:MODELS])
        self._bias_gradients = list(state["logistic_bias"][MODELS:])
        self._mask = np.uint32(self._table.shape[1] - 1)
        self._used = state["logistic_used"]
