"""Randomness as a function of the seed and a counter.

A strategy that kept a generator would have to save it, and a choice restored from a log would leave it in
another place than a choice that was made. Here the n-th draw of a seed is the same whatever came before.
"""

from __future__ import annotations

_MASK = (1 << 64) - 1


def draw(seed: int, counter: int, below: int) -> int:
    """Draw a uniform integer in ``[0, below)``: splitmix64 of the seed and the counter.

    >>> [draw(1, counter, 10) for counter in range(8)]
    [9, 7, 8, 8, 2, 2, 0, 8]
    """
    z = (seed * 0xD1342543DE82EF95 + counter * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    # The high bits scaled down; the bias is below one in 2**64 / below.
    return ((z ^ (z >> 31)) * below) >> 64
