"""UCB1 whose pulls bring many results at once, as the discovery papers (DISCO, DSDD) use it.

A pull that brings ``m`` results counts as ``m``, and its reward is the sum over them. So the bonus shrinks
with the pages that an arm has shown, not with how often it was pulled.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from coati.bandits.policy import Choice

if TYPE_CHECKING:
    from collections.abc import Collection


class BatchedUcb:
    """Chooses among a few arms by ``mean reward + sqrt(2 ln n / n_arm)``; untried arms first, in their order.

    ``rare``: most results pay nothing. The bonus of UCB1 is made for rewards that differ as much as they can,
    and would outweigh such means for thousands of results; it shrinks with their variance then.

    >>> policy = BatchedUcb()
    >>> policy.choose([2, 5])
    Choice(arm=2, score=inf)
    >>> policy.observe(2, reward=6.0, results=10)
    >>> policy.choose([2, 5]).arm
    5
    """

    def __init__(self, exploration: float = 2.0, *, rare: bool = False) -> None:
        self._exploration = exploration
        self._rare = rare
        self._results: dict[int, int] = {}
        self._rewards: dict[int, float] = {}

    def choose(self, awake: Collection[int]) -> Choice | None:
        """Pick one of the arms that are awake; None if all sleep."""
        best: Choice | None = None
        for arm in awake:
            score = self.score(arm)
            if best is None or score > best.score:
                best = Choice(arm, score)
        return best

    def score(self, arm: int) -> float:
        """Return the upper bound of an arm; infinite where it was never tried."""
        results = self._results.get(arm, 0)
        if not results:
            return math.inf
        everything = sum(self._results.values())
        bonus = self._exploration * math.log(everything) / results
        if self._rare:
            mean = sum(self._rewards.values()) / everything
            # Before any reward came, one is assumed.
            bonus *= max(mean * (1 - mean), 1 / everything)
        return self._rewards[arm] / results + math.sqrt(bonus)

    def observe(self, arm: int, reward: float, results: int) -> None:
        """Learn what one pull brought; one that brought nothing counts as one bad result."""
        self._results[arm] = self._results.get(arm, 0) + max(1, results)
        self._rewards[arm] = self._rewards.get(arm, 0.0) + reward

    def save(self) -> list[list[Any]]:
        """Return the counts and rewards of the arms."""
        return [[arm, results, self._rewards[arm]] for arm, results in self._results.items()]

    def load(self, saved: list[list[Any]]) -> None:
        self._results = {arm: results for arm, results, _ in saved}
        self._rewards = {arm: reward for arm, _, reward in saved}
