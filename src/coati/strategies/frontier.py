"""Links that wait: first in first out, last in first out, or in no order.

They are numbers of `KnownUrls`, four bytes each.
"""

from __future__ import annotations

from array import array
from typing import Protocol

from coati.strategies.chance import draw

# A queue drops what was taken when that is more than half of it, and at least this much.
_LEAST_DROPPED = 1024


class Frontier(Protocol):
    """Numbers that wait to be taken; `save` and `load` keep their order."""

    def __len__(self) -> int:
        """Count what waits."""

    def push(self, number: int) -> None:
        """Add a number."""

    def peek(self, turn: int) -> int:
        """Return the number that `pop` would take; ``turn`` counts the choices made so far."""

    def pop(self, turn: int) -> int:
        """Take the next number."""

    def remove(self, number: int) -> None:
        """Take this number out of turn; raise `ValueError` if it does not wait."""

    def save(self) -> array[int]:
        """Return what waits."""

    def load(self, numbers: array[int]) -> None:
        """Take over what waited."""


class Fifo:
    """A queue. What was taken is dropped from the front now and then, so that taking stays cheap."""

    __slots__ = ("_head", "_numbers")

    def __init__(self) -> None:
        self._numbers = array("I")
        self._head = 0

    def __len__(self) -> int:
        return len(self._numbers) - self._head

    def push(self, number: int) -> None:
        self._numbers.append(number)

    def peek(self, turn: int) -> int:
        return self._numbers[self._head]

    def pop(self, turn: int) -> int:
        number = self.peek(turn)
        self._head += 1
        if self._head > _LEAST_DROPPED and self._head * 2 > len(self._numbers):
            del self._numbers[: self._head]
            self._head = 0
        return number

    def remove(self, number: int) -> None:
        del self._numbers[self._numbers.index(number, self._head)]

    def save(self) -> array[int]:
        return self._numbers[self._head :]

    def load(self, numbers: array[int]) -> None:
        self._numbers, self._head = numbers, 0


class Lifo:
    """A stack."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers = array("I")

    def __len__(self) -> int:
        return len(self._numbers)

    def push(self, number: int) -> None:
        self._numbers.append(number)

    def peek(self, turn: int) -> int:
        return self._numbers[-1]

    def pop(self, turn: int) -> int:
        return self._numbers.pop()

    def remove(self, number: int) -> None:
        self._numbers.remove(number)

    def save(self) -> array[int]:
        return self._numbers

    def load(self, numbers: array[int]) -> None:
        self._numbers = numbers


class Pool(Lifo):
    """A bag from which one is drawn at random; the last takes the drawn one's place.

    >>> pool = Pool(seed=1)
    >>> for number in range(5): pool.push(number)
    >>> [pool.pop(turn) for turn in range(5)]
    [4, 2, 3, 1, 0]
    """

    __slots__ = ("_seed",)

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed

    def peek(self, turn: int) -> int:
        return self._numbers[draw(self._seed, turn, len(self._numbers))]

    def pop(self, turn: int) -> int:
        return self._take(draw(self._seed, turn, len(self._numbers)))

    def remove(self, number: int) -> None:
        self._take(self._numbers.index(number))

    def _take(self, place: int) -> int:
        number, last = self._numbers[place], self._numbers.pop()
        if place < len(self._numbers):
            self._numbers[place] = last
        return number
