"""Two logistic models over the same rows of hashed keys, online, with AdaGrad's steps.

A row has a fixed number of 32-bit keys, 0 for none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.hashed_table import HashedTable
from coati.learners.sigmoid import FAR, sigmoid

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Rows = npt.NDArray[np.uint32]

MODELS = 2

# AdaGrad divides by the root of the squared gradients so far; this much of them is taken for granted, which
# keeps a key's first step small.
_GRADIENTS_BEFORE = 0.1

_GRADIENTS_32 = np.array(_GRADIENTS_BEFORE, np.float32)
_FAR_32 = np.array(-FAR, np.float32)

# This many predictions are kept while nothing is learnt.
_MOST_KEPT = 512


class HashedLogistic:
    """The probability of two independent yes-or-no questions about a row.

    >>> model = HashedLogistic(bias=(-1.0, -3.0), rate=0.15)
    >>> row = np.array([7, 8], np.uint32)
    >>> before = model.predict(row)[0]
    >>> model.learn(row, (True, False))
    True
    >>> model.predict(row)[0] > before
    True
    """

    def __init__(self, bias: tuple[float, float], rate: float, table: HashedTable | None = None) -> None:
        self._rate = rate
        self._rate_32 = np.array(rate, np.float32)
        self._bias = list(bias)
        self._bias_gradients = [_GRADIENTS_BEFORE] * MODELS
        # Of each key the squared gradients in both models, then the weights.
        self._table = table or HashedTable(2 * MODELS)
        # What was predicted since something was learnt last: a row that was scored is often learnt from next,
        # and finds that it teaches nothing.
        self._kept: dict[bytes, tuple[float, float]] = {}

    def set_prior(self, key: int, weights: tuple[float, float]) -> None:
        """Give a key weights before anything was learnt."""
        self._kept.clear()
        self._table.put(np.array([key], np.uint32), np.array([[0.0, 0.0, *weights]], np.float32))

    def predict(self, row: Rows) -> tuple[float, float]:
        """Return both probabilities for one row."""
        name = row.tobytes()
        found = self._kept.get(name)
        if found is None:
            _, _, first, second = np.add.reduce(self._table.take(row)).tolist()
            found = sigmoid(first + self._bias[0]), sigmoid(second + self._bias[1])
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[name] = found
        return found

    def predict_all(self, columns: Rows) -> npt.NDArray[np.float32]:
        """Return both probabilities for many rows, one per column: an array of 2 x rows."""
        # Copied, so that neighbours are of one model: numpy is slow where they are the two models of a row.
        odds = np.add.reduce(self._table.take(columns)).T[MODELS:].copy()
        odds += np.array(self._bias, np.float32)[:, None]
        np.maximum(odds, _FAR_32, out=odds)
        return np.asarray(1 / (1 + np.exp(-odds)))

    def weights(self, row: Rows) -> npt.NDArray[np.float32]:
        """Return what each key of a row adds to the log-odds: an array of 2 x keys."""
        return self._table.take(row)[:, MODELS:].T

    def learn(
        self, row: Rows, answers: tuple[bool, bool], *, bias: bool = True, tolerance: float = 0.0
    ) -> bool:
        """Take one step for one example, unless both errors are below the tolerance; return whether it did.

        Without ``bias``, only the row's own keys learn from it.
        """
        first, second = self.predict(row)
        errors = (first - answers[0], second - answers[1])
        if abs(errors[0]) < tolerance and abs(errors[1]) < tolerance:
            return False
        self._kept.clear()
        cells = self._table.take(row)
        gradients, weights = cells[:, :MODELS], cells[:, MODELS:]
        both = np.array(errors, np.float32)
        gradients += both * both
        weights -= self._rate_32 * both / np.sqrt(gradients + _GRADIENTS_32)
        self._table.put(row, cells)
        for model, error in enumerate(errors if bias else ()):
            self._bias_gradients[model] += error * error
            self._bias[model] -= self._rate * error / math.sqrt(self._bias_gradients[model])
        return True

    def save(self) -> dict[str, Any]:
        """Return the model's numbers."""
        return {**self._table.save("logistic"), "logistic_bias": [*self._bias, *self._bias_gradients]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved model."""
        self._kept.clear()
        self._table.load(state, "logistic")
        self._bias = list(state["logistic_bias"][:MODELS])
        self._bias_gradients = list(state["logistic_bias"][MODELS:])
