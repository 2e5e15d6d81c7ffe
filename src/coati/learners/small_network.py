"""A small network of dense layers with leaky ReLUs, trained by Adam on squared errors, in numpy.

With a few hundred weights and rows of a handful of numbers a training step costs a tenth of a millisecond,
and no deep-learning library is needed. All weights lie in one vector, of which the layers are views: Adam,
copying and saving are operations on that vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

_LEAK = 0.1
_RATE = 1e-3
_MEAN_DECAY, _SQUARE_DECAY, _TINY = 0.9, 0.999, 1e-8
# The longest gradient that is followed as it is; a longer one is cut to this length.
_LONGEST_GRADIENT = 1.0


class SmallNetwork:
    """Computes one number per row.

    >>> network = SmallNetwork([2, 8, 1], seed=1)
    >>> rows, wanted = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0])
    >>> for _ in range(500): network.learn(rows, wanted)
    >>> network.predict(rows).round(1).tolist()
    [1.0, -1.0]
    """

    def __init__(self, sizes: Sequence[int], seed: int = 0) -> None:
        self._sizes = list(sizes)
        rng = np.random.default_rng([seed])
        parts = []
        for inputs, outputs in zip(self._sizes, self._sizes[1:], strict=False):
            parts += [rng.normal(0, np.sqrt(2 / inputs), inputs * outputs), np.zeros(outputs)]
        self._weights: Numbers = np.concatenate(parts)
        self._means = np.zeros_like(self._weights)
        self._squares = np.zeros_like(self._weights)
        self._steps = 0

    def predict(self, rows: Numbers) -> Numbers:
        """Return the network's value of each row."""
        return self._forward(rows)[-1][:, 0]

    def learn(self, rows: Numbers, wanted: Numbers) -> None:
        """Take one step towards the wanted values of these rows."""
        gradient = self.gradient(rows, wanted)
        length = float(np.sqrt(gradient @ gradient))
        if length > _LONGEST_GRADIENT:
            gradient *= _LONGEST_GRADIENT / length
        self._steps += 1
        self._means += (1 - _MEAN_DECAY) * (gradient - self._means)
        self._squares += (1 - _SQUARE_DECAY) * (gradient * gradient - self._squares)
        mean = self._means / (1 - _MEAN_DECAY**self._steps)
        square = self._squares / (1 - _SQUARE_DECAY**self._steps)
        self._weights -= _RATE * mean / (np.sqrt(square) + _TINY)

    def gradient(self, rows: Numbers, wanted: Numbers) -> Numbers:
        """Return the derivative of the mean squared error by each weight."""
        values = self._forward(rows)
        error = (2 / len(rows)) * (values[-1] - wanted[:, None])
        parts: list[Numbers] = []
        layers = self._layers()
        for at in reversed(range(len(layers))):
            parts = [(values[at].T @ error).ravel(), error.sum(0), *parts]
            if at:
                error = (error @ layers[at][0].T) * np.where(values[at] > 0, 1.0, _LEAK)
        return np.concatenate(parts)

    def copy(self, other: SmallNetwork) -> None:
        """Take over the weights of a network of the same shape."""
        self._weights[:] = other._weights

    def _forward(self, rows: Numbers) -> list[Numbers]:
        """Return the values of every layer, the rows first."""
        values = [rows]
        layers = self._layers()
        for at, (weights, bias) in enumerate(layers):
            output = values[-1] @ weights + bias
            values.append(output if at == len(layers) - 1 else np.where(output > 0, output, _LEAK * output))
        return values

    def _layers(self) -> list[tuple[Numbers, Numbers]]:
        found, at = [], 0
        for inputs, outputs in zip(self._sizes, self._sizes[1:], strict=False):
            middle, end = at + inputs * outputs, at + (inputs + 1) * outputs
            found.append((self._weights[at:middle].reshape(inputs, outputs), self._weights[middle:end]))
            at = end
        return found

    def save(self) -> dict[str, Any]:
        """Return the weights and Adam's memory."""
        table = np.stack([self._weights, self._means, self._squares])
        return {"network": table, "network_steps": self._steps}

    def load(self, state: Mapping[str, Any]) -> None:
        self._weights, self._means, self._squares = np.array(state["network"])
        self._steps = state["network_steps"]
