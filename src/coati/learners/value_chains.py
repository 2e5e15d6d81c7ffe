"""The expected value of a row of keys: means over chains of keys from general to specific.

A chain says how aspects nest: a directory within its parent, an anchor within a directory. Along a chain
each key's mean is shrunk to what is known outside of it, so that a key that was seen twice says little and
one that was seen often speaks for itself (empirical Bayes). Four rules make this work on websites:

1. **Nothing counts twice.** A value that was learnt under a specific key is taken out of the keys above it.
   Otherwise one barren page in a new directory is taken for four barren pages, one per level.
2. **Doubt is inherited.** How unsure a key is follows from how much values differ *around* it, not from its
   own count alone: a new anchor among pages that were all barren promises nothing, among pages that differ it
   is.
3. **A parent speaks for its children, not for its visits.** The more a key was seen, the less a further value
   adds to the keys above it. Otherwise the largest section of a site would be what is expected of all others.

4. **Old values fade.** A key remembers ``memory`` values, since a crawl moves from section to section.

The chains of a row are weighted by how sure each is, and how alike the values are that it rests on.
"""

from __future__ import annotations

from array import array
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
    # How much of a value went to each key, then to each chain's root; `ValueChains.revise` wants it back.
    Share = npt.NDArray[np.float32]

# The smallest variances that a chain may claim: as a weight, so that no chain silences all others, and as
# doubt, so that nothing divides by zero.
_LEAST_WEIGHED = 1e-3
_LEAST_DOUBT = 1e-5
# The same, and others, as arrays: of a number numpy would make one at each call.
_ZERO_32, _FEW_32 = np.array(0, np.float32), np.array(1e-6, np.float32)
_WEIGHED_32, _DOUBT_32 = np.array(_LEAST_WEIGHED, np.float32), np.array(_LEAST_DOUBT, np.float32)


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


class Evidence(NamedTuple):
    """What one chain says of a row: the most specific key that was ever seen, and the chain's weight.

    ``own`` is the mean of what was learnt under that key alone, 0 where nothing was.
    """

    column: int
    visits: float
    own: float
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
        self._settings = settings = settings or ChainSettings()
        self._numbers = (
            settings.strength,
            settings.within,
            settings.tail,
            settings.prior_mean,
            settings.prior_variance,
        )
        self._arrays = tuple(np.array(number, np.float32) for number in self._numbers)
        self._chains = [tuple(chain) for chain in chains]
        columns = sorted({column for chain in chains for column in chain})
        self._take = np.array(columns)
        # Chains as places among the columns that are taken; behind those are the roots.
        self._places = [tuple(columns.index(column) for column in chain) for chain in self._chains]
        self._upwards = [chain[::-1] for chain in self._places]
        # Level by level each chain's place. Chains end together: where one is shorter its root stands for
        # what is missing, and taken out of itself a root says nothing. Below the last is one without values.
        longest = max(len(chain) for chain in chains)
        self._grid = np.array(
            [
                [len(columns) + at] * (1 + longest - len(place)) + list(place) + [len(columns) + len(chains)]
                for at, place in enumerate(self._places)
            ]
        ).T
        # Of each key, and of the root of each chain, the count, sum and sum of squares of its values.
        self._table = table or HashedTable(3)
        # What is worked on: the statistics of one row's keys, and after them those of the roots, which stay.
        self._stats = np.zeros((len(columns) + len(chains), 3), np.float32)
        self._taken, self._roots = self._stats[: len(columns)], self._stats[len(columns) :]
        self._counts, self._totals, self._squares = self._stats.T
        # How much of its statistics each of them keeps; 1 but while something is learnt.
        # Python's own array is the fast one for a number at a time; both are the same memory.
        self._kept_of = array("f", [1.0] * len(self._stats))
        self._kept = np.frombuffer(self._kept_of, np.float32)[:, None]

    # --- predicting -----------------------------------------------------------------------------

    def predict(self, row: Row) -> tuple[float, float]:
        """Return one row's value and its standard deviation."""
        self._table.take_into(row[self._take], self._taken)
        weights, weighted, sure = self._descend(self._stats.tolist())
        return weighted / weights, (len(self._chains) / sure) ** 0.5

    def predict_all(self, columns: Rows) -> tuple[Values, Values]:
        """Return the values of many rows, one per column, and their standard deviations.

        It is `predict`, level by level over all rows, with few operations that each run over neighbours in
        memory: their number is what a small batch costs.
        """
        strength, within, tail, mean, variance = self._arrays
        taken = len(self._taken)
        stats = np.empty((3, len(self._stats) + 1, columns.shape[1]), np.float32)
        stats[:, :taken] = self._table.take(columns[self._take]).transpose(2, 0, 1)
        stats[:, taken:-1] = self._roots.T[..., None]
        stats[:, -1] = 0
        levels = stats.take(self._grid, axis=1)
        # What is outside of the next key, and at least 0. Numpy is fast in comparing arrays of one shape, and
        # not in comparing one with a number.
        inside = levels[:, 1:]
        around = np.maximum(levels[:, :-1], inside)
        around -= inside
        counts, totals, squares = around
        # Where nothing was counted nothing is known, whatever rounding left of the sums.
        around *= (counts > 0) / (counts + strength)
        kept = 1 - counts
        means = np.empty_like(totals)
        for own, total, rest in zip(means, totals, kept, strict=True):
            mean = np.multiply(rest, mean, out=own)
            mean += total
        less = totals - counts * means
        less += totals
        less *= means
        spread = np.maximum(squares, less)
        spread -= less
        before = variance
        for own, rest in zip(spread, kept, strict=True):
            before = variance
            variance = rest * before
            variance += own
        doubt = before / (levels[0, -2] + 1)
        mean += tail * variance
        # Weights, weighted values and inverse doubts side by side, so that they are summed up at once.
        sums = np.empty((3, *doubt.shape), np.float32)
        weight = np.divide(1, doubt + within * variance + _WEIGHED_32, out=sums[0])
        np.multiply(weight, mean, out=sums[1])
        np.divide(1, doubt + _DOUBT_32, out=sums[2])
        weights, weighted, sure = np.add.reduce(sums, 1)
        return weighted / weights, np.sqrt(len(self._chains) / sure)

    def evidence(self, row: Row) -> list[Evidence]:
        """Return what each chain says; the weights sum up to 1."""
        self._table.take_into(row[self._take], self._taken)
        stats = self._stats.tolist()
        chain_weights: list[float] = []
        whole = self._descend(stats, chain_weights)[0]
        found = []
        for chain, places, weight in zip(self._chains, self._places, chain_weights, strict=True):
            seen = [at for at, place in enumerate(places) if stats[place][0]] or [0]
            column = chain[seen[-1]]
            visits, total, _ = stats[places[seen[-1]]]
            own = total / visits if visits else 0.0
            found.append(Evidence(column, visits, own, weight / whole))
        return found

    def _descend(
        self, stats: list[list[float]], chain_weights: list[float] | None = None
    ) -> tuple[float, float, float]:
        """Walk each chain from its root to its last key; the weight of each goes to ``chain_weights``.

        Returns the sum of the weights, the weighted sum of the values, and the sum of the inverse doubts.
        """
        # The hot loop of a crawl: one loop for all chains, comparisons instead of calls of max(), and no
        # integers among the floats, since they would have to be converted.
        strength, within, tail, prior_mean, prior_variance = self._numbers
        weights = weighted = sure = 0.0
        for root, chain in enumerate(self._places, len(self._taken)):
            count, total, squares = stats[root]
            mean, variance = prior_mean, prior_variance
            for place in chain:
                inner_count, inner_total, inner_squares = stats[place]
                count -= inner_count
                if count > 0:
                    total = total - inner_total if total > inner_total else 0.0
                    squares = squares - inner_squares if squares > inner_squares else 0.0
                    weight = count + strength
                    mean = (total + strength * mean) / weight
                    spread = squares - mean * (2.0 * total - count * mean)
                    variance = ((spread if spread > 0 else 0.0) + strength * variance) / weight
                count, total, squares = inner_count, inner_total, inner_squares
            doubt = variance / (count + 1.0)
            if count > 0:
                weight = count + strength
                mean = (total + strength * mean) / weight
                spread = squares - mean * (2.0 * total - count * mean)
                variance = ((spread if spread > 0 else 0.0) + strength * variance) / weight
            weight = 1 / (doubt + within * variance + _LEAST_WEIGHED)
            weights += weight
            weighted += weight * (mean + tail * variance)
            sure += 1 / (doubt + _LEAST_DOUBT)
            if chain_weights is not None:
                chain_weights.append(weight)
        return weights, weighted, sure

    # --- learning -------------------------------------------------------------------------------

    def learn(self, row: Row, value: float) -> Share:
        """Add one value to the keys of a row."""
        keys, stats = row[self._take], self._stats
        self._table.take_into(keys, self._taken)
        counts = self._counts.tolist()
        shares = self._shares(counts)
        memory = self._settings.memory
        full = [place for place, count in enumerate(counts) if count >= memory]
        if full:
            for place in full:
                self._kept_of[place] = memory / (memory + shares[place])
            stats *= self._kept
            for place in full:
                self._kept_of[place] = 1.0
        share = np.array(shares, np.float32)
        stats += share[:, None] * np.array([1.0, value, value * value], np.float32)
        self._table.put(keys, self._taken)
        return share

    def revise(self, row: Row, before: float, after: float, share: Share) -> None:
        """Replace a value that was learnt; that some of it has faded since is left out of account."""
        keys, stats = row[self._take], self._stats
        self._table.take_into(keys, self._taken)
        change = np.array([0.0, after - before, after * after - before * before], np.float32)
        stats += share[:, None] * change
        # What no values could give, because some have faded, is cut off.
        total, squares = self._totals, self._squares
        np.maximum(total, _ZERO_32, out=total)
        np.maximum(squares, total * total / np.maximum(self._counts, _FEW_32), out=squares)
        self._table.put(keys, self._taken)

    def _shares(self, counts: list[float]) -> list[float]:
        """Return how much of a value goes to each key, then to each root."""
        fresh = self._settings.fresh
        shares = [0.0] * len(self._take)
        for chain in self._upwards:
            share = 1.0
            for place in chain:
                # A key of two chains takes the larger share.
                if share > shares[place]:  # noqa: PLR1730 - max() takes longer than all else here
                    shares[place] = share
                share *= fresh / (fresh + counts[place])
            shares.append(share)
        return shares

    # --- saving ---------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the statistics."""
        return {**self._table.save("chains"), "chains_roots": self._roots.copy()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved statistics."""
        self._table.load(state, "chains")
        self._roots[:] = state["chains_roots"]
