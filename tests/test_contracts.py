"""Every strategy and policy that we ship keeps to its contract, on generated sites, with several seeds."""

from __future__ import annotations

import pytest

from coati.assembly import LIVE_STRATEGIES, build_strategy
from coati.bandits.sleeping_ucb import SleepingUcb
from coati.testing.checks import check_policy, check_strategy
from coati.testing.revisiting import RoundRobin


@pytest.mark.parametrize("seed", [1, 5])
@pytest.mark.parametrize("name", LIVE_STRATEGIES)
def test_strategy(name: str, seed: int) -> None:
    check_strategy(lambda site, number: build_strategy(name, [site.start_url], number), seed=seed)


def test_a_strategy_that_visits_again() -> None:
    check_strategy(lambda site, _seed: RoundRobin([site.start_url]), in_flight=[1, 5], revisits=True)


def test_policy() -> None:
    check_policy(lambda _seed: SleepingUcb(exploration=2.0))
