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

from coati.learners.hashed_table import HashedTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Row = npt.NDArray[np.uint32]
    Rows = npt.NDArray[np.uint32]
    Values = npt.NDArray[np.float32]

# The smallest variances that a chain may claim: as a weight, so that no chain silences all others, and as
# doubt, so that nothing divides by zero.
_LEAST_WEIGHED = 1e-3
_LEAST_DOUBT = 1e-5


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


# How much of a value went to each key, then to each chain's root; `ValueChains.revise` wants it back.
Share = tuple[float, ...]


class Evidence(NamedTuple):
    """What one chain says of a row: the most specific key that was ever seen, and the chain's weight.

    ``visits`` is 0 if all that is known of it is a prior. ``own`` is the mean of what was learnt under that
    key alone, ``mean`` what the chain makes of it.
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
        table: HashedTable | None = None,
    ) -> None:
        self._settings = settings or ChainSettings()
        self._chains = [tuple(chain) for chain in chains]
        columns = sorted({column for chain in chains for column in chain})
        self._take = np.array(columns)
        # Chains as places among the columns that are taken; behind those are the roots.
        self._places = [tuple(columns.index(column) for column in chain) for chain in self._chains]
        self._upwards = [chain[::-1] for chain in self._places]
        # Level by level each chain's place. Chains end together: where one is shorter its root stands for
        # what is missing, and taken out of itself a root says nothing.
        longest = max(len(chain) for chain in chains)
        self._grid = np.array(
            [
                [len(columns) + at] * (1 + longest - len(place)) + list(place)
                for at, place in enumerate(self._places)
            ]
        ).T
        # Of each key, and of the root of each chain, the count, sum and sum of squares of its values.
        self._table = table or HashedTable(3)
        self._roots = np.zeros((len(chains), 3), np.float32)
        self._priors: dict[int, float] = {}

    def set_prior(self, key: int, value: float, count: float) -> None:
        """Let a key begin as if it had been seen ``count`` times with this value."""
        self._priors[key] = count
        prior = np.array([[count, count * value, count * value * value]], np.float32)
        self._table.put(np.array([key], np.uint32), prior)

    # --- predicting -----------------------------------------------------------------------------

    def predict(self, row: Row) -> tuple[float, float]:
        """Return one row's value and its standard deviation."""
        within, tail = self._settings.within, self._settings.tail
        weights = weighted = sure = 0.0
        for mean, variance, doubt in self._descend(self._places, self._table.take(row[self._take]).tolist()):
            weight = 1 / (doubt + within * variance + _LEAST_WEIGHED)
            weights += weight
            weighted += weight * (mean + tail * variance)
            sure += 1 / (doubt + _LEAST_DOUBT)
        return weighted / weights, (len(self._chains) / sure) ** 0.5

    def predict_all(self, columns: Rows) -> tuple[Values, Values]:
        """Return the values of many rows, one a column, and their standard deviations.

        It is `predict`, level by level over all rows, with few operations that each run over neighbours in
        memory: their number is what a small batch costs.
        """
        settings = self._settings
        stats = np.empty((3, len(self._take) + len(self._roots), columns.shape[1]), np.float32)
        stats[:, : len(self._take)] = self._table.take(columns[self._take]).transpose(2, 0, 1)
        stats[:, len(self._take) :] = self._roots.T[..., None]
        inside = stats.take(self._grid, axis=1)
        around = inside.copy()
        around[:, :-1] -= inside[:, 1:]
        np.maximum(around, 0, out=around)
        # Where nothing was counted nothing is known, whatever rounding left of the sums.
        around[1:] *= around[0] > 0
        around *= 1 / (around[0] + np.float32(settings.strength))
        counts, totals, squares = around
        kept = 1 - counts
        means = np.empty_like(totals)
        mean = np.float32(settings.prior_mean)
        for own, total, rest in zip(means, totals, kept, strict=True):
            mean = np.multiply(rest, mean, out=own)
            mean += total
        spread = counts * means
        spread -= totals
        spread -= totals
        spread *= means
        spread += squares
        np.maximum(spread, 0, out=spread)
        variance = before = np.float32(settings.prior_variance)
        for own, rest in zip(spread, kept, strict=True):
            before = variance
            variance = rest * before
            variance += own
        doubt = before / (inside[0, -1] + 1)
        weight = 1 / (doubt + np.float32(settings.within) * variance + np.float32(_LEAST_WEIGHED))
        sure = 1 / (doubt + np.float32(_LEAST_DOUBT))
        mean += np.float32(settings.tail) * variance
        return (weight * mean).sum(0) / weight.sum(0), np.sqrt(len(self._chains) / sure.sum(0))

    def evidence(self, row: Row) -> list[Evidence]:
        """Return what each chain says; the weights sum up to 1."""
        stats = self._table.take(row).tolist()
        found = []
        for chain, (mean, variance, doubt) in zip(
            self._chains, self._descend(self._chains, stats), strict=True
        ):
            seen = [column for column in chain if stats[column][0]] or [chain[0]]
            visits, total, _ = stats[seen[-1]]
            own = total / visits if visits else mean
            visits -= self._priors.get(int(row[seen[-1]]), 0.0)
            weight = 1 / (doubt + self._settings.within * variance + _LEAST_WEIGHED)
            found.append(Evidence(seen[-1], max(0.0, visits), own, mean, weight))
        whole = sum(part.weight for part in found)
        return [part._replace(weight=part.weight / whole) for part in found]

    def _descend(
        self, chains: Sequence[Sequence[int]], stats: Sequence[Sequence[float]]
    ) -> list[tuple[float, float, float]]:
        """Walk each chain from its root to its last key; gives mean, variance within, and doubt."""
        # The hot loop of a crawl: one loop for all chains, comparisons instead of calls of max().
        settings = self._settings
        strength = settings.strength
        found = []
        for root, chain in zip(self._roots.tolist(), chains, strict=True):
            count, total, squares = root
            mean, variance = settings.prior_mean, settings.prior_variance
            for place in chain:
                inner_count, inner_total, inner_squares = stats[place]
                count -= inner_count
                if count > 0:
                    total = total - inner_total if total > inner_total else 0.0
                    squares = squares - inner_squares if squares > inner_squares else 0.0
                    weight = count + strength
                    mean = (total + strength * mean) / weight
                    spread = squares - mean * (2 * total - count * mean)
                    variance = ((spread if spread > 0 else 0.0) + strength * variance) / weight
                count, total, squares = inner_count, inner_total, inner_squares
            doubt = variance / (count + 1)
            if count > 0:
                weight = count + strength
                mean = (total + strength * mean) / weight
                spread = squares - mean * (2 * total - count * mean)
                variance = ((spread if spread > 0 else 0.0) + strength * variance) / weight
            found.append((mean, variance, doubt))
        return found

    def _stats(self, row: Row) -> Values:
        """Return the statistics of the keys that chains are made of, then those of the roots."""
        return np.concatenate((self._table.take(row[self._take]), self._roots))

    def _write(self, row: Row, stats: Values) -> None:
        count = len(self._take)
        self._table.put(row[self._take], stats[:count])
        self._roots = stats[count:]

    # --- learning -------------------------------------------------------------------------------

    def learn(self, row: Row, value: float) -> Share:
        """Add one value to the keys of a row."""
        stats = self._stats(row)
        counts = stats[:, 0].tolist()
        share = self._share(counts)
        memory = self._settings.memory
        if max(counts) >= memory:
            kept = [
                memory / (memory + part) if count >= memory else 1.0
                for count, part in zip(counts, share, strict=True)
            ]
            stats *= np.array(kept, np.float32)[:, None]
        stats += np.array(share, np.float32)[:, None] * np.array([1.0, value, value * value], np.float32)
        self._write(row, stats)
        return share

    def revise(self, row: Row, before: float, after: float, share: Share) -> None:
        """Replace a value that was learnt; that some of it has faded since is left out of account."""
        stats = self._stats(row)
        change = np.array([0.0, after - before, after * after - before * before], np.float32)
        stats += np.array(share, np.float32)[:, None] * change
        # What no values could give, because some have faded, is cut off.
        count, total, squares = stats.T
        np.maximum(total, 0, out=total)
        np.maximum(squares, total * total / np.maximum(count, 1e-6), out=squares)
        self._write(row, stats)

    def _share(self, counts: list[float]) -> Share:
        fresh = self._settings.fresh
        less = [fresh / (fresh + count) for count in counts]
        shares = [0.0] * len(self._take)
        for chain in self._upwards:
            share = 1.0
            for place in chain:
                # A key of two chains takes the larger share.
                shares[place] = max(shares[place], share)
                share *= less[place]
            shares.append(share)
        return tuple(shares)

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the statistics."""
        return {**self._table.save("chains"), "chains_roots": self._roots}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved statistics."""
        self._table.load(state, "chains")
        self._roots = state["chains_roots"].copy()
