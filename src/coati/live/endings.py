"""When a crawl should end of itself: the site is gone, or wants us gone, or there is too little left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.live.stop import StopReason
from coati.model import Refused

if TYPE_CHECKING:
    from coati.live.tally import Tally
    from coati.model import Outcome
    from coati.strategies.early_stop import EarlyStop

# So many attempts in a row without any answer mean that the site is gone, not that links are bad.
_SILENT_ATTEMPTS = 20
# So many requests in a row that ended in "too many requests", retries included.
_LIMITED_REQUESTS = 3

_TOO_MANY_REQUESTS = 429
_UNAUTHORISED = frozenset({401, 403, 407, 451})


class Endings:
    """Watches outcomes. ``one_site`` is false where other sites may well answer."""

    def __init__(self, early_stop: EarlyStop | None, *, one_site: bool) -> None:
        self._early_stop = early_stop
        self._one_site = one_site
        self._silent = self._limited = 0

    def after(self, outcome: Outcome, charged: int, tally: Tally) -> StopReason | None:
        """Say whether this outcome, of so many attempts, is the last; it is in the tally already."""
        if isinstance(outcome, Refused):
            return None
        self._silent = self._silent + charged if outcome.status == 0 else 0
        self._limited = self._limited + 1 if outcome.status == _TOO_MANY_REQUESTS else 0
        if self._one_site and self._limited >= _LIMITED_REQUESTS:
            return StopReason.RATE_LIMITED
        if self._one_site and self._silent >= _SILENT_ATTEMPTS:
            return StopReason.SITE_SILENT
        if self._early_stop is not None and self._early_stop.observe(tally.requests, tally.targets):
            return StopReason.STOPPED_EARLY
        return None


def final_reason(reached: StopReason, tally: Tally) -> StopReason:
    """Say why a crawl ended: one that never got anything failed at its start, whatever stopped it."""
    failure = tally.first_failure
    if failure is None or tally.pages or tally.targets or reached is StopReason.INTERRUPTED:
        return reached
    if isinstance(failure, Refused):
        return StopReason.REFUSED
    if failure.status == _TOO_MANY_REQUESTS or reached is StopReason.RATE_LIMITED:
        return StopReason.RATE_LIMITED
    return StopReason.REFUSED if failure.status in _UNAUTHORISED else StopReason.START_UNREACHABLE
