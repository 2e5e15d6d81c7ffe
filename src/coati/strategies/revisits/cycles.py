"""When cycles begin. The number of a cycle comes from the time, so one that was missed is skipped."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Cycles(Protocol):
    """Cuts time into numbered cycles."""

    def at(self, now: float) -> int:
        """Return the number of the cycle that a time falls into; they rise with time."""

    def start(self, number: int) -> float:
        """Return when a cycle begins; infinity where there is no such cycle."""


class RegularCycles:
    """Cycles of equal length, counted from the epoch: hourly ones begin at full hours (UTC).

    Counted from the first visit, a command that cron starts every hour would miss a cycle whenever it starts
    a second earlier than the time before.

    >>> hourly = RegularCycles(3600.0)
    >>> hourly.at(7199.9), hourly.at(7200.0), hourly.start(3)
    (1, 2, 10800.0)
    """

    def __init__(self, every_seconds: float) -> None:
        self.every_seconds = every_seconds

    def at(self, now: float) -> int:
        """Return the number of the cycle that a time falls into."""
        number = math.floor(now / self.every_seconds)
        # Dividing rounds: the time at which a cycle starts belongs to it.
        return number + 1 if self.start(number + 1) <= now else number

    def start(self, number: int) -> float:
        """Return when a cycle begins."""
        return number * self.every_seconds


class ListedCycles:
    """Cycles that begin at given times, as the snapshots of a history do.

    >>> cycles = ListedCycles([10.0, 12.0])
    >>> cycles.at(11.0), cycles.at(50.0), cycles.start(2)
    (0, 1, inf)
    """

    def __init__(self, starts: Sequence[float]) -> None:
        self._starts = sorted(starts)

    def at(self, now: float) -> int:
        """Return the number of the cycle that a time falls into; what is before the first counts to it."""
        return max(bisect_right(self._starts, now) - 1, 0)

    def start(self, number: int) -> float:
        """Return when a cycle begins."""
        return self._starts[number] if number < len(self._starts) else math.inf
