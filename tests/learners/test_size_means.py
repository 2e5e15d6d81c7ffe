from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coati.learners.size_means import SizeMeans
from coati.strategies.state import pack, unpack

PAGES, FILES = 0, 1


def keys(general: int, specific: int) -> np.ndarray:
    return np.array([general, specific], np.uint32)


def one(sizes: SizeMeans, size_class: int, general: int, specific: int) -> float:
    return float(sizes.expected(size_class, keys(general, specific)[:, None])[0])


def test_before_anything_was_seen_every_answer_is_of_a_typical_size() -> None:
    sizes = SizeMeans(classes=2)
    assert one(sizes, PAGES, 1, 2) == pytest.approx(30_000, rel=0.01)
    assert sizes.overall(FILES) == pytest.approx(30_000, rel=0.01)


def test_a_specific_key_outweighs_the_general_one_and_that_the_class() -> None:
    sizes = SizeMeans(classes=2)
    for _ in range(30):
        sizes.learn(FILES, keys(1, 11), 1_000)
        sizes.learn(FILES, keys(1, 12), 1_000_000)
    for _ in range(120):
        sizes.learn(FILES, keys(2, 21), 50)
    small, large, new_key = (one(sizes, FILES, 1, specific) for specific in (11, 12, 13))
    assert small < 2_500 < new_key < 500_000 < large
    assert one(sizes, FILES, 3, 31) < new_key


def test_classes_do_not_tell_of_each_other() -> None:
    sizes = SizeMeans(classes=2)
    for _ in range(30):
        sizes.learn(FILES, keys(1, 2), 5_000_000)
    assert one(sizes, PAGES, 1, 2) == pytest.approx(30_000, rel=0.01)


def test_a_key_follows_a_section_that_changes() -> None:
    sizes = SizeMeans(classes=1)
    for size_bytes in [100] * 2_000 + [1_000_000] * 200:
        sizes.learn(0, keys(1, 2), size_bytes)
    assert one(sizes, 0, 1, 2) > 300_000


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**50)), max_size=40))
def test_expectations_stay_within_what_was_seen_and_survive_saving(
    history: list[tuple[int, int, int]],
) -> None:
    sizes, twin = SizeMeans(classes=1), SizeMeans(classes=1)
    for general, specific, size_bytes in history:
        sizes.learn(0, keys(general, specific), size_bytes)
    twin.load(unpack(pack(sizes.save())))
    seen = [size_bytes for *_, size_bytes in history] + [30_000]
    for general, specific, _ in [*history, (9, 9, 0)]:
        expected = one(sizes, 0, general, specific)
        assert 0.99 * min(seen) - 1 <= expected <= 1.01 * max(seen) + 1
        assert one(twin, 0, general, specific) == expected
    assert twin.overall(0) == sizes.overall(0)
