"""REG-RR and BANDIT: a part of a cycle is given to the pages that were visited longest ago.

REG-RR gives them a tenth. BANDIT chooses between shares: each is an arm, a cycle is a pull, and the reward is
how many new links the cycle brought, in parts of the most that any brought (UCB1 wants rewards up to 1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from coati.bandits.sleeping_ucb import SleepingUcb
from coati.strategies.revisits.by_age import ages_in_hours
from coati.strategies.revisits.scheduler import EXPLORED, Pick, Ranking, Scheduler
from coati.strategies.state import nested, part_of

if TYPE_CHECKING:
    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State

RATIOS = (0.6, 0.7, 0.8, 0.9, 1.0)


class Shares(Protocol):
    """Says which share of a cycle goes to what is expected to bring most."""

    def choose(self) -> float:
        """Return the share of the cycle that begins."""

    def reward(self, new_links: int) -> None:
        """Learn what the cycle of the last choice brought."""

    def save(self) -> State:
        """Return what `load` needs."""

    def load(self, state: State) -> None:
        """Take over a saved state."""


class PredictingScheduler(Scheduler, Protocol):
    """A scheduler that can learn of pages that another one took."""

    @property
    def has_learnt(self) -> bool:
        """Whether what it expects is worth a share of a cycle yet."""

    def explore(self, page: int) -> None:
        """Note that a page was taken that was not picked here."""


class FixedShare:
    """Always the same share.

    >>> FixedShare(0.9).choose()
    0.9
    """

    def __init__(self, share: float) -> None:
        self._share = share

    def choose(self) -> float:
        """Return it."""
        return self._share

    def reward(self, new_links: int) -> None:
        """Nothing to learn."""

    def save(self) -> State:
        """Nothing to save."""
        return {}

    def load(self, state: State) -> None:
        """Nothing to load."""


class BanditShare:
    """UCB1 over some shares.

    >>> shares = BanditShare()
    >>> shares.choose()
    0.6
    """

    def __init__(self) -> None:
        self._policy = SleepingUcb(math.sqrt(2))
        for arm in range(len(RATIOS)):
            self._policy.wake(arm)
        self._pulls = 0
        self._arm = 0
        self._most = 0.0

    def choose(self) -> float:
        """Pull the arm with the highest bound."""
        # A mean in parts of the maximum beside a bound is the mean itself beside the bound times the maximum.
        self._policy.exploration = math.sqrt(2) * max(self._most, 1.0)
        choice = self._policy.choose(max(self._pulls, 2))
        self._arm = 0 if choice is None else choice.arm
        self._policy.pull(self._arm)
        self._pulls += 1
        return RATIOS[self._arm]

    def reward(self, new_links: int) -> None:
        """Reward the arm."""
        self._most = max(self._most, float(new_links))
        self._policy.observe(self._arm, float(new_links))

    def save(self) -> State:
        return {**self._policy.save(), "pulls": self._pulls, "arm": self._arm, "most": self._most}

    def load(self, state: State) -> None:
        self._policy.load(state)
        self._pulls, self._arm, self._most = state["pulls"], state["arm"], state["most"]


class Exploring:
    """The first part of a cycle by what is expected, the rest by age."""

    def __init__(self, expected: PredictingScheduler, shares: Shares) -> None:
        self._expected = expected
        self._shares = shares
        self._by_age = Ranking(np.zeros(0))
        self._to_expect = 0
        self._taken = 0
        self._number: int | None = None
        self._found: set[int] = set()

    def begin(self, cycle: Cycle) -> None:
        """Reward the share of the last cycle, and divide this one; an untrained predictor gets all of it."""
        self._expected.begin(cycle)
        if self._number is not None:
            self._shares.reward(len(self._found))
        learnt = self._expected.has_learnt
        share = self._shares.choose() if learnt else 1.0
        self._number = cycle.number if learnt else None
        self._to_expect = round(share * cycle.per_cycle)
        self._by_age = Ranking(ages_in_hours(cycle))
        self._taken, self._found = 0, set()

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return what is expected to bring most, or the oldest."""
        if self._taken < self._to_expect:
            return self._expected.pick(cycle)
        page = self._by_age.first_open(cycle)
        return None if page is None else Pick(page, EXPLORED, float(self._by_age.scores[page]))

    def take(self, page: int) -> None:
        """Count the page to its part."""
        if self._taken < self._to_expect:
            self._expected.take(page)
        else:
            self._expected.explore(page)
        self._taken += 1

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Count what the cycle brings, and let the predictor learn."""
        self._expected.learn(visit, visits)
        if visit.cycle == self._number:
            self._found.update(visit.new)

    def save(self) -> State:
        return {
            **self._expected.save(),
            **nested("shares", self._shares.save()),
            **self._by_age.save("by_age"),
            "divided": [self._to_expect, self._taken, self._number, sorted(self._found)],
        }

    def load(self, state: State) -> None:
        self._expected.load(state)
        self._shares.load(part_of(state, "shares"))
        self._by_age = Ranking.load(state, "by_age")
        self._to_expect, self._taken, self._number, found = state["divided"]
        self._found = set(found)
