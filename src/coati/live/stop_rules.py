"""When a crawl should stop by itself: the site is down, refuses us, or has too little left."""

from __future__ import annotations

from coati.archive.record import IN_TROUBLE
from coati.live.counts import CrawlCounts
from coati.live.failures import SILENCE, FailureReason
from coati.model import Deferred, Failure, Outcome, Refused, Request
from coati.stop_reasons import StopReason
from coati.strategies.stopping.early_stop import EarlyStop
from coati.strategies.strategy import Strategy

# This many attempts in a row without any answer mean that the site is gone, not that links are bad.
_SILENT_ATTEMPTS = 20
# This many "too many requests" in a row mean that it wants us gone.
_LIMITED_ATTEMPTS = 9

_TOO_MANY_REQUESTS = 429
_UNAUTHORISED = frozenset({401, 403, 407, 451})


class StopRules:
    """Watches outcomes. ``one_site`` is false where other sites may well answer.

    ``defers`` says that silence is `Deferred`: a `Failure` is then one of its URL.
    """

    def __init__(
        self, early_stop: EarlyStop | None, strategy: Strategy, *, one_site: bool, defers: bool
    ) -> None:
        self._early_stop = early_stop
        self._strategy = strategy
        self._one_site = one_site
        self._defers = defers
        self._silent = self._limited = 0

    def answered(self) -> None:
        """Take note that somebody answered."""
        self._silent = self._limited = 0

    def after(
        self, request: Request, outcome: Outcome, charged: int, counts: CrawlCounts, *, give_up: bool
    ) -> StopReason | None:
        """Say whether this outcome, of this many attempts, is the last; it is in the counts already.

        ``give_up`` says that whatever is left cannot be reached now.
        """
        if isinstance(outcome, Refused):
            return None
        self._silent = self._silent + charged if self._is_silence(outcome) else 0
        self._limited = self._limited + charged if outcome.status == _TOO_MANY_REQUESTS else 0
        enough = self._silent >= _SILENT_ATTEMPTS or self._limited >= _LIMITED_ATTEMPTS
        if give_up or (enough and self._one_site):
            return StopReason.RATE_LIMITED if self._limited else StopReason.SITE_SILENT
        return StopReason.STOPPED_EARLY if self._is_dry(request, outcome, counts) else None

    def _is_dry(self, request: Request, outcome: Outcome, counts: CrawlCounts) -> bool:
        if self._early_stop is None:
            return False
        # What met an outage is requested again: only then is seen what was promised.
        score = None if isinstance(outcome, Deferred) else request.score
        return self._early_stop.observe(counts.requests, counts.targets, score, self._strategy)

    def _is_silence(self, outcome: Outcome) -> bool:
        """Tell whether nobody answered; a file that is too large, or a part of one, is an answer."""
        if isinstance(outcome, Failure):
            return outcome.reason == FailureReason.CERTIFICATE if self._defers else outcome.reason in SILENCE
        if not isinstance(outcome, Deferred) or outcome.status == _TOO_MANY_REQUESTS:
            return False
        return outcome.status in IN_TROUBLE or outcome.reason in SILENCE


def final_reason(reached: StopReason, counts: CrawlCounts) -> StopReason:
    """Say why a crawl ended: one that never got anything failed at its start, whatever stopped it."""
    failure = counts.first_failure
    if failure is None or counts.pages or counts.targets or reached is StopReason.INTERRUPTED:
        return reached
    if failure.reason == FailureReason.NO_CONTENT:
        # It was reached, and there is nothing.
        return reached
    if isinstance(failure, Refused):
        return StopReason.REFUSED
    if failure.status == _TOO_MANY_REQUESTS or reached is StopReason.RATE_LIMITED:
        return StopReason.RATE_LIMITED
    return StopReason.REFUSED if failure.status in _UNAUTHORISED else StopReason.START_UNREACHABLE
