"""Tag paths as sparse vectors: n-grams of tokens, hashed to a fixed number of positions (EDBT 2026, 3.2).

The paper builds a vector as long as the vocabulary, then averages all of its positions that fall into one
bucket, zeros included. The vocabulary grows with the crawl. The average needs only two things, and neither
grows: the path's own n-grams, and how many n-grams of the vocabulary each bucket holds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

# Markers for the ends of a path; no token equals them, since tokens begin with a tag's name.
_BEGIN, _END = "\x02", "\x03"
_JOINT = "\x1f"

_MULTIPLIER = 766245317

# Sites repeat their paths on every page, so what depends on the path alone is kept for this many of them.
_PATHS_KEPT = 4096


class SparseVector(NamedTuple):
    """The positions that are not zero, and their values."""

    positions: tuple[int, ...]
    values: list[float]


class TagPathSpace:
    """Maps tag paths to vectors, and learns its vocabulary while it does.

    >>> space = TagPathSpace(ngram=2, log2_dimensions=2, word_bits=11)
    >>> [space.bucket(position) for position in range(11)]
    [0, 0, 1, 2, 3, 0, 1, 2, 3, 3, 0]
    """

    def __init__(self, ngram: int = 2, log2_dimensions: int = 12, word_bits: int = 15) -> None:
        self.ngram = ngram
        self.dimensions = 1 << log2_dimensions
        self._word_mask = (1 << word_bits) - 1
        self._shift = word_bits - log2_dimensions
        self._vocabulary: dict[str, int] = {}
        self._bucket_sizes = [0] * self.dimensions
        self._frequencies = lru_cache(maxsize=_PATHS_KEPT)(self._count)

    def __len__(self) -> int:
        """Count the n-grams seen so far."""
        return len(self._vocabulary)

    def bucket(self, position: int) -> int:
        """Hash a vocabulary position: the multiplicative hash of the paper."""
        return ((_MULTIPLIER * position) & self._word_mask) >> self._shift

    def vector(self, path: tuple[str, ...]) -> SparseVector:
        """Return the path's vector in the vocabulary as it is after this path has joined it."""
        positions, frequencies = self._frequencies(path)
        sizes = self._bucket_sizes
        return SparseVector(positions, [f / sizes[p] for p, f in zip(positions, frequencies, strict=True)])

    def _count(self, path: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the buckets of the path's n-grams and their term frequencies, which never change."""
        grams = self._grams(path)
        sums: dict[int, float] = {}
        for gram in grams:
            position = self._vocabulary.get(gram)
            if position is None:
                position = self._vocabulary[gram] = len(self._vocabulary)
                self._bucket_sizes[self.bucket(position)] += 1
            bucket = self.bucket(position)
            sums[bucket] = sums.get(bucket, 0.0) + 1 / len(grams)
        return tuple(sums), tuple(sums.values())

    def _grams(self, path: tuple[str, ...]) -> list[str]:
        tokens = (_BEGIN, *path, _END)
        if self.ngram == 1:
            return list(tokens)
        count = max(1, len(tokens) - self.ngram + 1)
        return [_JOINT.join(tokens[i : i + self.ngram]) for i in range(count)]

    def save(self) -> dict[str, Any]:
        """Return the vocabulary in order."""
        return {"vocabulary": list(self._vocabulary)}

    def load(self, state: Mapping[str, Any]) -> None:
        self._vocabulary = {gram: position for position, gram in enumerate(state["vocabulary"])}
        self._bucket_sizes = [0] * self.dimensions
        for position in range(len(self._vocabulary)):
            self._bucket_sizes[self.bucket(position)] += 1
        self._frequencies.cache_clear()
