"""The best of many arms, where few change at a time: a heap that knows the place of each arm.

A change costs the logarithm of the number of arms, and the best arm is known at once. 24 bytes per arm.
"""

from __future__ import annotations

from array import array

_ABSENT = -1
_MASK = 0xFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15


def tie_breaker(arm: int, seed: int) -> int:
    """Return what decides between otherwise equal arms: no two have the same value."""
    odd = ((seed + 1) * _GOLDEN >> 13) | 1
    return (arm + 1) * odd & _MASK


class ArmHeap:
    """Arms by score, ties by a second value, further ties at random (the seed's).

    >>> heap = ArmHeap(seed=1)
    >>> for arm, score in enumerate([0.1, 0.9, 0.5]): heap.put(arm, score)
    >>> heap.best()
    1
    >>> heap.put(1, 0.2); heap.remove(2); heap.best(), len(heap)
    (1, 2)
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._arms = array("i")
        # By arm.
        self._places = array("i")
        self._scores = array("d")
        self._seconds = array("d")

    def __len__(self) -> int:
        """Count the arms."""
        return len(self._arms)

    def best(self) -> int:
        """Return the arm with the best score; there must be one."""
        return self._arms[0]

    def score(self, arm: int) -> float:
        """Return the score that an arm was last given."""
        return self._scores[arm]

    def scores(self) -> list[tuple[int, float]]:
        """Return the arms, each with its score."""
        return [(arm, self._scores[arm]) for arm in self._arms]

    def put(self, arm: int, score: float, second: float = 0.0) -> None:
        """Add an arm, or change its score."""
        while arm >= len(self._places):
            self._places.append(_ABSENT)
            self._scores.append(0.0)
            self._seconds.append(0.0)
        self._scores[arm] = score
        self._seconds[arm] = second
        place = self._places[arm]
        if place == _ABSENT:
            place = len(self._arms)
            self._arms.append(arm)
            self._places[arm] = place
        if not self._rise(place):
            self._sink(place)

    def remove(self, arm: int) -> None:
        """Remove an arm."""
        place, last = self._places[arm], self._arms.pop()
        self._places[arm] = _ABSENT
        if last != arm:
            self._arms[place] = last
            self._places[last] = place
            if not self._rise(place):
                self._sink(place)

    def _ahead(self, one: int, other: int) -> bool:
        score, other_score = self._scores[one], self._scores[other]
        if score != other_score:
            return score > other_score
        second, other_second = self._seconds[one], self._seconds[other]
        if second != other_second:
            return second > other_second
        return tie_breaker(one, self._seed) > tie_breaker(other, self._seed)

    def _rise(self, place: int) -> bool:
        arms, places = self._arms, self._places
        arm, began = arms[place], place
        while place:
            above = (place - 1) // 2
            if not self._ahead(arm, arms[above]):
                break
            arms[place] = arms[above]
            places[arms[place]] = place
            place = above
        arms[place] = arm
        places[arm] = place
        return place != began

    def _sink(self, place: int) -> None:
        arms, places, count = self._arms, self._places, len(self._arms)
        arm = arms[place]
        while (below := 2 * place + 1) < count:
            if below + 1 < count and self._ahead(arms[below + 1], arms[below]):
                below += 1
            if not self._ahead(arms[below], arm):
                break
            arms[place] = arms[below]
            places[arms[place]] = place
            place = below
        arms[place] = arm
        places[arm] = place
