"""What came for the URLs that a look at a site begins with."""

from __future__ import annotations

from typing import NamedTuple

from coati.live.outcomes import FetchResult
from coati.model import Deferred, Failure, Outcome, Redirect, Refused, Request

UNREACHABLE, REFUSED = 3, 4
_NO_ENTRY = frozenset({401, 403, 407, 429, 451})


def exit_code_of(outcome: Outcome) -> int:
    """Return what a command ends with whose start URL had this outcome; 0 where it was fetched."""
    if isinstance(outcome, Refused):
        return REFUSED
    if isinstance(outcome, Failure | Deferred):
        return REFUSED if outcome.status in _NO_ENTRY else UNREACHABLE
    return 0


class StartAnswer(NamedTuple):
    """What came for a URL after ``hops`` redirects, which led to ``url``."""

    url: str
    result: FetchResult
    hops: int


class StartAnswers:
    """What came for each URL; ``otherwise`` stands for what did not come."""

    def __init__(self) -> None:
        self._results: dict[str, FetchResult] = {}
        self.otherwise = Failure(0, 0, "")

    def take(self, request: Request, result: FetchResult) -> None:
        self._results[request.url] = result

    def of(self, url: str) -> StartAnswer:
        """Return what came in the end, redirects followed."""
        nothing = FetchResult(self.otherwise)
        answer = StartAnswer(url, self._results.get(url, nothing), 0)
        # Two may lead to each other.
        for hops in range(1, len(self._results)):
            outcome = answer.result.outcome
            if not isinstance(outcome, Redirect):
                break
            answer = StartAnswer(outcome.location, self._results.get(outcome.location, nothing), hops)
        return answer
