from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from coati.strategies.chance import draw, draw_many


@given(st.integers(), st.integers(0, 2**62), st.integers(1, 2**40))
def test_a_draw_is_below_its_bound_and_always_the_same(seed: int, counter: int, below: int) -> None:
    drawn = draw(seed, counter, below)
    assert 0 <= drawn < below
    assert draw(seed, counter, below) == drawn


@given(st.integers(), st.integers(0, 2**62), st.integers(1, 40), st.integers(0, 20))
def test_many_at_once_are_the_same_as_one_by_one(seed: int, counter: int, bits: int, count: int) -> None:
    one_by_one = [draw(seed, counter + at, 1 << bits) for at in range(count)]
    assert draw_many(seed, counter, bits, count) == one_by_one


def test_draws_are_those_of_every_machine_and_version() -> None:
    # A crawl that was begun under one version goes on under the next: these may never change.
    # For seed 0 they are the published first numbers of splitmix64.
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    assert [draw(0, counter, 2**64) for counter in range(4)] == published
    assert [draw(42, counter, 1000) for counter in range(6)] == [192, 495, 664, 148, 995, 721]
    assert draw(-1, 10**18, 10**6) == 880674


def test_draws_are_uniform_over_counters_and_over_seeds() -> None:
    for drawn in (
        [draw(7, counter, 10) for counter in range(20_000)],
        [draw(seed, 7, 10) for seed in range(20_000)],
        [draw(seed, seed, 10) for seed in range(20_000)],
    ):
        counts = Counter(drawn)
        # Chi-squared with nine degrees of freedom is below 33.7 in 9,999 of 10,000 cases.
        assert sum((counts[value] - 2000) ** 2 / 2000 for value in range(10)) < 33.7


def test_one_draw_says_nothing_about_the_next() -> None:
    pairs = Counter((draw(3, n, 4), draw(3, n + 1, 4)) for n in range(16_000))
    assert len(pairs) == 16
    assert sum((count - 1000) ** 2 / 1000 for count in pairs.values()) < 44.3
    seeds = Counter((draw(n, 5, 4), draw(n + 1, 5, 4)) for n in range(16_000))
    assert sum((count - 1000) ** 2 / 1000 for count in seeds.values()) < 44.3
