"""How large an answer will be, from the sizes of answers whose keys are alike.

Sizes range over six powers of ten, so that their logarithms are averaged. There are a few classes of answers
(pages, targets), each with its own means, and a chain of two keys, general and specific: a key's mean is
shrunk to that of the key before it, and the general key's to that of all answers of the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Keys = npt.NDArray[np.uint32]
    Sizes = npt.NDArray[np.float32]

# How many answers the mean above counts for.
_STRENGTH = 2.0
# A key remembers this many answers.
_MEMORY = 60.0
_BITS = 14
# What is expected before anything was seen, in bytes.
_TYPICAL = 30_000.0


class SizeMeans:
    """Expected sizes in bytes, by class.

    >>> sizes = SizeMeans(classes=2)
    >>> keys = np.array([5, 6], np.uint32)
    >>> for _ in range(20):
    ...     sizes.learn(0, keys, 1_000_000)
    >>> small, large = sizes.expected(1, keys[:, None])[0], sizes.expected(0, keys[:, None])[0]
    >>> bool(small < 50_000 < 500_000 < large)
    True
    """

    def __init__(self, classes: int) -> None:
        # By class: number and sum of logarithms, of all answers and of each place of the table.
        self._all = np.zeros((classes, 2))
        self._table = np.zeros((classes, 2, 1 << _BITS), np.float32)
        self._mask = np.uint32((1 << _BITS) - 1)

    def learn(self, size_class: int, keys: Keys, size_bytes: int) -> None:
        """Take one answer's size into account; ``keys`` are a general and a specific one."""
        value = float(np.log1p(size_bytes))
        places = keys & self._mask
        table = self._table[size_class]
        kept = np.where(table[0, places] >= _MEMORY, _MEMORY / (_MEMORY + 1), 1)
        table[:, places] = table[:, places] * kept + np.array([[1], [value]], np.float32)
        self._all[size_class] += (1.0, value)

    def expected(self, size_class: int, keys: npt.NDArray[np.uint32]) -> Sizes:
        """Return the expected sizes for many pairs of keys, one per column."""
        count, total = self._all[size_class]
        mean = (total + _STRENGTH * np.log(_TYPICAL)) / (count + _STRENGTH)
        for column in keys & self._mask:
            counts, totals = self._table[size_class][:, column]
            mean = (totals + _STRENGTH * mean) / (counts + _STRENGTH)
        return np.asarray(np.expm1(mean), np.float32)

    def overall(self, size_class: int) -> float:
        """Return the expected size of an answer of which nothing is known but its class."""
        count, total = self._all[size_class]
        return float(np.expm1((total + _STRENGTH * np.log(_TYPICAL)) / (count + _STRENGTH)))

    def save(self) -> dict[str, Any]:
        """Return the means."""
        return {"sizes_all": self._all, "sizes_table": self._table}

    def load(self, state: Mapping[str, Any]) -> None:
        self._all = state["sizes_all"].copy()
        self._table = state["sizes_table"].copy()
