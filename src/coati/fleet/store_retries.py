"""Wait for a store that is slow or unreachable: retry after longer and longer pauses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from coati.fleet.objects import StoreError

T = TypeVar("T")

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 15.0


def pause_for(seconds: float) -> None:
    """Wait this long."""
    threading.Event().wait(seconds)


@dataclass(frozen=True, slots=True)
class StoreRetries:
    """Retries work on a failing store for this many ``seconds``; tests give their own clock and pause."""

    seconds: float = 600.0
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = pause_for

    def run(self, work: Callable[[], T]) -> T:
        """Do some work, again while the store fails; raises the last `StoreError` when the time is over.

        Work that is done twice must be as if it were done once. Damage does not pass: it is raised at once.
        """
        ends = self.clock() + self.seconds
        wait = _FIRST_WAIT
        while True:
            try:
                return work()
            except StoreError:
                if self.clock() + wait > ends:
                    raise
            self.pause(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
