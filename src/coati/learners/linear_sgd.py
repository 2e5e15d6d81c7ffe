"""Logistic regression and the linear SVM by stochastic gradient descent, on bags.

Both are scikit-learn's ``SGDClassifier`` used through ``partial_fit`` on sparse rows, written out for the few
operations that they need (a URL has some sixty pairs): the same step ``1 / (alpha * (t0 + t))`` with t0 =
1000, the same L2 penalty by scaling, its slower intercept for sparse data, and its order within a batch.
With its first step of 10 the regression behaves like a perceptron, so that the last examples of a batch
weigh most; the results of the paper depend on that. Tests compare with the original.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.batch_order import batch_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.learners.bags import Bag

_ALPHA = 1e-4
_T0 = 1000.0
SPARSE_INTERCEPT_RATE = 0.01
# Below this the scale is folded into the weights, before it loses precision.
_SMALLEST_SCALE = 1e-9
# Beyond this the logistic function is 0 or 1 in double precision, and the exponential overflows soon.
_FAR = 700.0


class Loss(StrEnum):
    """What is made small: the logistic loss gives a regression, the hinge loss a linear SVM."""

    LOG = "log"
    HINGE = "hinge"


class LinearSgd:
    """A linear model of bags with this many positions.

    >>> from coati.learners.bags import bag_of
    >>> model = LinearSgd(9025, Loss.HINGE)
    >>> model.learn([bag_of(["/a.html"]), bag_of(["/b.csv"])], [False, True])
    >>> model.score(bag_of(["/c.csv"])) > 0 > model.score(bag_of(["/d.html"]))
    True
    """

    def __init__(self, dimensions: int, loss: Loss = Loss.LOG) -> None:
        self._loss = loss
        self._weights = np.zeros(dimensions)
        self._scale = 1.0
        self._intercept = 0.0
        self._step = 0

    def score(self, bag: Bag) -> float:
        """Return the log-odds of the true class, or the signed distance to the SVM's margin."""
        return float(self._weights[bag].sum()) * self._scale + self._intercept

    def learn(self, bags: Sequence[Bag], labels: Sequence[bool]) -> None:
        """Take one step for each example of a batch, in an order that depends on its size alone."""
        for place in batch_order(len(bags)):
            self._learn_one(bags[place], label=labels[place])

    def _learn_one(self, bag: Bag, *, label: bool) -> None:
        score = self.score(bag)
        rate = 1 / (_ALPHA * (_T0 + self._step))
        self._step += 1
        step = rate * self._pull(score, label=label)
        self._scale *= max(0.0, 1 - rate * _ALPHA)
        if self._scale < _SMALLEST_SCALE:
            self._weights *= self._scale
            self._scale = 1.0
        # A pair that occurs twice counts twice.
        np.add.at(self._weights, bag, step / self._scale)
        self._intercept += step * SPARSE_INTERCEPT_RATE

    def _pull(self, score: float, *, label: bool) -> float:
        """Return the negative derivative of the loss."""
        if self._loss is Loss.LOG:
            return float(label) - _sigmoid(score)
        side = 1.0 if label else -1.0
        return side if side * score <= 1 else 0.0

    def save(self) -> dict[str, Any]:
        used = np.flatnonzero(self._weights)
        return {
            "model_at": used.astype(np.int32),
            "model_weights": self._weights[used],
            "model_rest": [self._scale, self._intercept, self._step],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._weights = np.zeros(len(self._weights))
        self._weights[state["model_at"]] = state["model_weights"]
        self._scale, self._intercept, self._step = state["model_rest"]


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-min(x, _FAR)))
    e = math.exp(max(x, -_FAR))
    return e / (1 + e)
