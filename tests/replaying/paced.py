"""Drive a strategy on a simulated clock, with the pace of a live crawl: a day of many hosts in seconds.

`PacedReplay` has the two moments of a driver: `ask`, where a request leaves, and `finish`, where its answer
is observed, each at a time that is given. `replay_paced` runs it with the times that a clock would have
shown; who has recorded the times of a live crawl calls the two with those.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from coati.budget import Budget
from coati.model import Deferred, Refused, Request
from coati.pacing.paced_choices import PacedChoices
from coati.replaying.driver import FINISHED
from coati.replaying.trace import Trace
from coati.runs.skip_reasons import SkipReason
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from coati.model import Later, Outcome
    from coati.pacing.host_pace import HostPace
    from coati.strategies.strategy import Strategy


class AnswersRequests(Protocol):
    """Anything that answers requests: `coati.replaying.site.ReplaySite`, or a made-up web."""

    def respond(self, request: Request) -> Outcome:
        """Return what comes of a request."""


class PacedReplay:
    """A strategy, what answers it, and the pace of the hosts; time is an argument.

    ``concurrency`` means the same as in a live crawl, ``early_seconds`` the same as in
    `coati.pacing.paced_choices.PacedChoices`.
    """

    def __init__(
        self,
        answers: AnswersRequests,
        strategy: Strategy,
        pace: HostPace,
        *,
        concurrency: int = 1,
        early_seconds: float = 0.0,
    ) -> None:
        self._answers = answers
        self._strategy = strategy
        self._pace = pace
        self._choices = PacedChoices(pace, concurrency, any_host=True, early_seconds=early_seconds)
        self.trace = Trace()
        self.volume = 0
        self.in_flight = 0

    def ask(self, now: float) -> Request | Later | None:
        """Return the request that leaves now, or when to ask again (`PacedChoices.next`)."""
        while True:
            request = self._choices.next(now, lambda hosts: self._strategy.choose(now, hosts))
            if not isinstance(request, Request):
                return request
            self.in_flight += 1
            host = host_of(request.url)
            if not self._pace.ended(host):
                self._pace.sent(host, now)
                return request
            self._observe(request, Refused(SkipReason.HOST_FAILING), now)

    def finish(self, request: Request, now: float, server_seconds: float = 0.0) -> Outcome:
        """Let the strategy observe what comes of a request, and the pace what it cost the server."""
        outcome = self._answers.respond(request)
        self._tell_pace(host_of(request.url), outcome, now, server_seconds)
        self._observe(request, outcome, now)
        return outcome

    def _observe(self, request: Request, outcome: Outcome, now: float) -> None:
        self.trace.add(request, outcome)
        for settlement in self._strategy.observe(request.id, outcome, now):
            self.trace.settle(settlement)
        self._choices.observed(request)
        self.in_flight -= 1
        self.volume += 0 if isinstance(outcome, Refused) else outcome.size_bytes

    def _tell_pace(self, host: str, outcome: Outcome, now: float, server_seconds: float) -> None:
        if isinstance(outcome, Refused):
            return
        if outcome.status == 0:
            self._pace.failed(host, now)
            return
        rest = outcome.until - now if isinstance(outcome, Deferred) and outcome.until < math.inf else None
        self._pace.answered(host, now, outcome.status, server_seconds, rest)


@dataclass(frozen=True, slots=True)
class PacedRun:
    """A finished run, and the simulated time at its end."""

    trace: Trace
    stop: str
    ended_at: float


def replay_paced(
    run: PacedReplay,
    seconds_of: Callable[[Request], float],
    budget: Budget | None = None,
    begins_at: float = 0.0,
) -> PacedRun:
    """Run to the end, or until the budget is spent; ``seconds_of`` is what a server takes to answer."""
    budget = budget or Budget()
    now = begins_at
    # What is in flight, by the time of its answer; requests that end together do so in the order of leaving.
    answers: list[tuple[float, int, Request, float]] = []
    left = 0
    while True:
        targets = run.trace.targets[-1] if run.trace.targets else 0
        limit = budget.spent(len(run.trace) + run.in_flight, run.volume, now - begins_at, targets)
        wake_at = math.inf
        if limit is None:
            request = run.ask(now)
            if isinstance(request, Request):
                seconds = seconds_of(request)
                left += 1
                heapq.heappush(answers, (now + seconds, left, request, seconds))
                continue
            if request is not None:
                wake_at = request.at
        if answers and answers[0][0] <= wake_at:
            now, _, request, seconds = heapq.heappop(answers)
            run.finish(request, now, seconds)
        elif wake_at < math.inf:
            now = wake_at
        else:
            return PacedRun(run.trace, FINISHED if limit is None else limit.value, now)
