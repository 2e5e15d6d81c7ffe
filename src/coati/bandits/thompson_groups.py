"""Thompson sampling over very many arms, without a draw for each.

Arms with equal counts have the same Beta distribution, and the best of n of them is distributed as the
largest of n draws. So each group of equals gets one draw of its maximum, the largest of these wins, and any
arm of that group is as good as another: in distribution that is the same as a draw for each arm. Among half a
million hosts there are a few thousand different counts.

Where each draw is multiplied by a weight of its arm (0 to 1), arms are equal if their weights fall into the
same of `LEVELS` steps, and the middle of the step represents the weight. The arm that wins then has a product
that is at most 1/LEVELS below the best one.
"""

from __future__ import annotations

from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.bandits.beta_tails import log_coefficient, point_with_share_above, share_above, shares_above
from coati.bandits.policy import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Key = tuple[int, int, int]

LEVELS = 64
_ABSENT = -1
# Groups up to this size are drawn arm by arm: quicker than finding the point of their maximum.
_DRAWN_EACH = 32
_ALPHA, _BETA, _SIZE, _WEIGHT, _CONSTANT, _COLUMNS = range(6)
# The place of a removed group: its draws are below those of all others.
_NO_KEY = (-1, -1, -1)
_NEVER_WINS = (1, 1, 1, -1.0, 0.0)


class ThompsonGroups:
    """Arms grouped by their counts; ``weighted`` says whether a draw is multiplied by the arm's weight.

    >>> arms = ThompsonGroups(weighted=False)
    >>> for arm in range(100): arms.put(arm, good=0, bad=3)
    >>> arms.put(100, good=40, bad=1)
    >>> arms.choose(np.random.default_rng(1)).arm, len(arms), arms.groups
    (100, 101, 2)
    """

    def __init__(self, *, weighted: bool) -> None:
        self._weighted = weighted
        self._slot_of: dict[Key, int] = {}
        # By group: an empty one has no key, and waits to be used again.
        self._keys: list[Key] = []
        self._free: list[int] = []
        self._members: list[array[int]] = []
        # A row per group: its parameters, how many arms it has, and what its draws are multiplied by.
        self._table = np.zeros((16, _COLUMNS))
        # By arm: its group, and its place there.
        self._groups_of = array("i")
        self._places = array("i")
        self._count = 0

    def __len__(self) -> int:
        """Count the arms."""
        return self._count

    @property
    def groups(self) -> int:
        """How many different counts there are."""
        return len(self._slot_of)

    def put(self, arm: int, good: int, bad: int, weight: float = 1.0) -> None:
        """Add an arm, or change what is known of it."""
        level = min(int(weight * LEVELS), LEVELS - 1) if self._weighted else LEVELS
        key = (good, bad, level)
        slot = self._groups_of[arm] if arm < len(self._groups_of) else _ABSENT
        if slot != _ABSENT:
            if self._keys[slot] == key:
                return
            self.remove(arm)
        self._join(arm, self._slot(key))

    def remove(self, arm: int) -> None:
        """Remove an arm."""
        slot, place = self._groups_of[arm], self._places[arm]
        members = self._members[slot]
        last = members.pop()
        if last != arm:
            members[place] = last
            self._places[last] = place
        self._groups_of[arm] = _ABSENT
        self._table[slot, _SIZE] -= 1
        self._count -= 1
        if not members:
            self._drop(slot)

    def choose(self, chance: np.random.Generator) -> Choice:
        """Draw for all arms; return the one that wins, with its draw."""
        slot, value = self._winner(chance)
        members = self._members[slot]
        return Choice(members[int(chance.integers(len(members)))], value)

    def save(self) -> dict[str, Any]:
        """Return the groups in their order and their arms in theirs, on which draws depend."""
        return {
            "group_keys": np.array(self._keys, np.int64).reshape(-1, 3),
            "group_sizes": [len(members) for members in self._members],
            "group_members": np.array([arm for members in self._members for arm in members], np.int32),
            "groups_free": list(self._free),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Load saved groups; there may be no arms yet."""
        members = iter(state["group_members"].tolist())
        for key, size in zip(state["group_keys"].tolist(), state["group_sizes"], strict=True):
            slot = self._new_slot()
            self._table[slot] = _NEVER_WINS
            if size:
                self._enter(slot, tuple(key))
            for arm in islice(members, size):
                self._join(arm, slot)
        self._free = list(state["groups_free"])

    def _winner(self, chance: np.random.Generator) -> tuple[int, float]:
        table = self._table[: len(self._keys)]
        alpha, beta, size = table[:, _ALPHA], table[:, _BETA], table[:, _SIZE]
        # The logarithm of U^(1/n), where U^(1/n) is the probability of drawing no more than the maximum.
        log_rank = np.log1p(-chance.random(len(table))) / size
        highest = np.full(len(table), -1.0)
        only_bad, only_good = alpha == 1, beta == 1
        highest[only_bad] = 1 - (-np.expm1(log_rank[only_bad])) ** (1 / beta[only_bad])
        highest[only_good] = np.exp(log_rank[only_good] / alpha[only_good])
        mixed = ~(only_bad | only_good)
        few = np.flatnonzero(mixed & (size <= _DRAWN_EACH))
        if len(few):
            highest[few] = _largest_of_each(chance, alpha[few], beta[few], size[few].astype(np.intp))
        highest *= table[:, _WEIGHT]
        slot = int(highest.argmax())
        many = np.flatnonzero(mixed & (size > _DRAWN_EACH))
        return self._improved(slot, float(highest[slot]), many, -np.expm1(log_rank[many]))

    def _improved(
        self, slot: int, best: float, many: npt.NDArray[np.intp], shares: Numbers
    ) -> tuple[int, float]:
        """Let large groups compete; only of one that beats the best so far is the maximum worked out."""
        if not len(many):
            return slot, best
        rows = self._table[many]
        points = (best / rows[:, _WEIGHT]).clip(1e-12, 1 - 1e-12)
        above = shares_above(points, rows[:, _ALPHA], rows[:, _BETA], rows[:, _CONSTANT])
        for at in np.flatnonzero(above > shares).tolist():
            alpha, beta, _, weight, constant = rows[at].tolist()
            parameters = int(alpha), int(beta), constant
            least = max(0.0, best / weight)
            if least < 1 and share_above(least, *parameters) > shares[at]:
                best = weight * point_with_share_above(float(shares[at]), *parameters, least)
                slot = int(many[at])
        return slot, best

    def _slot(self, key: Key) -> int:
        slot = self._slot_of.get(key)
        if slot is None:
            slot = self._free.pop() if self._free else self._new_slot()
            self._enter(slot, key)
        return slot

    def _enter(self, slot: int, key: Key) -> None:
        self._slot_of[key] = slot
        self._keys[slot] = key
        good, bad, level = key
        weight = (level + 0.5) / LEVELS if self._weighted else 1.0
        self._table[slot] = (good + 1, bad + 1, 0, weight, log_coefficient(good + 1, bad + 1))

    def _join(self, arm: int, slot: int) -> None:
        while arm >= len(self._places):
            self._places.append(_ABSENT)
            self._groups_of.append(_ABSENT)
        members = self._members[slot]
        self._groups_of[arm], self._places[arm] = slot, len(members)
        members.append(arm)
        self._table[slot, _SIZE] += 1
        self._count += 1

    def _new_slot(self) -> int:
        slot = len(self._keys)
        if slot == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        self._keys.append(_NO_KEY)
        self._members.append(array("i"))
        return slot

    def _drop(self, slot: int) -> None:
        """Forget an empty group; its place is used again."""
        del self._slot_of[self._keys[slot]]
        self._keys[slot] = _NO_KEY
        self._table[slot] = _NEVER_WINS
        self._free.append(slot)


def _largest_of_each(
    chance: np.random.Generator, alpha: Numbers, beta: Numbers, size: npt.NDArray[np.intp]
) -> Numbers:
    """Draw this many times from each distribution; return the largest draws."""
    draws = chance.beta(np.repeat(alpha, size), np.repeat(beta, size))
    largest: Numbers = np.maximum.reduceat(draws, np.cumsum(size) - size)
    return largest
