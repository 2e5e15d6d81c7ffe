"""The expected value of a row of keys: means over chains of keys from general to specific.

A chain says how aspects nest: a directory within its parent, an anchor within a directory. Along a chain
each key's mean is shrunk to what is known outside of it, so that a key that was seen twice says little and
one that was seen often speaks for itself (empirical Bayes). Four rules make this work on websites:

1. **Nothing counts twice.** A value that was learnt under a specific key is taken out of the keys above it.
   Otherwise one barren page in a new directory is taken for four barren pages, one a level.
2. **Doubt is inherited.** How unsure a key is follows from how much values differ *around* it, not from its
   own count alone: a new anchor among pages that were all barren is no promise, among pages that differ it
   is.
3. **A parent speaks for its children, not for its visits.** The more a key was seen, the less a further value
   adds to the keys above it. Otherwise the largest section of a site would be what is expected of all others.
4. **Old values fade.** A key remembers ``memory`` values, since a crawl moves from section to section.

The chains of a row are weighted by how sure each is, and how alike the values are that it rests on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Row = npt.NDArray[np.uint32]
    Rows = npt.NDArray[np.uint32]
    Values = npt.NDArray[np.float32]
    Stats = Sequence[float]

# The smallest variances that a chain may claim: as a weight, so that no chain silences all others, and as
# doubt, so that nothing divides by zero.
_LEAST_WEIGHED = 1e-3
_LEAST_DOUBT = 1e-5
# A table that is fuller than this doubles: keys that share a place by chance mislead each other.
_FULL = 0.25


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How fast and how far the chains generalise.

    ``strength`` is how many values the mean around a key counts for. ``fresh`` is how often a key must be
    seen until a further value counts half for the key above. ``within`` says how much differing values
    inside of a key lower the weight of its chain. ``tail`` is how much of their variance is added to a key's
    mean: values are logarithms, and of two keys with equal means the one whose values differ more holds the
    rare page with a hundred files (for a lognormal quantity it would be half of the variance).
    """

    prior_mean: float = 0.3
    prior_variance: float = 1.0
    strength: float = 2.0
    memory: float = 60.0
    fresh: float = 5.0
    within: float = 0.5
    tail: float = 0.2


class Share(NamedTuple):
    """How much of a value went to each key and to each chain's root; `ValueChains.revise` wants it back."""

    keys: tuple[float, ...]
    roots: tuple[float, ...]


class Evidence(NamedTuple):
    """What one chain says of a row: the most specific key that was ever seen, and the chain's weight.

    ``own`` is the mean of what was learnt under that key alone, ``mean`` what the chain makes of it.
    """

    column: int
    visits: float
    own: float
    mean: float
    weight: float


class ValueChains:
    """Learns what rows are worth; ``chains`` lists columns of a row, general first.

    >>> chains = ValueChains([(0, 1)])
    >>> row = np.array([11, 12], np.uint32)
    >>> share = chains.learn(row, 2.0)
    >>> chains.predict(row)[0] > ChainSettings().prior_mean
    True
    """

    def __init__(
        self,
        chains: Sequence[Sequence[int]],
        settings: ChainSettings | None = None,
        *,
        bits: int = 14,
        most_bits: int = 20,
    ) -> None:
        self._settings = settings or ChainSettings()
        self._chains = sorted((tuple(chain) for chain in chains), key=len, reverse=True)
        columns = sorted({column for chain in chains for column in chain})
        self._take = np.array(columns)
        # Chains as places among the columns that are taken.
        self._places = [tuple(columns.index(column) for column in chain) for chain in self._chains]
        # Level by level: each chain's place, one beyond the last where it has ended; and how many have not.
        longest = max(len(chain) for chain in chains)
        self._grid = np.array(
            [
                [place[level] if level < len(place) else len(columns) for place in self._places]
                for level in range(longest)
            ]
        )
        self._lasting = [sum(level < len(place) for place in self._places) for level in range(longest + 1)]
        # Count, sum and sum of squares of the values of each key; the place 0 stands for "no key".
        self._table = np.zeros((3, 1 << bits), np.float32)
        self._mask = np.uint32((1 << bits) - 1)
        self._most = 1 << most_bits
        self._used = 0
        self._roots = np.zeros((3, len(chains)), np.float32)

    def set_prior(self, key: int, value: float, count: float) -> None:
        """Let a key begin as if it had been seen ``count`` times with this value."""
        self._table[:, key & self._mask] = (count, count * value, count * value * value)

    # --- predicting -----------------------------------------------------------------------------

    def predict(self, row: Row) -> tuple[float, float]:
        """Give one row's value and its standard deviation."""
        stats = list(zip(*self._table[:, row[self._take] & self._mask].tolist(), strict=True))
        weights = weighted = sure = 0.0
        for root, chain in zip(self._roots.T.tolist(), self._places, strict=True):
            mean, variance, doubt = self._descend(root, [stats[place] for place in chain])
            weight = self._weight(doubt, variance)
            weights += weight
            weighted += weight * (mean + self._settings.tail * variance)
            sure += 1 / (doubt + _LEAST_DOUBT)
        return weighted / weights, (len(self._chains) / sure) ** 0.5

    def predict_all(self, rows: Rows) -> tuple[Values, Values]:
        """Give many rows' values and their standard deviations: `predict`, level by level over all rows."""
        settings = self._settings
        strength = np.float32(settings.strength)
        # Keys before rows, and all levels in one: each operation then runs over neighbours in memory, and
        # there are few of them, which is what a small batch costs.
        inside = self._levels(rows)
        around = inside[:, :-1] - inside[:, 1:]
        np.maximum(around, 0, out=around)
        counts, totals, squares = around
        # Where nothing was counted nothing is known, whatever rounding left of the sums.
        around[1:] *= counts > 0
        shares = 1 / (counts + strength)
        mean = np.full(counts.shape[1:], settings.prior_mean, np.float32)
        variance = np.full_like(mean, settings.prior_variance)
        doubt = variance
        for level, count in enumerate(counts):
            total, share = totals[level], shares[level]
            mean = (total + strength * mean) * share
            spread = squares[level] - mean * (2 * total - count * mean)
            np.maximum(spread, 0, out=spread)
            variance = (spread + strength * variance) * share
            lasting = self._lasting[level]
            if lasting:
                # Chains stand in the order of their lengths.
                doubt = np.concatenate(
                    [variance[:lasting] / (inside[0, level + 1, :lasting] + 1), doubt[lasting:]]
                )
        weight = 1 / (doubt + np.float32(settings.within) * variance + np.float32(_LEAST_WEIGHED))
        sure = 1 / (doubt + np.float32(_LEAST_DOUBT))
        mean += np.float32(settings.tail) * variance
        return (weight * mean).sum(0) / weight.sum(0), np.sqrt(len(self._chains) / sure.sum(0))

    def evidence(self, row: Row) -> list[Evidence]:
        """Give what each chain says; the weights sum up to 1."""
        stats = list(zip(*self._table[:, row & self._mask].tolist(), strict=True))
        found = []
        for root, chain in zip(self._roots.T.tolist(), self._chains, strict=True):
            mean, variance, doubt = self._descend(root, [stats[column] for column in chain])
            seen = [column for column in chain if stats[column][0]] or [chain[0]]
            visits, total, _ = stats[seen[-1]]
            own = total / visits if visits else mean
            found.append(Evidence(seen[-1], visits, own, mean, self._weight(doubt, variance)))
        whole = sum(part.weight for part in found)
        return [part._replace(weight=part.weight / whole) for part in found]

    def _descend(self, root: Stats, chain: Sequence[Stats]) -> tuple[float, float, float]:
        """Walk one chain from its root to its last key; gives mean, variance within, and doubt."""
        # The hot loop of a crawl: comparisons instead of calls of max().
        settings = self._settings
        strength = settings.strength
        mean, variance, doubt = settings.prior_mean, settings.prior_variance, 0.0
        count, total, squares = root
        for inner_count, inner_total, inner_squares in chain:
            count -= inner_count
            if count > 0:
                total = total - inner_total if total > inner_total else 0.0
                squares = squares - inner_squares if squares > inner_squares else 0.0
                mean = (total + strength * mean) / (count + strength)
                spread = squares - mean * (2 * total - count * mean)
                variance = ((spread if spread > 0 else 0.0) + strength * variance) / (count + strength)
            doubt = variance / (inner_count + 1)
            count, total, squares = inner_count, inner_total, inner_squares
        if count > 0:
            mean = (total + strength * mean) / (count + strength)
            spread = squares - mean * (2 * total - count * mean)
            variance = ((spread if spread > 0 else 0.0) + strength * variance) / (count + strength)
        return mean, variance, doubt

    def _weight(self, doubt: float, variance: float) -> float:
        return 1 / (doubt + self._settings.within * variance + _LEAST_WEIGHED)

    def _levels(self, rows: Rows) -> Values:
        """Give count, sum and squares of the roots, then of each level's keys, then zeros.

        An array of 3 x levels x chains x rows. Where a chain has ended there are zeros too.
        """
        depth, width = self._grid.shape
        places = np.zeros((len(self._take) + 1, len(rows)), np.intp)
        places[:-1] = rows.T[self._take] & self._mask
        levels = np.zeros((3, depth + 2, width, len(rows)), np.float32)
        levels[:, 0] = self._roots[:, :, None]
        chosen = places[self._grid]
        for mine, column in zip(levels, self._table, strict=True):
            # Without "clip" numpy would write into a buffer of its own first.
            column.take(chosen, out=mine[1:-1], mode="clip")
        return levels

    # --- learning -------------------------------------------------------------------------------

    def learn(self, row: Row, value: float) -> Share:
        """Add one value to the keys of a row."""
        places = row[self._take] & self._mask
        stats = self._table[:, places]
        counts = stats[0].tolist()
        share = self._share(counts)
        self._used += counts.count(0.0)
        values = np.array([1.0, value, value * value], np.float32)
        self._table[:, places] = self._added(stats, np.array(share.keys, np.float32), values)
        self._table[:, 0] = 0
        self._roots = self._added(self._roots, np.array(share.roots, np.float32), values)
        size = self._table.shape[1]
        if self._used > _FULL * size and size < self._most:
            # Written twice in a row, every key finds what it had learnt.
            self._table = np.concatenate([self._table, self._table], axis=1)
            self._mask = np.uint32(2 * size - 1)
        return share

    def revise(self, row: Row, before: float, after: float, share: Share) -> None:
        """Replace a value that was learnt; that some of it has faded since is left out of account."""
        change = np.array([after - before, after * after - before * before], np.float32)
        places = row[self._take] & self._mask
        self._table[:, places] = _changed(self._table[:, places], np.array(share.keys, np.float32), change)
        self._table[:, 0] = 0
        self._roots = _changed(self._roots, np.array(share.roots, np.float32), change)

    def _share(self, counts: list[float]) -> Share:
        fresh = self._settings.fresh
        keys = [0.0] * len(counts)
        roots = []
        for chain in self._places:
            share = 1.0
            for place in reversed(chain):
                # A key of two chains takes the larger share.
                keys[place] = max(keys[place], share)
                share *= fresh / (fresh + counts[place])
            roots.append(share)
        return Share(tuple(keys), tuple(roots))

    def _added(self, stats: Values, shares: Values, values: Values) -> Values:
        memory = self._settings.memory
        kept = np.where(stats[0] >= memory, memory / (memory + shares), 1)
        return np.asarray(stats * kept + shares * values[:, None], np.float32)

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Give the statistics."""
        return {"chains_table": self._table, "chains_roots": self._roots, "chains_used": self._used}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved statistics."""
        self._table = state["chains_table"].copy()
        self._mask = np.uint32(self._table.shape[1] - 1)
        self._roots = state["chains_roots"].copy()
        self._used = state["chains_used"]


def _changed(stats: Values, shares: Values, change: Values) -> Values:
    """Correct sums and squares; what no values could give, because some have faded, is cut off."""
    count = np.maximum(stats[0], 1e-6)
    total = np.maximum(stats[1] + shares * change[0], 0)
    squares = np.maximum(stats[2] + shares * change[1], total * total / count)
    return np.stack([stats[0], total, squares])
