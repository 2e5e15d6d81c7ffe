"""Ways to spend a budget over recorded sites, on sites small enough to count."""

from __future__ import annotations

import numpy as np

from experiments.many_sites.recording import RecordedSite
from experiments.many_sites.simulation import by_promise, equal_split, knowing, round_robin, targets


def site(gains: str) -> RecordedSite:
    """Make a record of what each request brings; the strategy expects what comes."""
    gained = np.array([int(gain) for gain in gains], np.uint8)
    expected = gained.astype(np.float32)
    expected[0] = np.nan
    return RecordedSite(gains, len(gains), expected, gained)


SITES = [site("0111"), site("0000000000"), site("00000111111111")]


def test_an_equal_split_loses_what_a_site_does_not_need() -> None:
    assert equal_split(SITES, 18) == [4, 6, 6]
    assert targets(SITES, [4, 6, 6]) == 4


def test_round_robin_gives_it_to_the_others() -> None:
    shares = round_robin(SITES, 18)
    assert sum(shares) == 18
    assert shares[0] == 4


def test_who_knows_the_curves_asks_no_poor_site() -> None:
    assert knowing(SITES, 18) == [4, 0, 14]
    assert targets(SITES, knowing(SITES, 4)) == 3
    assert targets(SITES, knowing(SITES, 14)) == 9


def test_promises_that_are_true_lead_to_nearly_as_much() -> None:
    shares = by_promise(SITES, 22, doubt=0.1)
    assert shares[0] == 4
    assert targets(SITES, shares) > targets(SITES, equal_split(SITES, 22))
    assert sum(by_promise(SITES, 1000)) == 28
