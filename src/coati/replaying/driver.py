"""Drive a strategy over an archived site as fast as the processor allows: no network, no real clock.

Time is simulated: a request takes a second, and where the strategy waits the clock skips ahead. Over a
history each request is answered as of its time, which begins where the archive does or at a given time.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from coati.errors import UsageError
from coati.model import EVERY_HOST, Page, Refused, Request
from coati.readers.listed_links import ListedLinks
from coati.replaying.clock import SimulatedClock
from coati.replaying.trace import Trace
from coati.stop_reasons import StopReason
from coati.strategies.strategy import checked, next_try, settled
from coati.web.out_links import with_out_links

if TYPE_CHECKING:
    from collections.abc import Callable

    from coati.budget import Budget
    from coati.model import Outcome
    from coati.strategies.stopping.early_stop import EarlyStop
    from coati.strategies.strategy import Strategy

# How many requests go by between two calls of the progress callback.
_PROGRESS_STEP = 64


FINISHED = StopReason.FINISHED.value
STOPPED_EARLY = StopReason.STOPPED_EARLY.value
HISTORY_OVER = "the archive's history ends here"


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished run."""

    trace: Trace
    stop: str
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """How a strategy is driven, for those that visit pages again.

    ``history``: each request is answered as of its time, and the run ends with the archive's last capture.
    ``begin`` is when it begins, the archive's first capture unless given. ``clock`` is another clock.
    ``out_links``: pages come with all their out-links, ``listed_links``: with those that an API listed before
    (`coati.assembly.Need`).
    """

    history: bool = False
    begin: float | None = None
    clock: SimulatedClock | None = None
    out_links: bool = False
    listed_links: bool = False


_USUAL = ReplayOptions()


class ReplaySource(Protocol):
    """What a strategy is driven over: an archived site, or a history in memory."""

    @property
    def name(self) -> str:
        """What people call it."""

    def span(self) -> tuple[float, float] | None:
        """Return when the first and the last capture was made; None where it is not known."""

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        """Answer a request, as of a time if one is given."""


def replay(
    site: ReplaySource,
    strategy: Strategy,
    budget: Budget,
    early_stop: EarlyStop | None = None,
    progress: Callable[[int, int], None] | None = None,
    options: ReplayOptions = _USUAL,
) -> Replay:
    """Choose, respond, observe, until nothing is left or the budget is spent; its seconds are simulated."""
    trace = Trace()
    volume = 0
    cpu = time.process_time()
    stop = FINISHED
    clock, end = _clock(site, options)
    observed: dict[str, float] = {}
    listed = ListedLinks()
    requests = targets = 0
    while True:
        limit = budget.spent(requests, volume, clock.seconds, targets)
        if limit is not None:
            stop = limit.value
            break
        request = strategy.choose(clock.now, EVERY_HOST)
        if not isinstance(request, Request):
            at = next_try(request)
            if at <= end and request is not None:
                clock.wait(at)
                continue
            stop = FINISHED if request is None else HISTORY_OVER
            break
        at = clock.answered()
        outcome = site.respond(checked(request), at if options.history else None, observed)
        outcome = _with_known_links(options, listed, request.url, outcome)
        trace.add(request, outcome)
        for settlement in settled(strategy.observe(request.id, outcome, at)):
            trace.settle(settlement)
        if isinstance(outcome, Refused):
            continue
        clock.spend()
        volume += outcome.size_bytes
        requests, targets = len(trace), trace.targets[-1]
        if early_stop is not None and early_stop.observe(requests, targets, request.score, strategy):
            stop = STOPPED_EARLY
            break
        if progress is not None and requests % _PROGRESS_STEP == 0:
            progress(requests, targets)
    return Replay(trace, stop, time.process_time() - cpu)


def _with_known_links(options: ReplayOptions, listed: ListedLinks, url: str, outcome: Outcome) -> Outcome:
    """Add the hashes of known links that the strategy needs."""
    if options.out_links and isinstance(outcome, Page) and outcome.out_links is None:
        return with_out_links(outcome)
    return listed.with_listed(url, outcome) if options.listed_links else outcome


def _clock(site: ReplaySource, options: ReplayOptions) -> tuple[SimulatedClock, float]:
    """Return the clock of a run, and the time after which nothing can change."""
    if not options.history:
        return options.clock or SimulatedClock(options.begin or 0.0), math.inf
    span = site.span()
    if span is None:
        raise UsageError(f"the archive {site.name} has no time of any capture: it is not a history")
    begin = span[0] if options.begin is None else options.begin
    return options.clock or SimulatedClock(begin), span[1]
