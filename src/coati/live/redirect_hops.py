"""Lets a chain of redirects end somewhere, and a loop at once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from coati.live.failures import FailureReason
from coati.model import Failure, Redirect, Request
from coati.runs.skip_reasons import SkipReason

if TYPE_CHECKING:
    from coati.live.outcomes import FetchResult

# Redirects whose next hop was not requested yet: older ones are forgotten, since a strategy need not
# request it at all.
_REMEMBERED_HOPS = 10_000


class RedirectHops:
    """How many redirects led to each URL that was not requested yet; ``most`` are followed in a row."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._hops: OrderedDict[str, int] = OrderedDict()

    def bounded(self, request: Request, result: FetchResult) -> FetchResult:
        """Return what came of a request; a redirect that leads too far, or nowhere, is a failure."""
        hops = self._hops.pop(request.url, 0)
        outcome = result.outcome
        if not isinstance(outcome, Redirect):
            return result
        if hops >= self._most:
            reason, skip = FailureReason.TOO_MANY_REDIRECTS, SkipReason.TOO_MANY_REDIRECTS
        elif outcome.location == request.url:
            reason, skip = FailureReason.REDIRECT_LOOP, SkipReason.REDIRECT_LOOP
        else:
            self._hops[outcome.location] = hops + 1
            if len(self._hops) > _REMEMBERED_HOPS:
                self._hops.popitem(last=False)
            return result
        return replace(
            result,
            outcome=Failure(outcome.status, outcome.size_bytes, reason),
            skipped=(*result.skipped, (outcome.location, skip)),
            drops=(*result.drops, reason),
        )
