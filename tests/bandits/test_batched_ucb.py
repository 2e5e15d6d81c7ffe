from __future__ import annotations

import math

import pytest

from coati.bandits.batched_ucb import BatchedUcb


def test_untried_arms_first_in_their_order() -> None:
    policy = BatchedUcb()
    policy.observe(0, 5.0, 5)
    choice = policy.choose([0, 3, 1])
    assert choice is not None
    assert choice.arm == 3


def test_the_bound_counts_results_and_not_pulls() -> None:
    policy = BatchedUcb()
    policy.observe(0, 6.0, 20)
    policy.observe(0, 2.0, 10)
    policy.observe(1, 1.0, 5)
    assert policy.score(0) == 8 / 30 + math.sqrt(2 * math.log(35) / 30)
    assert policy.score(1) == 1 / 5 + math.sqrt(2 * math.log(35) / 5)


def test_a_pull_without_results_counts_as_a_bad_one() -> None:
    policy = BatchedUcb()
    policy.observe(0, 0.0, 0)
    policy.observe(1, 1.0, 1)
    assert policy.score(0) < policy.score(1) < math.inf


def test_all_arms_asleep() -> None:
    assert BatchedUcb().choose([]) is None


def test_loads_as_it_was_saved() -> None:
    policy, loaded = BatchedUcb(), BatchedUcb()
    policy.observe(2, 1.5, 4)
    policy.observe(0, 0.5, 3)
    loaded.load(policy.save())
    assert [loaded.score(arm) for arm in (0, 2)] == [policy.score(arm) for arm in (0, 2)]


def test_rare_rewards_have_a_bonus_by_their_variance() -> None:
    policy = BatchedUcb(rare=True)
    policy.observe(0, 6.0, 90)
    policy.observe(1, 4.0, 10)
    assert policy.score(0) == pytest.approx(6 / 90 + math.sqrt(2 * 0.1 * 0.9 * math.log(100) / 90))
    assert policy.score(2) == math.inf


def test_rare_rewards_that_never_came_still_leave_a_bonus() -> None:
    policy = BatchedUcb(rare=True)
    policy.observe(0, 0.0, 50)
    policy.observe(1, 0.0, 10)
    choice = policy.choose([0, 1])
    assert choice is not None
    assert choice.arm == 1
