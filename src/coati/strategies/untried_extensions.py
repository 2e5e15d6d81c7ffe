"""The chance that an extension gets which was never asked for.

What was learnt of other links says little about a file type that nobody has tried: after a hundred useless
``.py`` and ``.zip`` every file looks useless, and the one ``.csv`` would wait for ever. One request tells, so
that an untried extension keeps a fair probability of being a target, which falls each time that it is tried.
What pages end with is left out: it is tried soon enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.strategies.data_words import PAGE_EXTENSIONS
from coati.strategies.link_keys import Column, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from coati.strategies.link_keys import Row

    Columns = npt.NDArray[np.uint32]

_MASK = np.uint32((1 << 12) - 1)
# A try lowers the chance as this many misses would: from 1/4 to 1/16 to 1/28.
_WEIGHT = 12.0


class UntriedExtensions:
    """The least probability of a target, by extension; ``chance`` is that of one that was never tried."""

    def __init__(self, chance: float) -> None:
        self._chances = np.full(int(_MASK) + 1, chance, np.float32)
        for extension in PAGE_EXTENSIONS:
            self._chances[key_of(Column.EXTENSION, extension) & _MASK] = 0

    def least(self, row: Row) -> float:
        """Give the least probability of a target for one row."""
        return float(self._chances[row[Column.EXTENSION] & _MASK])

    def least_all(self, columns: Columns) -> npt.NDArray[np.float32]:
        """Give it for many rows, one a column."""
        return np.asarray(self._chances.take(columns[Column.EXTENSION] & _MASK))

    def tried(self, row: Row) -> None:
        """Take note that a link was followed."""
        place = row[Column.EXTENSION] & _MASK
        chance = self._chances[place]
        if chance:
            self._chances[place] = 1 / (1 / chance + _WEIGHT)

    def save(self) -> dict[str, Any]:
        """Give the chances."""
        return {"untried_chances": self._chances}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved chances."""
        self._chances = state["untried_chances"].copy()
