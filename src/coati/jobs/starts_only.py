"""Request given URLs through the live driver, and nothing that they link to; and what came of a start."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from coati.budget import Budget
from coati.live.outcomes import FetchResult
from coati.model import NO_LINKS, Deferred, Failure, Page, Redirect, Refused
from coati.stop_reasons import StopReason
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.live.plan import CrawlPlan, CrawlResult
    from coati.model import Outcome, Request, Settlement


def crawl_starts_only(plan: CrawlPlan, urls: Sequence[str]) -> CrawlResult:
    """Carry a plan out for these addresses and what they redirect to, within no budget."""
    # Scrapy takes a second to import, and nobody who asks for help should wait for it.
    from coati.live.running import crawl

    return crawl(replace(plan, new_strategy=lambda: _StartsOnly(urls, Fifo()), budget=Budget()))


def not_requested(result: CrawlResult) -> Failure:
    """Return what is told of an address for which a crawl ended too early.

    Raises `KeyboardInterrupt` where that was Ctrl-C: there is nothing to tell then.
    """
    if result.stop is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    status = HTTPStatus.TOO_MANY_REQUESTS if result.stop is StopReason.RATE_LIMITED else 0
    return Failure(status, 0, result.stop.value)


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


class _StartsOnly(FrontierStrategy):
    """Asks for the start addresses and for what they redirect to, and follows no link."""

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        kept = replace(outcome, links=NO_LINKS) if isinstance(outcome, Page) else outcome
        return super().observe(request_id, kept, now)
