"""What a forecast makes of what waits, and of how promises were kept lately."""

from dataclasses import dataclass

import pytest

from coati.strategies.stopping.forecast import (
    BLOCK_REQUESTS,
    BlockCounts,
    Estimate,
    Forecast,
    forecast_requests,
)
from coati.strategies.strategy import Outlook


@dataclass
class Waiting:
    """Stands for a strategy: so many links, each of which promises so much."""

    links: int
    each: float
    tells: bool = True

    def outlook(self, requests: int) -> Outlook | None:
        return Outlook(self.links, self.each * min(requests, self.links)) if self.tells else None


def foreseen(
    waiting: Waiting, *, requests: int = 600, score: float = 0.5, kept: float = 1.0, found_links: float = 1.0
) -> Estimate:
    """Crawl with one score, of which a share was kept; each request found so many new links."""
    blocks = BlockCounts()
    forecast = Forecast(blocks)
    last = None
    for number in range(1, requests + 1):
        blocks.observe(number, int(kept * score * number), score)
        if number % BLOCK_REQUESTS == 0:
            left = round(waiting.links + (requests - number) * (1 - found_links))
            last = forecast.look(Waiting(left, waiting.each))
    assert last is not None
    return last


def test_it_looks_a_third_of_the_way_ahead_within_bounds() -> None:
    assert [forecast_requests(done) for done in (40, 900, 90_000)] == [100, 300, 1000]


def test_promises_that_were_kept_are_believed() -> None:
    assert foreseen(Waiting(5000, 0.5)).expected == pytest.approx(500, rel=0.05)


def test_promises_that_were_broken_are_not() -> None:
    assert foreseen(Waiting(5000, 0.5), kept=0.0).expected < 50


def test_long_after_the_last_target_it_promises_hardly_anything() -> None:
    """It once said 178 targets per thousand, 790 requests after the last one."""
    blocks = BlockCounts()
    forecast = Forecast(blocks)
    for number in range(1, 1001):
        blocks.observe(number, min(number, 210), 0.9 if number <= 210 else 0.02)
    last = forecast.look(Waiting(400, 0.01))
    assert last is not None
    assert last.expected < 10
    assert last.high < 40


def test_what_is_better_than_promised_is_believed_a_little() -> None:
    better = foreseen(Waiting(5000, 0.1), score=0.1, kept=5.0).expected
    assert 100 < better <= 120


def test_with_little_waiting_and_no_new_links_the_end_is_near() -> None:
    ending = foreseen(Waiting(20, 0.5), found_links=0.0)
    # Twenty links of two hundred requests.
    assert ending.expected == pytest.approx(1000 * 20 * 0.5 / 200, rel=0.05)


def test_where_pages_keep_bringing_links_as_much_again_is_expected() -> None:
    growing = foreseen(Waiting(20, 0.5), found_links=1.0)
    assert growing.expected == pytest.approx(500, rel=0.05)


def test_nothing_waits() -> None:
    assert foreseen(Waiting(0, 0.5)).expected == 0


def test_after_a_resume_what_waits_is_taken_to_grow() -> None:
    blocks = BlockCounts()
    for number in range(1, 601):
        blocks.observe(number, number // 2, 0.5)
    last = Forecast(blocks).look(Waiting(20, 0.5))
    assert last is not None
    assert last.expected == pytest.approx(500, rel=0.05)


def test_a_strategy_that_does_not_tell_gets_no_forecast() -> None:
    blocks = BlockCounts()
    blocks.observe(BLOCK_REQUESTS, 3, 0.1)
    assert Forecast(blocks).look(Waiting(5, 0.5, tells=False)) is None


def test_the_range_holds_what_is_expected_and_is_wider_where_targets_come_in_clusters() -> None:
    steady, lumpy = BlockCounts(), BlockCounts()
    for number in range(1, 601):
        steady.observe(number, number // 10, 0.1)
        lumpy.observe(number, 20 * (number // 200), 0.1)
    ranges = [Forecast(blocks).look(Waiting(5000, 0.1)) for blocks in (steady, lumpy)]
    for estimate in ranges:
        assert estimate is not None
        assert estimate.low <= estimate.expected <= estimate.high
    assert ranges[0] is not None
    assert ranges[1] is not None
    assert ranges[1].high > 1.5 * ranges[0].high
