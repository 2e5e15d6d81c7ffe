"""What is done about a slice whose time is over: it is stopped, then aborted, then its process ends."""

from __future__ import annotations

from typing import Final

from coati.fleet.orders import SliceTimes
from coati.fleet.slice_turns import SliceTurns
from coati.fleet.worker import Worker
from coati.stop_reasons import StopReason

# What is in flight when the time is over mostly ends within this. What only waits for its host does not: then
# the crawl is ended, and the next slice requests it again.
_LAST_SECONDS: Final = 5.0


class Overtime:
    """One slice whose time is over.

    A transfer is waited for: a large file may take longer than a slice. A loop that does not answer is not.
    """

    def __init__(self, turns: SliceTurns, worker: Worker, times: SliceTimes) -> None:
        self._turns = turns
        self._worker = worker
        self._times = times
        self._calls = 0
        self._answers = 0
        self._ends_at: float | None = None

    def act(self, now: float) -> float:
        """Do what is due; returns after how many seconds to call this again."""
        if self._ends_at is None:
            self._ends_at = now + self._times.transfer + self._times.grace
            self._worker.thread().call(self._turns.spend)
            return _LAST_SECONDS
        if not self._calls:
            self._worker.thread().call(lambda: self._turns.end(StopReason.BUDGET_SECONDS))
        elif self._answers < self._calls or now >= self._ends_at:
            self._worker.end_process()
        self._calls += 1
        self._worker.thread().call(self._answer)
        return self._times.grace

    def _answer(self) -> None:
        self._answers += 1
