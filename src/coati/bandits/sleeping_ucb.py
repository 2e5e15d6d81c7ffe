"""AUER: upper confidence bounds over the arms that are awake.

The policy is that of Kleinberg et al. 2010, as the EDBT 2026 paper uses it.
An arm's score is its mean reward plus ``exploration * sqrt(ln time / (pulls + epsilon))``. With the paper's
epsilon an arm that was never pulled outbids all others, so that each new arm is tried once; the oldest goes
first. Pulls and rewards are counted apart (`n_sel` and `n_rew` of our specification): a pull that led to no
page has used up the arm's bonus but says nothing about its mean.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.bandits.policy import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping

EPSILON = 1e-6

# Arms that there is room for at first; the room doubles when it is used up.
_ROOM = 16


class SleepingUcb:
    """Upper confidence bounds over arms that sleep and wake.

    >>> policy = SleepingUcb(exploration=2.0)
    >>> for arm in range(2): policy.wake(arm)
    >>> policy.pull(0); policy.observe(0, 5.0)
    >>> policy.choose(time=2).arm
    1
    >>> policy.sleep(1)
    >>> policy.choose(time=2).arm
    0
    """

    def __init__(self, exploration: float) -> None:
        self.exploration = exploration
        self._arms = 0
        self._mean = np.zeros(_ROOM)
        self._pulls = np.zeros(_ROOM, np.int64)
        self._rewards = np.zeros(_ROOM, np.int64)
        # What a choice scans: the mean, or minus infinity for a sleeper, and the width of the bound.
        self._awake_mean = np.full(_ROOM, -np.inf)
        self._width = np.full(_ROOM, 1 / math.sqrt(EPSILON))
        self._awake = 0

    def __len__(self) -> int:
        """Count the arms, asleep or awake."""
        return self._arms

    def choose(self, time: int) -> Choice | None:
        """Pick the awake arm with the highest bound, the oldest of equals."""
        if not self._awake:
            return None
        factor = self.exploration * math.sqrt(math.log(time)) if time > 1 else 0.0
        scores = self._width[: self._arms] * factor
        scores += self._awake_mean[: self._arms]
        arm = int(scores.argmax())
        return Choice(arm, float(scores[arm]))

    def awake_arms(self) -> list[int]:
        """List the arms that are awake, oldest first."""
        return np.flatnonzero(self._awake_mean[: self._arms] > -np.inf).tolist()

    def pull(self, arm: int) -> None:
        """Count a pull."""
        self._pulls[arm] += 1
        self._width[arm] = 1 / math.sqrt(self._pulls[arm] + EPSILON)

    def undo_pull(self, arm: int) -> None:
        """Take back a pull."""
        self._pulls[arm] -= 1
        self._width[arm] = 1 / math.sqrt(self._pulls[arm] + EPSILON)

    def observe(self, arm: int, reward: float) -> None:
        """Move the arm's mean towards the reward."""
        self._rewards[arm] += 1
        self._mean[arm] += (reward - self._mean[arm]) / self._rewards[arm]
        if self._awake_mean[arm] > -np.inf:
            self._awake_mean[arm] = self._mean[arm]

    def wake(self, arm: int) -> None:
        """Let an arm be chosen."""
        while arm >= len(self._mean):
            self._grow()
        self._arms = max(self._arms, arm + 1)
        if self._awake_mean[arm] == -np.inf:
            self._awake_mean[arm] = self._mean[arm]
            self._awake += 1

    def sleep(self, arm: int) -> None:
        """Keep an arm from being chosen."""
        if self._awake_mean[arm] > -np.inf:
            self._awake_mean[arm] = -np.inf
            self._awake -= 1

    def mean(self, arm: int) -> float:
        """Return the mean reward of an arm."""
        return float(self._mean[arm])

    def pulls(self, arm: int) -> int:
        """Count the pulls of an arm."""
        return int(self._pulls[arm])

    def _grow(self) -> None:
        size = max(len(self._mean), _ROOM)
        self._mean = np.concatenate([self._mean, np.zeros(size)])
        self._pulls = np.concatenate([self._pulls, np.zeros(size, np.int64)])
        self._rewards = np.concatenate([self._rewards, np.zeros(size, np.int64)])
        self._awake_mean = np.concatenate([self._awake_mean, np.full(size, -np.inf)])
        self._width = np.concatenate([self._width, np.full(size, 1 / math.sqrt(EPSILON))])

    def save(self) -> dict[str, Any]:
        """Return the arms' statistics."""
        arms = slice(self._arms)
        return {
            "arm_mean": self._mean[arms].copy(),
            "arm_pulls": self._pulls[arms].copy(),
            "arm_rewards": self._rewards[arms].copy(),
            "arm_awake": self._awake_mean[arms] > -np.inf,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._mean = np.array(state["arm_mean"], np.float64)
        self._pulls = np.array(state["arm_pulls"], np.int64)
        self._rewards = np.array(state["arm_rewards"], np.int64)
        self._arms = len(self._mean)
        awake = np.array(state["arm_awake"], bool)
        self._awake = int(awake.sum())
        self._awake_mean = np.where(awake, self._mean, -np.inf)
        self._width = 1 / np.sqrt(self._pulls + EPSILON)
