"""Groups of tag paths over an approximate index (HNSW), as the paper has it; needs the extra ``hnsw``.

The exact search (`coati.strategies.sb.path_groups`) is faster at every size that we measured, since HNSW has
to move a centroid in its graph whenever a path joins. It is here for comparison with the published setting.

Taking a point out of the graph tears it: after a few hundred moves half of the groups could not be reached.
So a moved centroid is added as one more point, the old ones stay as ways to it, and the graph is built again
when most of its points are old.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.errors import UsageError
from coati.strategies.sb.path_groups import PathGroups

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from coati.strategies.sb.tag_path_vectors import SparseVector

# hnswlib's defaults, which the published code uses.
_CONNECTIVITY = 16
_EXPANSION = 200
# How many points a group may have in the graph, on average, before it is built again.
_OLD_POINTS = 5
# The index returns a few candidates, and the exact nearest of them is taken: its own order misses some.
_CANDIDATES = 32


class HnswGroups:
    """Nearest groups by cosine over usearch. Sums are kept exactly; only the search is approximate."""

    def __init__(self, threshold: float = 0.75, dimensions: int = 4096) -> None:
        self.threshold = threshold
        self._dimensions = dimensions
        self._exact = PathGroups(threshold, dimensions)
        self._index = self._new_index()
        # The group that each point of the graph is or was the centroid of.
        self._group_of: list[int] = []

    def __len__(self) -> int:
        return len(self._exact)

    def join(self, vector: SparseVector) -> int:
        """Put a vector into the group that the index finds nearest, or into a new one."""
        group = self._nearest(vector)
        if group is None:
            group = len(self._exact)
        self._exact.put(group, vector)
        self._add_point(group)
        if len(self._group_of) > _OLD_POINTS * len(self._exact) + _EXPANSION:
            self._rebuild()
        return group

    def _nearest(self, vector: SparseVector) -> int | None:
        if not len(self._exact):
            return None
        query = np.zeros(self._dimensions, np.float32)
        query[list(vector.positions)] = vector.values
        points: list[int] = self._index.search(query, _CANDIDATES).keys.tolist()
        found = sorted({self._group_of[point] for point in points})
        best = max(found, key=lambda group: self._exact.similarity(group, vector), default=None)
        if best is None or self._exact.similarity(best, vector) < self.threshold - 1e-9:
            return None
        return best

    def _rebuild(self) -> None:
        self._index = self._new_index()
        self._group_of = []
        for group in range(len(self._exact)):
            self._add_point(group)

    def _add_point(self, group: int) -> None:
        self._index.add(len(self._group_of), self._centroid(group))
        self._group_of.append(group)

    def _centroid(self, group: int) -> npt.NDArray[np.float32]:
        centroid = np.zeros(self._dimensions, np.float32)
        sums = self._exact.sums(group)
        length = math.sqrt(sum(value * value for value in sums.values()))
        centroid[list(sums)] = np.array(list(sums.values())) / length
        return centroid

    def _new_index(self) -> Any:  # noqa: ANN401 - the library is optional
        try:
            from usearch.index import Index
        except ImportError as error:
            raise UsageError("the HNSW index needs the extra: pip install 'coati[hnsw]'") from error
        return Index(
            ndim=self._dimensions,
            metric="cos",
            dtype="f32",
            connectivity=_CONNECTIVITY,
            expansion_add=_EXPANSION,
            expansion_search=_EXPANSION,
        )

    def save(self) -> Mapping[str, Any]:
        """Return the groups' sums; the index is built again from them."""
        return self._exact.save()

    def load(self, state: Mapping[str, Any]) -> None:
        self._exact.load(state)
        self._rebuild()
