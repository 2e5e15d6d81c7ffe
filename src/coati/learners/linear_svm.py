"""A linear support vector machine, trained to its optimum by Newton steps: nothing random, no rate to tune.

It minimises ``1/2 |w - prior|² + C Σ max(0, 1 - y (w·x + b))²``, with the bias as one more weight of a
feature that is always 1, as LIBLINEAR does. The prior is what was known before there were examples: zero for
a usual machine, the weights of an earlier one where its examples are not at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from coati.learners.sparse_rows import Floats, SparseRows

_MOST_STEPS = 100
_MOST_INNER_STEPS = 60
_ENOUGH = 1e-6
_HALVINGS = 30


def fit_linear_svm(
    rows: SparseRows, labels: Floats, prior: Floats, cost: float = 1.0, begin: Floats | None = None
) -> Floats:
    """Return the weights, the bias last; labels are 1 and -1, and ``begin`` is where the search begins.

    The rows have no column for the bias: ``prior`` has one place more than they have.
    """
    problem = _Problem(rows, labels, prior, cost)
    weights = np.array(prior if begin is None else begin, float)
    value, slack = problem.value(weights)
    enough = _ENOUGH * max(1.0, len(rows))
    for _ in range(_MOST_STEPS):
        gradient = problem.gradient(weights, slack)
        if np.linalg.norm(gradient) <= enough:
            break
        step = problem.newton_step(gradient, slack)
        weights, value, slack, moved = problem.search(weights, step, value, float(gradient @ step))
        if not moved:
            break
    return weights


class _Problem:
    def __init__(self, rows: SparseRows, labels: Floats, prior: Floats, cost: float) -> None:
        self._rows = rows
        self._labels = labels
        self._prior = prior
        self._cost = cost

    def value(self, weights: Floats) -> tuple[float, Floats]:
        margins = self._labels * (self._rows.times(weights[:-1]) + weights[-1])
        slack = np.maximum(0.0, 1.0 - margins)
        away = weights - self._prior
        return 0.5 * float(away @ away) + self._cost * float(slack @ slack), slack

    def gradient(self, weights: Floats, slack: Floats) -> Floats:
        return weights - self._prior - 2 * self._cost * self._back(self._labels * slack)

    def newton_step(self, gradient: Floats, slack: Floats) -> Floats:
        """Solve for the step by conjugate gradients; only rows within the margin bend the surface."""
        active = (slack > 0).astype(float)
        step = np.zeros_like(gradient)
        rest = -gradient
        direction = rest.copy()
        square = float(rest @ rest)
        wanted = 0.01 * square
        for _ in range(_MOST_INNER_STEPS):
            bent = direction + 2 * self._cost * self._back(active * self._ahead(direction))
            length = square / float(direction @ bent)
            step += length * direction
            rest -= length * bent
            next_square = float(rest @ rest)
            if next_square <= wanted:
                break
            direction = rest + next_square / square * direction
            square = next_square
        return step

    def search(
        self, weights: Floats, step: Floats, value: float, slope: float
    ) -> tuple[Floats, float, Floats, bool]:
        """Take the step, half as far each time that it does not help; return whether it moved at all."""
        size = 1.0
        for _ in range(_HALVINGS):
            there = weights + size * step
            value_there, slack = self.value(there)
            if value_there <= value + 1e-4 * size * slope:
                return there, value_there, slack, True
            size /= 2
        return weights, value, self.value(weights)[1], False

    def _ahead(self, weights: Floats) -> Floats:
        ahead: Floats = self._rows.times(weights[:-1]) + weights[-1]
        return ahead

    def _back(self, vector: Floats) -> Floats:
        whole: Floats = np.concatenate([self._rows.transposed_times(vector), [vector.sum()]])
        return whole
