"""URLs as counts of pairs of the 95 printable ASCII characters, and a logistic regression on them.

The regression is scikit-learn's ``SGDClassifier(loss="log_loss")`` used through ``partial_fit`` on sparse
rows, written out for the few operations that it needs (a URL has some sixty pairs): the same step
``1 / (alpha * (t0 + t))`` with t0 = 1000, the same L2 penalty by scaling, its slower intercept for sparse
data, and the order in which ``random_state=42`` goes through a batch. With its first step of 10 it behaves
like a perceptron, so that the last examples of a batch weigh most; the results of the paper depend on that.
A test compares both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

_FIRST, _LETTERS = 32, 95
DIMENSIONS = _LETTERS * _LETTERS

_ALPHA = 1e-4
_T0 = 1000.0
_SPARSE_INTERCEPT_RATE = 0.01
# The second number that numpy's RandomState(42) draws, which is what scikit-learn shuffles each batch with.
_SHUFFLE_SEED = 1273642419
# Below this the scale is folded into the weights, before it loses precision.
_SMALLEST_SCALE = 1e-9


def bigrams(text: str) -> npt.NDArray[np.intp]:
    """Give the position of each pair of neighbours; a pair with a character outside printable ASCII has none.

    >>> bigrams("ab").tolist() == [(ord("a") - 32) * 95 + ord("b") - 32]
    True
    """
    if text.isascii() and text.isprintable():
        codes = np.frombuffer(text.encode(), np.uint8).astype(np.intp) - _FIRST
        return codes[:-1] * _LETTERS + codes[1:]
    codes = np.fromiter(map(ord, text), np.intp, len(text)) - _FIRST
    known = (codes >= 0) & (codes < _LETTERS)
    pairs = codes[:-1] * _LETTERS + codes[1:]
    return pairs[known[:-1] & known[1:]]


class BigramLogistic:
    """Tells two classes of strings apart, online.

    >>> model = BigramLogistic()
    >>> model.learn(["/a.html", "/b.csv"], [False, True])
    >>> model.predict("/c.csv"), model.predict("/d.html")
    (True, False)
    """

    def __init__(self) -> None:
        self._weights = np.zeros(DIMENSIONS)
        self._scale = 1.0
        self._intercept = 0.0
        self._step = 0

    def score(self, text: str) -> float:
        """Give the log-odds of the true class."""
        return float(self._weights[bigrams(text)].sum()) * self._scale + self._intercept

    def predict(self, text: str) -> bool:
        """Tell the class."""
        return self.score(text) > 0

    def learn(self, texts: Sequence[str], labels: Sequence[bool]) -> None:
        """Take one step for each example of a batch, in an order that depends on its size alone."""
        for place in _shuffled(len(texts)):
            self._learn_one(bigrams(texts[place]), label=labels[place])

    def _learn_one(self, pairs: npt.NDArray[np.intp], *, label: bool) -> None:
        score = float(self._weights[pairs].sum()) * self._scale + self._intercept
        rate = 1 / (_ALPHA * (_T0 + self._step))
        self._step += 1
        step = rate * (float(label) - _sigmoid(score))
        self._scale *= max(0.0, 1 - rate * _ALPHA)
        if self._scale < _SMALLEST_SCALE:
            self._weights *= self._scale
            self._scale = 1.0
        # A pair that occurs twice counts twice.
        np.add.at(self._weights, pairs, step / self._scale)
        self._intercept += step * _SPARSE_INTERCEPT_RATE

    def save(self) -> dict[str, Any]:
        """Give the model's numbers."""
        used = np.flatnonzero(self._weights)
        return {
            "model_at": used.astype(np.int32),
            "model_weights": self._weights[used],
            "model_rest": [self._scale, self._intercept, self._step],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved model."""
        self._weights = np.zeros(DIMENSIONS)
        self._weights[state["model_at"]] = state["model_weights"]
        self._scale, self._intercept, self._step = state["model_rest"]


def _shuffled(count: int) -> list[int]:
    """Give scikit-learn's order for a batch: Fisher and Yates with a 32-bit xorshift from a fixed seed."""
    order = list(range(count))
    state = _SHUFFLE_SEED
    for i in range(count - 1):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        j = i + (state & 0x7FFFFFFF) % (count - i)
        order[i], order[j] = order[j], order[i]
    return order


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-min(x, 700.0)))
    e = math.exp(max(x, -700.0))
    return e / (1 + e)
