"""Texts as counts of pairs of the 95 printable ASCII characters: what URL classifiers look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_FIRST, _LETTERS = 32, 95
DIMENSIONS = _LETTERS * _LETTERS


def bigrams(text: str) -> npt.NDArray[np.intp]:
    """Return the position of each pair of neighbours; pairs beyond printable ASCII have none.

    >>> bigrams("ab").tolist() == [(ord("a") - 32) * 95 + ord("b") - 32]
    True
    """
    if text.isascii() and text.isprintable():
        codes = np.frombuffer(text.encode(), np.uint8).astype(np.intp) - _FIRST
        return codes[:-1] * _LETTERS + codes[1:]
    codes = np.fromiter(map(ord, text), np.intp, len(text)) - _FIRST
    known = (codes >= 0) & (codes < _LETTERS)
    pairs = codes[:-1] * _LETTERS + codes[1:]
    return pairs[known[:-1] & known[1:]]
