"""Linear regression on the six temporal features: what REG predicts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.features import COUNT, HOURS, OWN, all_features, hour_and_day
from coati.strategies.revisits.least_squares import LinearModel, WindowedLeastSquares

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.predicting import VisitExample
    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]


class Regression:
    """Least squares over the window (`coati.strategies.revisits.predicting.Predictor`)."""

    def __init__(self) -> None:
        self._squares = WindowedLeastSquares(COUNT)
        self._model = LinearModel(np.zeros(COUNT), 0.0)

    def add(self, example: VisitExample) -> None:
        """Take one more example."""
        row = all_features(example.own[None, :], *hour_and_day(example.moment))[0]
        self._squares.add(example.moment, row, float(example.new))

    def train(self, since: float, now: float) -> None:
        """Fit to the examples since a time."""
        self._squares.forget(since)
        if self._squares:
            self._model = self._squares.fit()

    def predict(self, own: Floats, now: float) -> Floats:
        """Return the number of new links that is expected of each page."""
        return predict_linear(self._model, own, now)

    def save(self) -> State:
        return {
            **self._squares.save(),
            "weights": self._model.weights,
            "constant": self._model.constant,
        }

    def load(self, state: State) -> None:
        self._squares.load(state)
        self._model = LinearModel(state["weights"], state["constant"])


def predict_linear(model: LinearModel, own: Floats, now: float) -> Floats:
    """Return what a linear model says of pages at one time."""
    hour, day = hour_and_day(now)
    of_time = model.weights[OWN + hour] + model.weights[OWN + HOURS + day] + model.constant
    scores: Floats = own @ model.weights[:OWN] + of_time
    return scores
