"""When a host gets no more requests: its budget is spent, or its robots.txt forbids everything.

For crawls over many hosts. What makes a host fail or rest is the business of `coati.pacing.host_pace`; here
stands what ends a host that answers well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from coati.model import Deferred, Failure, Outcome, Refused
from coati.runs.skip_reasons import SkipReason

# This many refusals in a row, and nothing that was allowed: the host forbids everything.
_REFUSALS = 5

# Reasons of failures are remembered for this many hosts.
_REMEMBERED = 100_000


class HostEnds:
    """Counts what each host got; ``before`` is what earlier sessions sent to hosts, by host."""

    def __init__(self, budget: int | None, before: Mapping[str, int]) -> None:
        self._budget = budget
        self._requests = Counter(before)
        self._refusals: Counter[str] = Counter()
        self._troubles: dict[str, str] = {}

    def after(self, host: str, outcome: Outcome, charged: int) -> SkipReason | None:
        """Say why a host gets no more requests after this outcome; None if it may."""
        if charged:
            self._requests[host] += charged
            self._refusals.pop(host, None)
        elif (
            isinstance(outcome, Refused) and outcome.reason == SkipReason.ROBOTS and not self._requests[host]
        ):
            self._refusals[host] += 1
        if isinstance(outcome, Failure | Deferred) and len(self._troubles) < _REMEMBERED:
            self._troubles[host] = outcome.reason
        if self._refusals[host] >= _REFUSALS:
            return SkipReason.ROBOTS
        spent = self._budget is not None and self._requests[host] >= self._budget
        return SkipReason.HOST_BUDGET if spent else None

    def used_up(self) -> list[str]:
        """Return the hosts whose budget earlier sessions used up."""
        if self._budget is None:
            return []
        return [host for host, requests in self._requests.items() if requests >= self._budget]

    def trouble(self, host: str) -> str:
        """Return what went wrong last at a host; empty if nothing did."""
        return self._troubles.get(host, "")
