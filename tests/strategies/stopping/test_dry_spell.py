"""When our own rule stops a crawl, and what it says before."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coati.strategies.stopping.dry_spell import DrySpell
from coati.strategies.stopping.forecast import Estimate


def stop_at(targets: Callable[[int], int], until: int = 60_000) -> int | None:
    rule = DrySpell()
    return next((n for n in range(1, until + 1) if rule.observe(n, targets(n))), None)


def clusters(size: int, every: int, last: int) -> Callable[[int], int]:
    """``size`` targets on end, once in ``every`` requests, up to a request."""

    def targets(n: int) -> int:
        full, rest = divmod(min(n, last), every)
        return full * size + min(rest, size)

    return targets


def test_never_before_the_minimum() -> None:
    assert stop_at(lambda _: 0) == 1500


def test_a_steady_crawl_continues() -> None:
    assert stop_at(lambda n: n // 50) is None


def test_a_thin_but_steady_crawl_continues_above_the_floor_and_stops_below() -> None:
    assert stop_at(lambda n: n // 100) is None
    assert stop_at(lambda n: n // 2000) is not None


def test_a_steady_crawl_that_dries_up_is_stopped_when_the_window_is_dry() -> None:
    assert stop_at(lambda n: min(n, 1000) // 2) == 2000
    late = stop_at(lambda n: min(n, 9000) // 2)
    # A third of the crawl must be nearly dry.
    assert late is not None
    assert 12_500 <= late <= 13_500


def test_a_lumpy_crawl_is_given_more_time() -> None:
    steady = stop_at(clusters(1, 20, 4000))
    lumpy = stop_at(clusters(60, 1200, 4000))
    assert steady is not None
    assert lumpy is None or lumpy > 2 * steady


def test_a_dry_spell_between_sections_is_survived() -> None:
    # A section with forty targets at a time, a spell twice as long, then the rest of the site.
    def targets(n: int) -> int:
        first = clusters(40, 200, 2000)(n)
        return first if n < 5000 else first + (n - 5000) // 2

    assert stop_at(targets, 9000) is None


def test_the_estimate_is_of_recent_requests_and_says_its_doubt() -> None:
    rule = DrySpell()
    for n in range(1, 3001):
        rule.observe(n, n // 10)
    estimate = rule.estimate
    assert estimate is not None
    assert estimate.expected == pytest.approx(100, rel=0.02)
    assert estimate.low < 90
    assert estimate.high > 110


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.4])
def test_the_interval_holds_the_truth_about_nine_times_in_ten(rate: float) -> None:
    rng = Random(1)
    held = 0
    for _ in range(100):
        rule, targets = DrySpell(), 0
        for n in range(1, 1001):
            targets += rng.random() < rate
            rule.observe(n, targets)
        estimate = rule.estimate
        assert estimate is not None
        held += estimate.low <= 1000 * rate <= estimate.high
    assert held >= 82


def test_too_few_requests_give_no_estimate() -> None:
    rule = DrySpell()
    for n in range(1, 99):
        rule.observe(n, n)
    assert rule.estimate is None


def test_counts_that_jump_over_a_block_are_taken() -> None:
    rule = DrySpell()
    rule.observe(5, 1)
    rule.observe(507, 90)
    rule.observe(900, 90)
    assert rule.estimate is not None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100)), max_size=60))
def test_any_counts_give_an_ordered_estimate(steps: list[tuple[int, int]]) -> None:
    rule = DrySpell()
    requests = targets = 0
    for more_requests, more_targets in steps:
        requests += more_requests
        targets += more_targets
        rule.observe(requests, targets)
        if rule.estimate is not None:
            assert 0 <= rule.estimate.low <= rule.estimate.expected <= rule.estimate.high


def test_words() -> None:
    assert Estimate(0.0, 0.0, 0.4).in_words() == "less than 1 target per 1,000 further requests"
    assert Estimate(0.2, 0.0, 3.9).in_words() == "at most 4 targets per 1,000 further requests"
    assert Estimate(0.2, 0.0, 3.9).as_json() == {"expected": 0.2, "low": 0.0, "high": 3.9}
