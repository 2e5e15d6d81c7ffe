"""A few numbers for each of very many keys: a table in which a key's low bits are its place.

Keys that share a place by chance mislead each other, so that there are many more places than keys. A table
that fills up is doubled by writing it twice in a row: every key finds what it had, and keys that had to share
a place part from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Keys = npt.NDArray[np.uint32]
    Cells = npt.NDArray[np.float32]

# A table that is fuller than this doubles; it is looked at after one write per this many places.
_FULL = 0.25
_LOOK = 256


class HashedTable:
    """Rows of ``numbers``, at first 0, by 32-bit key; of a key that was written the first number is not 0.

    The key 0 means "none", and its numbers stay 0.

    >>> table = HashedTable(numbers=2, bits=4)
    >>> table.put(np.array([3, 0], np.uint32), np.array([[1, 2], [3, 4]], np.float32))
    >>> table.take(np.array([0, 3], np.uint32)).tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """

    def __init__(self, numbers: int, bits: int = 18, most_bits: int = 20) -> None:
        self._most = 1 << most_bits
        self._item = np.dtype((np.void, numbers * np.dtype(np.float32).itemsize))
        self._writes = 0
        self._resize(np.zeros((1 << bits, numbers), np.float32))

    def _resize(self, cells: Cells) -> None:
        self._cells = cells
        # The same with all numbers of a place as one item: to write items takes a third of the time.
        self._items = cells.view(self._item)[:, 0]
        # As an array: of a number numpy would make one at each call.
        self._mask = np.array(len(cells) - 1, np.uint32)
        self._look_every = max(1, len(cells) // _LOOK)

    def __len__(self) -> int:
        """Count the places."""
        return len(self._cells)

    def take(self, keys: Keys) -> Cells:
        """Return the numbers of keys, along a new last axis."""
        return self._cells.take(keys & self._mask, axis=0)

    def take_into(self, keys: Keys, out: Cells) -> None:
        """Write the numbers of keys into an array, which takes less time than to make one."""
        # Every place exists; this mode spares numpy the question, and a copy.
        self._cells.take(keys & self._mask, 0, out, "clip")

    def put(self, keys: Keys, cells: Cells) -> None:
        """Write the numbers of keys."""
        self._items.put(keys & self._mask, cells.view(self._item))
        self._cells[0] = 0
        self._writes += 1
        if not self._writes % self._look_every:
            self._make_room()

    def _make_room(self) -> None:
        if len(self) < self._most and np.count_nonzero(self._cells[:, 0]) > _FULL * len(self):
            self._resize(np.concatenate([self._cells, self._cells]))

    def save(self, name: str) -> dict[str, Any]:
        """Return what was written, under this name."""
        places = np.flatnonzero(self._cells.any(axis=1))
        return {
            f"{name}_places": places.astype(np.uint32),
            f"{name}_cells": self._cells[places],
            f"{name}_size": [len(self), self._writes],
        }

    def load(self, state: Mapping[str, Any], name: str) -> None:
        """Take over what was saved under this name."""
        size, self._writes = state[f"{name}_size"]
        self._resize(np.zeros((size, self._cells.shape[1]), np.float32))
        self._cells[state[f"{name}_places"]] = state[f"{name}_cells"]
