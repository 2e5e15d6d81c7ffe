"""The chance that an extension gets which was never asked for.

What was learnt of other links says little about a file type that nobody has tried: after a hundred useless
``.py`` and ``.zip`` every file looks useless, and the one ``.csv`` would wait for ever. One request tells, so
that an untried extension keeps a fair probability of being a target, and one that was tried little of it.
What pages end with is left out: it is tried soon enough.

A name with a dot may have no extension: where every person has a page ``/john.smith``, each looks like a new
one. So the chance of what was never tried falls with the first tries that brought nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.strategies.scent.data_words import PAGE_EXTENSIONS
from coati.strategies.scent.link_keys import NOTHING, Key, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from coati.strategies.scent.link_keys import Row

    Columns = npt.NDArray[np.uint32]

_EXTENSION = int(Key.EXTENSION)
_LOW_BITS = (1 << 16) - 1
_MASK = np.array(_LOW_BITS, np.uint32)
# A try lowers the chance as this many misses would: from 1/4 to 1/16 to 1/28.
_WEIGHT = 12.0
# This many tries are counted; one more stands for what pages end with.
_MOST_TRIES = 254
_PAGE = 255


class UntriedExtensions:
    """The least probability of a target, by extension; ``chance`` is that of the first one that is tried."""

    def __init__(self, chance: float) -> None:
        self._tries = np.zeros(_LOW_BITS + 1, np.uint8)
        for extension in PAGE_EXTENSIONS:
            self._tries[key_of(Key.EXTENSION, extension) & _LOW_BITS] = _PAGE
        self._tries[NOTHING] = _PAGE
        self._firsts = 0
        self._hits = 0
        # The chance by number of tries.
        self._chances = np.zeros(_PAGE + 1, np.float32)
        if chance:
            self._chances[:_PAGE] = 1 / (1 / chance + _WEIGHT * np.arange(_PAGE))
        self._first_chance = chance

    def least(self, row: Row) -> float:
        """Return the least probability of a target for one row."""
        return self._chances.item(self._tries.item(row.item(_EXTENSION) & _LOW_BITS))

    def least_all(self, columns: Columns) -> npt.NDArray[np.float32]:
        """Return it for many rows, one per column."""
        chances: npt.NDArray[np.float32] = self._chances.take(self._tries.take(columns[_EXTENSION] & _MASK))
        return chances

    def tried(self, row: Row, *, target: bool) -> None:
        """Take note that a link was followed."""
        place = row.item(_EXTENSION) & _LOW_BITS
        tries = self._tries.item(place)
        if tries >= _MOST_TRIES:
            return
        self._tries[place] = tries + 1
        if not tries and self._first_chance:
            self._firsts += 1
            self._hits += target
            found = (1 + self._hits) / (1 / self._first_chance + self._firsts)
            self._chances[0] = min(self._first_chance, found)

    def save(self) -> dict[str, Any]:
        """Return the tries."""
        return {
            "untried_tries": self._tries,
            "untried_chances": self._chances,
            "untried_firsts": [self._firsts, self._hits],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved tries."""
        self._tries = state["untried_tries"].copy()
        self._chances = state["untried_chances"].copy()
        self._firsts, self._hits = state["untried_firsts"]
