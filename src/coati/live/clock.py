"""The time of a run: what its log stores, and what its strategy gets.

It never falls, neither when somebody sets the machine's clock back nor from one session of a run to the next,
and it never stands still. When the machine's clock jumps ahead, as after a suspend, it follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from coati.times import logged


class RunClock:
    """Seconds since the epoch, rounded to what the log keeps; ``not_before`` is the last logged time.

    >>> clock = RunClock(100.0, wall=iter([50.0, 50.0]).__next__, steady=iter([7.0, 8.5]).__next__)
    >>> clock.now()
    101.5
    """

    def __init__(
        self,
        not_before: float = 0.0,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._read_at = steady()
        self._last = max(wall(), not_before)

    def now(self) -> float:
        """Return the time."""
        steady = self._steady()
        self._last = max(self._wall(), self._last + steady - self._read_at)
        self._read_at = steady
        return logged(self._last)
