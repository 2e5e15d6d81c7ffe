"""Randomness as a function of the seed and a counter.

A strategy that kept a generator would have to save it, and a choice restored from a log would leave it in
another state than a choice that was made. Here the n-th draw of a seed is the same whatever came before.
"""

from __future__ import annotations

import numpy as np

_MASK = (1 << 64) - 1
_SEED_STEP, _STEP = 0xD1342543DE82EF95, 0x9E3779B97F4A7C15
_FIRST_MIX, _SECOND_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def draw(seed: int, counter: int, below: int) -> int:
    """Draw a uniform integer in ``[0, below)``: splitmix64 of the seed and the counter.

    >>> [draw(1, counter, 10) for counter in range(8)]
    [9, 7, 8, 8, 2, 2, 0, 8]
    """
    z = (seed * _SEED_STEP + counter * _STEP + _STEP) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST_MIX) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND_MIX) & _MASK
    # The high bits scaled down; the bias is below one in 2**64 / below.
    return ((z ^ (z >> 31)) * below) >> 64


def draw_many(seed: int, counter: int, bits: int, count: int) -> list[int]:
    """Return what `draw` gives for this counter and those after it, below 2 to the power of ``bits``.

    >>> draw_many(1, 5, 3, 2) == [draw(1, 5, 8), draw(1, 6, 8)]
    True
    """
    first = (seed * _SEED_STEP + counter * _STEP + _STEP) & _MASK
    # Numbers of 64 bits overflow as the mask cuts.
    z = np.arange(count, dtype=np.uint64) * np.uint64(_STEP) + np.uint64(first)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST_MIX)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND_MIX)
    drawn: list[int] = ((z ^ (z >> np.uint64(31))) >> np.uint64(64 - bits)).tolist()
    return drawn
