"""Rows of numbers of different lengths, kept as two arrays: the words or the links of many sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Row ``n`` has the values from ``ends[n]`` to ``ends[n + 1]``, each once, and how often it was drawn."""

    ends: Numbers
    values: Numbers
    counts: Numbers

    @classmethod
    def of_draws(cls, rows: Numbers, values: Numbers, count: int) -> Rows:
        """Put draws, each a row and a value, into ``count`` rows; the values of a row are ascending.

        >>> made = Rows.of_draws(np.array([1, 0, 1, 1]), np.array([7, 5, 9, 7]), 2)
        >>> made.row(1), made.counts_of(1)
        (array([7, 9]), array([2, 1]))
        """
        width = int(values.max(initial=0)) + 1
        keys, counts = np.unique(rows * width + values, return_counts=True)
        ends = np.searchsorted(keys, np.arange(count + 1) * width)
        return cls(ends, keys % width, counts)

    def row(self, number: int) -> Numbers:
        """Return the values of a row."""
        return self.values[self.ends[number] : self.ends[number + 1]]

    def counts_of(self, number: int) -> Numbers:
        """Return how often each value of a row was drawn."""
        return self.counts[self.ends[number] : self.ends[number + 1]]

    def turned(self, count: int) -> Rows:
        """Return for each of ``count`` values the rows that have it."""
        rows = np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))
        order = np.argsort(self.values, kind="stable")
        ends = np.searchsorted(self.values[order], np.arange(count + 1))
        return Rows(ends, rows[order], self.counts[order])
