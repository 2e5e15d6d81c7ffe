"""Drive a strategy over an archived site as fast as the processor allows: no network, no clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coati.model import EVERY_HOST, Refused, Request
from coati.replay.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from coati.budget import Budget
    from coati.replay.site import ReplaySite
    from coati.strategies.early_stop import EarlyStop
    from coati.strategies.strategy import Strategy

# How many requests go by between two calls of the progress callback.
_PROGRESS_STEP = 64


FINISHED = "nothing left to ask for"
STOPPED_EARLY = "stopped early: too little was still coming"


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished run."""

    trace: Trace
    stop: str
    cpu_seconds: float


def replay(
    site: ReplaySite,
    strategy: Strategy,
    budget: Budget,
    early_stop: EarlyStop | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Ask, answer, tell, until nothing is left or the budget is spent."""
    trace = Trace()
    volume = 0
    begun, cpu = time.monotonic(), time.process_time()
    stop = FINISHED
    while True:
        targets = trace.targets[-1] if trace.targets else 0
        limit = budget.spent(len(trace), volume, time.monotonic() - begun, targets)
        if limit is not None:
            stop = limit.value
            break
        now = float(len(trace))
        request = strategy.choose(now, EVERY_HOST)
        if not isinstance(request, Request):
            break
        outcome = site.respond(request)
        trace.add(request, outcome)
        for settlement in strategy.observe(request.id, outcome, now):
            trace.settle(settlement)
        if isinstance(outcome, Refused):
            continue
        volume += outcome.size_bytes
        if early_stop is not None and early_stop.observe(len(trace), trace.targets[-1]):
            stop = STOPPED_EARLY
            break
        if progress is not None and len(trace) % _PROGRESS_STEP == 0:
            progress(len(trace), trace.targets[-1])
    return Replay(trace, stop, time.process_time() - cpu)
