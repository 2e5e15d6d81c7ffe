from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.strategies.sb.path_groups import PathGroups
from coati.strategies.sb.tag_path_vectors import SparseVector
from tests.strategies.sb.literal_sb import LiteralGroups

DIMENSIONS = 12
VECTORS = st.lists(
    st.dictionaries(st.integers(0, DIMENSIONS - 1), st.integers(1, 9).map(lambda n: n / 8), min_size=1),
    min_size=1,
    max_size=60,
).map(lambda found: [SparseVector(tuple(d), list(d.values())) for d in found])


def dense(vector: SparseVector) -> np.ndarray:
    array = np.zeros(DIMENSIONS)
    array[list(vector.positions)] = vector.values
    return array


@given(vectors=VECTORS, theta=st.sampled_from([0.0, 0.3, 0.55, 0.75, 0.95, 1.0]))
def test_nearest_is_exact(vectors: list[SparseVector], theta: float) -> None:
    groups, literal = PathGroups(theta, DIMENSIONS), LiteralGroups(theta)
    for vector in vectors:
        similarities = literal.similarities(dense(vector))
        group = groups.join(vector)
        if group == len(literal.centroids):
            assert max(similarities, default=-1.0) < theta + 1e-9
        else:
            # Of groups that are equally near, rounding may prefer another than the literal text does.
            assert similarities[group] == pytest.approx(max(similarities), abs=1e-9)
            assert similarities[group] >= theta - 1e-6
        literal.put(group, dense(vector))


def test_threshold_zero_has_one_group_and_one_has_a_group_a_direction() -> None:
    vectors = [SparseVector((i,), [1.0]) for i in range(5)]
    one, many = PathGroups(0.0, DIMENSIONS), PathGroups(1.0, DIMENSIONS)
    assert {one.join(vector) for vector in vectors} == {0}
    assert [many.join(vector) for vector in vectors] == [0, 1, 2, 3, 4]
    assert many.join(SparseVector((3,), [2.0])) == 3


@given(vectors=VECTORS, cut=st.integers(0, 60))
def test_loaded_groups_continue_the_same(vectors: list[SparseVector], cut: int) -> None:
    groups, other = PathGroups(0.75, DIMENSIONS), PathGroups(0.75, DIMENSIONS)
    for vector in vectors[:cut]:
        groups.join(vector)
    other.load(groups.save())
    assert [other.join(v) for v in vectors[cut:]] == [groups.join(v) for v in vectors[cut:]]
