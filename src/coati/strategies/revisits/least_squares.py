"""Linear regression over a window of time, in memory that does not grow with the rows.

The rows of one moment are kept as their normal equations. Forgetting them is dropping these, so nothing
drifts as it would where rows are subtracted.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

# Added to the variance of each standardised feature. It changes no fit that the rows decide, and where they
# do not (features that go together) it decides in the same way on every machine.
_RIDGE = 1e-5
# A feature whose deviation is this small part of its mean varies by rounding only.
_FLAT = 1e-6


class LinearModel:
    """Weights and a constant."""

    def __init__(self, weights: Floats, constant: float) -> None:
        self.weights = weights
        self.constant = constant


class WindowedLeastSquares:
    """Collects rows and their values, forgets the old ones, and fits.

    >>> squares = WindowedLeastSquares(1)
    >>> squares.add(0.0, np.array([1.0]), 5.0)
    >>> squares.add(1.0, np.array([2.0]), 7.0)
    >>> model = squares.fit()
    >>> round(float(model.weights[0]), 3), round(model.constant, 3)
    (2.0, 3.0)
    """

    def __init__(self, features: int) -> None:
        self._size = features + 2
        # Of each moment the products of all columns: the constant 1, the features, the value.
        self._moments: deque[tuple[float, Floats]] = deque()

    def __len__(self) -> int:
        """Count the moments that have rows."""
        return len(self._moments)

    def add(self, at: float, features: Floats, value: float) -> None:
        """Add one row; those of one moment follow each other."""
        if not self._moments or self._moments[-1][0] != at:
            self._moments.append((at, np.zeros((self._size, self._size))))
        row = np.concatenate(([1.0], features, [value]))
        products = self._moments[-1][1]
        products += np.outer(row, row)

    def forget(self, before: float) -> None:
        """Forget the rows of moments before a time."""
        while self._moments and self._moments[0][0] < before:
            self._moments.popleft()

    def fit(self) -> LinearModel:
        """Fit by least squares; of weights that are as good, the smallest of standardised features."""
        total = np.sum([products for _, products in self._moments], axis=0)
        means = total[0, 1:] / total[0, 0]
        spread = total[1:, 1:] / total[0, 0] - np.outer(means, means)
        scales = np.sqrt(np.maximum(np.diag(spread)[:-1], 0))
        scales[scales <= _FLAT * np.abs(means[:-1])] = np.inf
        correlations = spread[:-1, :-1] / np.outer(scales, scales)
        np.fill_diagonal(correlations, 1 + _RIDGE)
        weights = np.linalg.solve(correlations, spread[:-1, -1] / scales) / scales
        return LinearModel(weights, float(means[-1] - means[:-1] @ weights))

    def save(self) -> dict[str, Any]:
        products = [products for _, products in self._moments]
        return {
            "square_moments": np.array([at for at, _ in self._moments], np.float64),
            "square_products": np.array(products).reshape(-1, self._size, self._size),
        }

    def load(self, state: State) -> None:
        products = (np.array(products) for products in state["square_products"])
        self._moments = deque(zip(state["square_moments"].tolist(), products, strict=True))
