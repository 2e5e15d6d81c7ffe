"""The expected value of a row of keys: means over chains of keys from general to specific.

A chain says how aspects nest: a directory within its parent, an anchor within a directory. Along a chain each
key's mean is shrunk to its parent's, so that a key that was seen twice says little and one that was seen
often speaks for itself (empirical Bayes). The chains of a row are weighted by how sure each is.

How unsure a key is follows from how much values differ *within its parent*, not from its own count alone: a
new anchor in a directory where every page was barren is no promise, in one where pages differ much it is.

Old values fade: a key remembers about `MEMORY` of them, since sections of a site differ and a crawl moves on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Rows = npt.NDArray[np.uint32]
    Values = npt.NDArray[np.float32]

# The smallest variance that a chain may claim, so that no chain silences all others.
_LEAST_VARIANCE = 1e-3


class ValueChains:
    """Learns what rows are worth.

    ``chains`` lists columns of a row, general first. ``strength`` is how many values a parent's mean counts
    for, ``memory`` how many values a key remembers; ``prior_mean`` and ``prior_variance`` hold before
    anything was learnt.

    >>> chains = ValueChains([(0, 1)], prior_mean=0.5, prior_variance=1.0)
    >>> row = np.array([11, 12], np.uint32)
    >>> chains.learn(row, 2.0)
    >>> chains.predict(row)[0] > 0.5
    True
    """

    def __init__(
        self,
        chains: Sequence[Sequence[int]],
        *,
        prior_mean: float,
        prior_variance: float,
        strength: float = 2.0,
        memory: float = 60.0,
        root_memory: float = 60.0,
        fresh: float = 5.0,
        within: float = 0.0,
        floor: float = 1e-3,
        bits: int = 14,
        most_bits: int = 20,
    ) -> None:
        self._chains = [tuple(chain) for chain in chains]
        self._columns = sorted({column for chain in chains for column in chain})
        self._strength, self._memory = strength, memory
        self._prior = (prior_mean, prior_variance)
        self._most = 1 << most_bits
        # Count, sum and sum of squares of the values of each key.
        self._table = np.zeros((1 << bits, 3), np.float32)
        self._mask = np.uint32((1 << bits) - 1)
        self._used = 0
        self._roots = [[0.0, 0.0, 0.0] for _ in chains]
        self._root_memory = root_memory
        self._fresh = fresh
        self._within = within
        self._floor = floor
        at = {column: place for place, column in enumerate(self._columns)}
        self._places = [tuple(at[column] for column in chain) for chain in self._chains]
        self._take = np.array(self._columns)
        levels = max(len(chain) for chain in chains)
        # The chains as a table of levels x chains; a short one ends with its last key, skipped by the mask.
        self._grid = np.array([[p[min(level, len(p) - 1)] for p in self._places] for level in range(levels)])
        self._there = np.array([[level < len(p) for p in self._places] for level in range(levels)])

    def set_prior(self, key: int, value: float, count: float) -> None:
        """Let a key begin as if it had been seen ``count`` times with this value."""
        self._table[key & self._mask] = (count, count * value, count * value * value)

    def predict(self, row: Rows) -> tuple[float, float]:
        """Give mean and standard deviation of one row's value."""
        stats = self._table[row[self._take] & self._mask].tolist()
        strength = self._strength
        weights = weighted = sure = 0.0
        for chain, (mean, variance) in zip(self._places, self._root(), strict=True):
            unsure = variance
            for place in chain:
                count, total, squares = stats[place]
                unsure = variance / (count + 1)
                if count:
                    mean = (total + strength * mean) / (count + strength)
                    spread = squares - mean * (2 * total - count * mean)
                    variance = (max(spread, 0.0) + strength * variance) / (count + strength)
            weight = 1 / (unsure + self._within * variance + _LEAST_VARIANCE)
            weights += weight
            weighted += weight * mean
            sure += 1 / (unsure + self._floor)
        return weighted / weights, (len(self._chains) / sure) ** 0.5

    def predict_all(self, rows: Rows) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Give means and standard deviations of many rows' values."""
        stats = self._table[rows[:, self._take] & self._mask]
        roots = np.array(self._root(), np.float32)
        strength = np.float32(self._strength)
        mean = np.broadcast_to(roots[:, 0], (len(rows), len(roots)))
        variance = np.broadcast_to(roots[:, 1], mean.shape)
        unsure = variance
        for grid, there in zip(self._grid, self._there, strict=True):
            level = stats[:, grid]
            count, total, squares = level[..., 0], level[..., 1], level[..., 2]
            more = count + strength
            new_mean = (total + strength * mean) / more
            spread = squares - new_mean * (2 * total - count * new_mean)
            new_variance = (np.maximum(spread, 0) + strength * variance) / more
            if there.all():
                mean, unsure, variance = new_mean, variance / (count + 1), new_variance
            else:
                unsure = np.where(there, variance / (count + 1), unsure)
                mean = np.where(there, new_mean, mean)
                variance = np.where(there, new_variance, variance)
        weight = 1 / (unsure + np.float32(self._within) * variance + np.float32(_LEAST_VARIANCE))
        weights = weight.sum(1)
        return (weight * mean).sum(1) / weights, np.sqrt(len(self._chains) / (1 / (unsure + np.float32(self._floor))).sum(1))

    def parts(self, row: Rows) -> list[tuple[int, float, float, float]]:
        """Give for each chain its last key's column, count and mean, and the chain's share of the value."""
        stats = self._table[row & self._mask].tolist()
        found = []
        for chain, (mean, variance) in zip(self._chains, self._root(), strict=True):
            unsure, seen = variance, (chain[0], 0.0)
            for column in chain:
                count, total, squares = stats[column]
                unsure = variance / (count + 1)
                if count:
                    seen = (column, count)
                    mean = (total + self._strength * mean) / (count + self._strength)
                    spread = squares - mean * (2 * total - count * mean)
                    variance = (max(spread, 0.0) + self._strength * variance) / (count + self._strength)
            found.append((*seen, mean, 1 / (unsure + self._within * variance + _LEAST_VARIANCE)))
        total_weight = sum(part[3] for part in found)
        return [(column, count, mean, weight / total_weight) for column, count, mean, weight in found]

    def learn(self, row: Rows, value: float) -> tuple[list[float], list[float]]:
        """Add one value to each key of a row, the less to a key the more its next key was seen."""
        places = row[self._take] & self._mask
        stats = self._table[places]
        counts = stats[:, 0].tolist()
        weights, roots = self._weights_of(counts)
        self._used += counts.count(0.0)
        added = np.array(weights, np.float32)
        full = stats[:, 0] >= self._memory
        if full.any():
            stats[full] *= (self._memory / (self._memory + added[full]))[:, None]
        stats += added[:, None] * np.array([1.0, value, value * value], np.float32)
        stats[places == 0] = 0
        self._table[places] = stats
        for root, weight in zip(self._roots, roots, strict=True):
            fade = self._root_memory / (self._root_memory + weight) if root[0] >= self._root_memory else 1.0
            root[0] = root[0] * fade + weight
            root[1] = root[1] * fade + weight * value
            root[2] = root[2] * fade + weight * value * value
        if self._used * 4 > len(self._table) and len(self._table) < self._most:
            self._table = np.concatenate([self._table, self._table])
            self._mask = np.uint32(len(self._table) - 1)
        return weights, roots

    def _weights_of(self, counts):
        fresh = self._fresh
        weights = [0.0] * len(counts)
        roots = []
        for chain in self._places:
            weight = 1.0
            for place in reversed(chain):
                if weight > weights[place]:
                    weights[place] = weight
                weight *= fresh / (fresh + counts[place])
            roots.append(weight)
        return weights, roots

    def revise(self, row: Rows, before: float, after: float, weights, roots) -> None:
        """Replace a value that was learnt; what has faded of it meanwhile is not corrected for."""
        places = row[self._take] & self._mask
        stats = self._table[places]
        w = np.array(weights, np.float32)
        stats[:, 1] = np.maximum(stats[:, 1] + w * (after - before), 0)
        least = stats[:, 1] ** 2 / np.maximum(stats[:, 0], 1e-6)
        stats[:, 2] = np.maximum(stats[:, 2] + w * (after * after - before * before), least)
        stats[places == 0] = 0
        self._table[places] = stats
        for root, weight in zip(self._roots, roots, strict=True):
            root[1] = max(root[1] + weight * (after - before), 0.0)
            root[2] = max(root[2] + weight * (after * after - before * before), root[1] ** 2 / max(root[0], 1e-6))

    def _root(self):
        """Give mean and variance over everything that was learnt."""
        strength = self._strength
        found = []
        for count, total, squares in self._roots:
            mean = (total + strength * self._prior[0]) / (count + strength)
            spread = max(squares - mean * (2 * total - count * mean), 0.0)
            found.append((mean, (spread + strength * self._prior[1]) / (count + strength)))
        return found

    def save(self) -> dict[str, Any]:
        """Give the statistics."""
        return {
            "chains_table": self._table,
            "chains_roots": self._roots,
            "chains_used": self._used,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved statistics."""
        self._table = state["chains_table"].copy()
        self._mask = np.uint32(len(self._table) - 1)
        self._roots = [list(root) for root in state["chains_roots"]]
        self._used = state["chains_used"]
