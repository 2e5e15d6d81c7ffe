from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.strategies.sb.tag_path_vectors import TagPathSpace
from tests.strategies.sb.literal_sb import LiteralPaths

TOKENS = st.sampled_from(["html", "body", "div", "div.a", "div.b#c", "ul", "li", "a", "a.x y", "td"])
PATHS = st.lists(st.lists(TOKENS, min_size=0, max_size=8).map(tuple), min_size=1, max_size=25)


def test_the_papers_worked_example_of_the_hash() -> None:
    space = TagPathSpace(ngram=2, log2_dimensions=2, word_bits=11)
    assert [space.bucket(i) for i in range(11)] == [0, 0, 1, 2, 3, 0, 1, 2, 3, 3, 0]
    assert space.bucket(2) == 1
    assert space.bucket(4) == space.bucket(8) == space.bucket(9) == 3


def test_the_papers_worked_example_of_the_mean() -> None:
    """Figure 3: of the vocabulary's 11 n-grams three share bucket 3; two ones among them give 2/3."""
    space = TagPathSpace(ngram=1, log2_dimensions=2, word_bits=11)
    space.vector(("t2", "t3", "t4"))  # positions 0 and 4 are the markers: <begin> t2 t3 t4 <end>
    space.vector(("t5", "t6", "t7", "t8", "t9", "t10"))
    assert len(space) == 11
    vector = space.vector(("t7", "t8"))
    counts = {p: v * 4 for p, v in zip(vector.positions, vector.values, strict=True)}
    assert counts[3] == pytest.approx(2 / 3)


def test_buckets_are_balanced_over_a_period() -> None:
    space = TagPathSpace()
    sizes = np.bincount([space.bucket(i) for i in range(1 << 15)], minlength=space.dimensions)
    assert set(sizes.tolist()) == {8}
    assert space.bucket(5) == space.bucket(5 + (1 << 15))


@pytest.mark.parametrize("ngram", [1, 2, 3])
@given(paths=PATHS)
def test_same_vectors_as_the_literal_text(ngram: int, paths: list[tuple[str, ...]]) -> None:
    space, literal = TagPathSpace(ngram, 3, 9), LiteralPaths(ngram, 3, 9)
    for path in paths:
        vector = space.vector(path)
        dense = np.zeros(space.dimensions)
        dense[list(vector.positions)] = vector.values
        np.testing.assert_allclose(dense, literal.vector(path), atol=1e-12)


@given(paths=PATHS, cut=st.integers(0, 25))
def test_a_loaded_space_continues_the_same(paths: list[tuple[str, ...]], cut: int) -> None:
    space, other = TagPathSpace(), TagPathSpace()
    for path in paths[:cut]:
        space.vector(path)
    other.load(space.save())
    for path in paths[cut:]:
        assert other.vector(path) == space.vector(path)


def test_a_path_of_many_tokens_and_an_empty_one() -> None:
    space = TagPathSpace()
    assert len(space.vector(()).positions) == 1
    assert sum(space.vector(tuple(f"t{i}" for i in range(500))).values) > 0
