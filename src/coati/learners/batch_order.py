"""The order in which scikit-learn goes through a batch of examples, so that ours learns what it learns."""

from __future__ import annotations

# The second number that numpy's RandomState(42) draws, which is what scikit-learn shuffles each batch with.
_SEED = 1273642419


def batch_order(count: int) -> list[int]:
    """Return the order for a batch of this size: Fisher and Yates with a 32-bit xorshift from a fixed seed.

    >>> sorted(batch_order(5)), batch_order(5) == batch_order(5)
    ([0, 1, 2, 3, 4], True)
    """
    order = list(range(count))
    state = _SEED
    for i in range(count - 1):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        j = i + (state & 0x7FFFFFFF) % (count - i)
        order[i], order[j] = order[j], order[i]
    return order
