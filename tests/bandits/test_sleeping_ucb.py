from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.bandits.sleeping_ucb import EPSILON, SleepingUcb


class LiteralUcb:
    """The formula, arm by arm, over all rewards that were ever seen."""

    def __init__(self, exploration: float) -> None:
        self.exploration = exploration
        self.awake: set[int] = set()
        self.pulls: dict[int, int] = {}
        self.rewards: dict[int, list[float]] = {}

    def scores(self, time: int) -> dict[int, float]:
        log = math.log(time) if time > 1 else 0.0
        return {
            arm: self.mean(arm) + self.exploration * math.sqrt(log / (self.pulls.get(arm, 0) + EPSILON))
            for arm in sorted(self.awake)
        }

    def mean(self, arm: int) -> float:
        rewards = self.rewards.get(arm, [])
        return sum(rewards) / len(rewards) if rewards else 0.0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["wake", "wake", "sleep", "pull", "observe", "choose", "reload"]), st.integers(0, 39)
    ),
    max_size=120,
)


@given(STEPS, st.sampled_from([0.0, 0.1, 2 * math.sqrt(2), 30.0]))
def test_it_agrees_with_the_formula(steps: list[tuple[str, int]], exploration: float) -> None:
    policy, literal = SleepingUcb(exploration), LiteralUcb(exploration)
    made = 0
    for time, (step, number) in enumerate(steps):
        # Arms appear one after the other.
        arm = number % made if made else 0
        if step == "wake":
            arm = min(number, made)
            made = max(made, arm + 1)
            policy.wake(arm)
            literal.awake.add(arm)
        elif not made:
            assert policy.choose(time) is None
        elif step == "sleep":
            policy.sleep(arm)
            literal.awake.discard(arm)
        elif step == "pull":
            policy.pull(arm)
            literal.pulls[arm] = literal.pulls.get(arm, 0) + 1
        elif step == "observe":
            policy.observe(arm, number / 3)
            literal.rewards.setdefault(arm, []).append(number / 3)
        elif step == "reload":
            saved = policy.save()
            policy = SleepingUcb(exploration)
            policy.load(saved)
        scores = literal.scores(time)
        choice = policy.choose(time)
        assert (choice is None) == (not scores)
        if choice is not None:
            assert choice.score == pytest.approx(scores[choice.arm])
            assert choice.score == pytest.approx(max(scores.values()))
        assert policy.awake_arms() == sorted(literal.awake)
        assert len(policy) == made
        for known in range(made):
            assert policy.mean(known) == pytest.approx(literal.mean(known))
            assert policy.pulls(known) == literal.pulls.get(known, 0)


def test_each_new_arm_is_tried_once_the_oldest_first() -> None:
    policy = SleepingUcb(2 * math.sqrt(2))
    for arm in range(5):
        policy.wake(arm)
    tried = []
    for time in range(2, 7):
        choice = policy.choose(time)
        assert choice is not None
        policy.pull(choice.arm)
        policy.observe(choice.arm, 100.0 if choice.arm == 0 else 0.0)
        tried.append(choice.arm)
    assert tried == [0, 1, 2, 3, 4]
    best = policy.choose(7)
    assert best is not None
    assert best.arm == 0


def test_a_pull_counts_before_its_reward_comes() -> None:
    policy = SleepingUcb(1.0)
    policy.wake(0)
    policy.wake(1)
    policy.pull(0)
    choice = policy.choose(10)
    assert choice is not None
    assert choice.arm == 1


def test_a_pull_without_a_reward_leaves_the_mean_as_it_was() -> None:
    policy = SleepingUcb(1.0)
    policy.wake(0)
    policy.pull(0)
    policy.observe(0, 6.0)
    policy.pull(0)
    assert policy.mean(0) == 6.0
    assert policy.pulls(0) == 2
    policy.pull(0)
    policy.observe(0, 0.0)
    assert policy.mean(0) == 3.0


def test_before_the_second_moment_the_mean_alone_decides() -> None:
    policy = SleepingUcb(2.0)
    policy.wake(0)
    policy.wake(1)
    policy.pull(1)
    policy.observe(1, 0.5)
    for time in (0, 1):
        choice = policy.choose(time)
        assert choice is not None
        assert (choice.arm, choice.score) == (1, 0.5)


def test_sleepers_remember_and_are_never_chosen() -> None:
    policy = SleepingUcb(1.0)
    policy.wake(0)
    policy.pull(0)
    policy.observe(0, 9.0)
    policy.sleep(0)
    policy.sleep(0)
    assert policy.choose(100) is None
    policy.observe(0, 1.0)
    assert policy.choose(100) is None
    policy.wake(0)
    policy.wake(0)
    choice = policy.choose(1)
    assert choice is not None
    assert choice.score == 5.0
    policy.sleep(0)
    assert policy.choose(1) is None


def test_an_arm_with_a_bad_mean_is_awake_all_the_same() -> None:
    policy = SleepingUcb(0.0)
    policy.wake(0)
    policy.observe(0, -5.0)
    choice = policy.choose(3)
    assert choice is not None
    assert choice.score == -5.0


def test_a_policy_without_arms_can_be_saved_and_grows_after_loading() -> None:
    policy = SleepingUcb(1.0)
    policy.load(SleepingUcb(1.0).save())
    assert policy.choose(5) is None
    for arm in range(100):
        policy.wake(arm)
    assert policy.awake_arms() == list(range(100))
    assert policy.pulls(99) == 0
    choice = policy.choose(5)
    assert choice is not None
    assert choice.arm == 0
