"""Groups of similar tag paths: each path joins the group with the nearest centroid, or founds one.

The search is exact and seldom looks at many groups. Groups are kept as sums of their members' vectors (the
cosine ignores scale), sparsely, with an inverted index from positions to groups. The query's positions are
gone through from the rarest to the commonest, and the groups listed there compared. A group that was not seen
yet shares only the positions that are left; by Cauchy and Schwarz its cosine is at most the length of that
part of the query. As soon as that is below the best one found, or below the threshold, the search is over: a
path that the site has used before is recognised by its rarest n-gram. Where only common positions can tell,
all groups that share any are compared at once, in arrays.
"""

from __future__ import annotations

import math
from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coati.strategies.sb.tag_path_vectors import SparseVector

# A list longer than this is worth the overhead of arrays.
_LONG_LIST = 24

# Rounding may not lose a group that is exactly at the threshold.
_SLACK = 1e-9


class GroupIndex(Protocol):
    """Finds the group of a vector; exact or approximate."""

    def __len__(self) -> int:
        """Count the groups."""

    def join(self, vector: SparseVector) -> int:
        """Put a vector into the nearest group that is near enough, or into a new one; return its number."""

    def save(self) -> Mapping[str, Any]:
        """Return what `load` needs."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over saved groups."""


class PathGroups:
    """Exact nearest groups by cosine.

    >>> from coati.strategies.sb.tag_path_vectors import SparseVector
    >>> groups = PathGroups(threshold=0.75)
    >>> groups.join(SparseVector((0, 1), [1.0, 1.0])), groups.join(SparseVector((0, 1), [1.0, 0.9]))
    (0, 0)
    >>> groups.join(SparseVector((1, 2), [1.0, 1.0]))
    1
    """

    def __init__(self, threshold: float = 0.75, dimensions: int = 4096) -> None:
        self.threshold = threshold
        # By position: the groups that are not zero there, and their values.
        self._listed: list[array[int]] = [array("I") for _ in range(dimensions)]
        self._values: list[array[float]] = [array("d") for _ in range(dimensions)]
        # By group: where in those lists it is, and the square of its length.
        self._places: list[dict[int, int]] = []
        self._squares = array("d")

    def __len__(self) -> int:
        return len(self._places)

    def join(self, vector: SparseVector) -> int:
        """Add a vector to its nearest group if that is near enough, else to a new group."""
        group = self.nearest(vector)
        if group is None:
            group = len(self._places)
        self.put(group, vector)
        return group

    def put(self, group: int, vector: SparseVector) -> None:
        """Add a vector to this group; the number after the last makes a new one."""
        if group == len(self._places):
            self._places.append({})
            self._squares.append(0.0)
        places = self._places[group]
        change = 0.0
        for position, value in zip(vector.positions, vector.values, strict=True):
            values = self._values[position]
            place = places.get(position)
            if place is None:
                places[position] = len(values)
                self._listed[position].append(group)
                values.append(value)
                change += value * value
            else:
                old = values[place]
                values[place] = old + value
                change += value * (2 * old + value)
        self._squares[group] += change

    def nearest(self, vector: SparseVector) -> int | None:
        """Find the nearest group, the oldest of equals; None if none is within the threshold."""
        listed = self._listed
        least = self.threshold - _SLACK
        square = sum(value * value for value in vector.values)
        left = square
        best, best_similarity = None, least
        compared: set[int] = set()
        rare_first = sorted(
            (len(listed[position]), position, value)
            for position, value in zip(vector.positions, vector.values, strict=True)
        )
        for count, position, value in rare_first:
            if left < square * best_similarity * abs(best_similarity):
                break
            if count > _LONG_LIST:
                return self._nearest_of_all(vector, square)
            left -= value * value
            for group in listed[position]:
                if group in compared:
                    continue
                compared.add(group)
                similarity = self.similarity(group, vector)
                if (similarity, -group) > (best_similarity, -(best or 0)):
                    best, best_similarity = group, similarity
        if best is None and least < 0 and self._places:
            return 0
        return best

    def _nearest_of_all(self, vector: SparseVector, square: float) -> int | None:
        """Compare every group at once."""
        products = np.zeros(len(self._places))
        for position, value in zip(vector.positions, vector.values, strict=True):
            groups = np.frombuffer(self._listed[position], np.uint32)
            products[groups] += value * np.frombuffer(self._values[position])
        similarities = products / np.sqrt(np.frombuffer(self._squares) * square)
        best = int(similarities.argmax())
        return best if similarities[best] >= self.threshold - _SLACK else None

    def similarity(self, group: int, vector: SparseVector) -> float:
        """Return the cosine of a vector and a group's centroid."""
        places = self._places[group]
        product = square = 0.0
        for position, value in zip(vector.positions, vector.values, strict=True):
            square += value * value
            place = places.get(position)
            if place is not None:
                product += value * self._values[position][place]
        return product / math.sqrt(square * self._squares[group])

    def sums(self, group: int) -> dict[int, float]:
        """Return the sum of a group's vectors by position."""
        return {position: self._values[position][place] for position, place in self._places[group].items()}

    def save(self) -> dict[str, Any]:
        """Return the groups' sums as one sparse table."""
        sums = [self.sums(group) for group in range(len(self))]
        return {
            "group_sizes": np.array([len(each) for each in sums], np.int32),
            "group_positions": np.array([p for each in sums for p in each], np.int32),
            "group_values": np.array([v for each in sums for v in each.values()], np.float64),
            "group_squares": np.array(self._squares, np.float64),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        if self._places:
            raise ValueError("groups are loaded into a new strategy")
        self._squares = array("d", state["group_squares"].tobytes())
        entries = zip(state["group_positions"].tolist(), state["group_values"].tolist(), strict=True)
        for group, size in enumerate(state["group_sizes"].tolist()):
            places: dict[int, int] = {}
            for position, value in islice(entries, size):
                places[position] = len(self._listed[position])
                self._listed[position].append(group)
                self._values[position].append(value)
            self._places.append(places)
