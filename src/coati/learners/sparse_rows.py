"""Rows of few non-zero numbers, one after the other: what text models multiply with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]


class SparseRow(NamedTuple):
    """The places of a row that are not zero, and the values there."""

    places: Places
    values: Floats


class SparseRows:
    """Rows below each other; they can be multiplied from both sides.

    >>> rows = SparseRows([SparseRow(np.array([0, 2]), np.array([1.0, 3.0]))], columns=4)
    >>> rows.times(np.array([1.0, 1.0, 2.0, 5.0])).tolist()
    [7.0]
    >>> rows.transposed_times(np.array([2.0])).tolist()
    [2.0, 0.0, 6.0, 0.0]
    """

    def __init__(self, rows: Sequence[SparseRow], columns: int) -> None:
        self._columns = columns
        self._count = len(rows)
        sizes = np.array([len(row.places) for row in rows], np.intp)
        self._row_of = np.repeat(np.arange(self._count), sizes)
        none: tuple[Places, Floats] = (np.zeros(0, np.intp), np.zeros(0))
        self._places = np.concatenate([none[0], *(row.places for row in rows)])
        self._values = np.concatenate([none[1], *(row.values for row in rows)])

    def __len__(self) -> int:
        """Count the rows."""
        return self._count

    def times(self, vector: Floats) -> Floats:
        """Multiply each row with a vector."""
        products = self._values * vector[self._places]
        return np.bincount(self._row_of, products, minlength=self._count).astype(float)

    def transposed_times(self, vector: Floats) -> Floats:
        """Add up the rows, each as often as the vector says."""
        products = self._values * vector[self._row_of]
        return np.bincount(self._places, products, minlength=self._columns).astype(float)
