from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.strategies.stopping.early_stop import PaperEarlyStop


def stops_at(targets_after: Callable[[int], int], most: int = 60_000, **settings: float) -> int | None:
    rule = PaperEarlyStop(**settings)  # type: ignore[arg-type] # ints where ints are due
    for requests in range(1, most + 1):
        if rule.observe(requests, targets_after(requests)):
            return requests
    return None


def test_a_site_without_targets_is_given_up_after_fifteen_checks() -> None:
    assert stops_at(lambda _: 0) == 15_000


def test_a_site_that_keeps_yielding_is_never_given_up() -> None:
    assert stops_at(lambda requests: 3 * requests // 10) is None
    assert stops_at(lambda requests: requests // 5) is None


def test_a_site_that_gives_too_little_is_given_up() -> None:
    assert stops_at(lambda requests: 19 * requests // 100) == 15_000


def test_the_mean_falls_slowly_from_what_the_site_gave_at_first() -> None:
    # 1 target per request for 2,000 requests, then none: the mean after n dry checks is 0.95 ** n, which is
    # below 0.2 from n = 32 on, so the fifteenth low check is the 48th.
    assert 0.95**31 > 0.2 > 0.95**32
    assert stops_at(lambda requests: min(requests, 2000)) == (2 + 32 + 14) * 1000


def test_checks_must_be_low_on_end() -> None:
    # Every tenth interval of ten gives well: with a quick mean no five checks on end are low.
    def targets(requests: int) -> int:
        intervals, rest = divmod(requests, 10)
        return 10 * (intervals // 3) + (rest if intervals % 3 == 2 else 0)

    assert stops_at(targets, 5_000, interval=10, smoothing=1.0, floor=0.2, patience=3) is None
    assert stops_at(targets, 5_000, interval=10, smoothing=1.0, floor=0.2, patience=2) == 20


@pytest.mark.parametrize("patience", [1, 2, 7])
def test_it_cannot_stop_before_its_patience_is_over(patience: int) -> None:
    assert stops_at(lambda _: 0, interval=50, patience=patience) == 50 * patience


@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=40),
    st.integers(1, 6),
    st.floats(0.01, 1),
    st.floats(0.05, 1.5),
    st.integers(1, 4),
)
def test_it_agrees_with_the_papers_words(
    found: list[int], interval: int, smoothing: float, floor: float, patience: int
) -> None:
    """Every ``interval`` requests: slope, exponential mean, and a count of low checks on end."""
    running = [0]
    for targets in found:
        running.append(running[-1] + targets)
    mean, low, expected = None, 0, None
    for requests in range(interval, len(running), interval):
        slope = (running[requests] - running[requests - interval]) / interval
        mean = slope if mean is None else smoothing * slope + (1 - smoothing) * mean
        low = low + 1 if mean < floor else 0
        if low >= patience:
            expected = requests
            break
    settings = {"interval": interval, "smoothing": smoothing, "floor": floor, "patience": patience}
    assert stops_at(lambda requests: running[requests], len(found), **settings) == expected
