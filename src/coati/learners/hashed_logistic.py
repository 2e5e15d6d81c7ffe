"""Two logistic models over the same rows of hashed keys, online, with AdaGrad's steps.

A row has a fixed number of 32-bit keys, 0 for none. Only their low bits choose the place in the table. When
the table fills up it is doubled by writing it twice in a row: every key finds what it had learnt, and keys
that had to share a place part from then on.
"""

from __future__ import annotations

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
        self._bias = np.array(bias, np.float64)
        self._bias_gradients = np.full(MODELS, _GRADIENTS_BEFORE)
        self._weights = np.zeros((MODELS, 1 << bits), np.float32)
        self._gradients = np.zeros((MODELS, 1 << bits), np.float32)
        self._mask = np.uint32((1 << bits) - 1)
        self._used = 0

    def set_prior(self, key: int, weights: tuple[float, float]) -> None:
        """Give a key weights before anything was learnt."""
        self._weights[:, key & self._mask] = weights

    def predict(self, row: Rows) -> tuple[float, float]:
        """Give both probabilities for one row."""
        # The empty key's place is never written, so that its weights are 0.
        first, second = (self._weights[:, row & self._mask].sum(1) + self._bias).tolist()
        return sigmoid(first), sigmoid(second)

    def predict_all(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Give both probabilities for each of many rows: an array of 2 x rows."""
        # Keys before rows: each addition then runs over neighbours in memory.
        places = (rows.T & self._mask).astype(np.intp, order="C")
        odds = np.stack([weights.take(places).sum(0) for weights in self._weights])
        odds += self._bias[:, None].astype(np.float32)
        np.clip(odds, -FAR, FAR, out=odds)
        return np.asarray(1 / (1 + np.exp(-odds)))

    def weights(self, row: Rows) -> npt.NDArray[np.float32]:
        """Give what each key of a row adds to the log-odds: an array of 2 x keys."""
        return np.asarray(self._weights[:, row & self._mask])

    @property
    def bias(self) -> tuple[float, float]:
        """The log-odds of a row of which nothing is known."""
        first, second = self._bias.tolist()
        return first, second

    def learn(self, row: Rows, answers: tuple[bool, bool]) -> None:
        """Take one step for one example."""
        places = row & self._mask
        places = places[places != 0]
        old = self._gradients[:, places]
        probabilities = self.predict(row)
        error = np.array([probabilities[0] - answers[0], probabilities[1] - answers[1]])
        squared = error * error
        self._used += int(np.count_nonzero(old[0] == 0))
        new = old + squared[:, None]
        self._gradients[:, places] = new
        self._weights[:, places] -= (self._rate * error)[:, None] / np.sqrt(new + _GRADIENTS_BEFORE)
        self._bias_gradients += squared
        self._bias -= self._rate * error / np.sqrt(self._bias_gradients)
        size = self._weights.shape[1]
        if self._used > _FULL * size and size < self._most:
            self._grow()

    def _grow(self) -> None:
        self._weights = np.concatenate([self._weights, self._weights], axis=1)
        self._gradients = np.concatenate([self._gradients, self._gradients], axis=1)
        self._mask = np.uint32(self._weights.shape[1] - 1)

    def save(self) -> dict[str, Any]:
        """Give the model's numbers."""
        return {
            "logistic_weights": self._weights,
            "logistic_gradients": self._gradients,
            "logistic_bias": np.stack([self._bias, self._bias_gradients]),
            "logistic_used": self._used,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved model."""
        self._weights = state["logistic_weights"].copy()
        self._gradients = state["logistic_gradients"].copy()
        self._bias, self._bias_gradients = state["logistic_bias"].copy()
        self._mask = np.uint32(self._weights.shape[1] - 1)
        self._used = state["logistic_used"]
