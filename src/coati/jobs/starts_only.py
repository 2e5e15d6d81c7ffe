"""Request given URLs through the live driver, and nothing that they link to."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from coati.budget import Budget
from coati.model import NO_LINKS, Failure, Outcome, Page, Settlement
from coati.stop_reasons import StopReason
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.live.plan import CrawlPlan, CrawlResult


def crawl_starts_only(plan: CrawlPlan, urls: Sequence[str]) -> CrawlResult:
    """Carry a plan out for these addresses and what they redirect to, within no budget."""
    # Scrapy takes a second to import, and nobody who reads the help should wait for it.
    from coati.live.running import crawl

    return crawl(replace(plan, new_strategy=lambda: _StartsOnly(urls, Fifo()), budget=Budget()))


def not_requested(result: CrawlResult) -> Failure:
    """Return what to say of a URL for which the crawl ended too early.

    Raises `KeyboardInterrupt` where that was Ctrl-C: there is nothing to tell then.
    """
    if result.stop is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    status = HTTPStatus.TOO_MANY_REQUESTS if result.stop is StopReason.RATE_LIMITED else 0
    return Failure(status, 0, result.stop.value)


class _StartsOnly(FrontierStrategy):
    """Requests the start URLs and what they redirect to, and follows no link."""

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        kept = replace(outcome, links=NO_LINKS) if isinstance(outcome, Page) else outcome
        return super().observe(request_id, kept, now)
