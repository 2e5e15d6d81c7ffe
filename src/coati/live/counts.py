"""Live counts of a crawl: requests, bytes, targets, errors."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from coati.live.event_loop import stalls_of_loop
from coati.live.progress import ArmYield, Progress
from coati.model import Deferred, Failure, Method, Other, Outcome, Page, Refused, Request, Settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coati.live.outcomes import FetchResult
    from coati.pacing.host_pace import Wait
    from coati.runs.totals import Totals

# Pulls whose reward is not final yet: older ones are forgotten, since some never get one.
_REMEMBERED_PULLS = 10_000


class CrawlCounts:
    """The counts of one crawl; ``totals`` are those of its earlier sessions."""

    def __init__(self, totals: Totals | None = None) -> None:
        self.requests = self.pages = self.targets = self.failures = self.refused = self.bytes = 0
        self.robots_requests = self.archived = 0
        # The number of links on the first page, and the first thing that was no answer to the user's wish.
        self.start_links: int | None = None
        self.first_failure: Failure | Deferred | Refused | None = None
        if totals is not None:
            self.requests, self.bytes = totals.requests, totals.bytes
            self.targets, self.failures = totals.targets, totals.failures
            self.pages = totals.pages
            self.refused = totals.by_kind.get("refused", 0)
        self._requests_before = self.requests
        self._drops: Counter[str] = Counter()
        self._arms: dict[int, list[float]] = {}
        self._arm_of: OrderedDict[int, int] = OrderedDict()
        self._begun = time.monotonic()

    def start_clock(self) -> None:
        """Count the session's time from here: what came before was not crawling."""
        self._begun = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long this session has taken."""
        return time.monotonic() - self._begun

    def count(self, request: Request, result: FetchResult, charged: int, *, new_target: bool) -> None:
        """Count what came of a request; a target that was there before is not a new one."""
        outcome = result.outcome
        self.requests += charged
        self._drops.update(result.drops)
        if isinstance(outcome, Refused):
            self.refused += 1
            self._drops[outcome.reason] += 1
        else:
            self.bytes += outcome.size_bytes
        if isinstance(outcome, Failure):
            self.failures += 1
        if isinstance(outcome, Failure | Deferred | Refused) and self.first_failure is None:
            self.first_failure = outcome
        # A HEAD only announces what a GET will bring, and rules that were known already bring nothing new.
        if request.method is Method.GET and not result.unsent:
            self._count_brought(request.url, outcome)
            self.targets += new_target

    def settle(self, request: Request, outcome: Outcome, settlements: Iterable[Settlement]) -> None:
        """Count what the pages of an arm brought, once that is final, and what was no use at once.

        A page with links that were not requested yet is neither a success nor a failure.
        """
        if request.arm is not None and isinstance(outcome, Page):
            self._arm_of[request.id] = request.arm
            if len(self._arm_of) > _REMEMBERED_PULLS:
                self._arm_of.popitem(last=False)
        elif request.arm is not None and isinstance(outcome, Failure | Other):
            self._arms.setdefault(request.arm, [0, 0.0])[0] += 1
        for settlement in settlements:
            arm = self._arm_of.pop(settlement.request_id, None)
            if arm is not None:
                settled = self._arms.setdefault(arm, [0, 0.0])
                settled[0] += 1
                settled[1] += settlement.reward

    def progress(
        self, in_flight: int, deferred: int, waits: Mapping[str, Wait], arm_label: Callable[[int], str]
    ) -> Progress:
        """Say where the crawl stands."""
        return Progress(
            requests=self.requests,
            pages=self.pages,
            targets=self.targets,
            failures=self.failures,
            refused=self.refused,
            bytes=self.bytes,
            in_flight=in_flight,
            deferred=deferred,
            robots_requests=self.robots_requests,
            archived=self.archived,
            seconds=self.seconds,
            session_requests=self.requests - self._requests_before,
            waits=waits,
            drops=dict(self._drops),
            best_arm=self._best_arm(arm_label),
            stalls=stalls_of_loop(),
        )

    def _count_brought(self, url: str, outcome: Outcome) -> None:
        if isinstance(outcome, Page):
            self.pages += 1
            if self.start_links is None:
                # A link of the page to itself, as on every logo, leads nowhere.
                self.start_links = len(set(outcome.links.urls) - {url})

    def _best_arm(self, arm_label: Callable[[int], str]) -> ArmYield | None:
        if not self._arms:
            return None
        # One pull more than there were: a lucky first pull does not make an arm the best.
        arm, (pulls, reward) = max(self._arms.items(), key=lambda item: item[1][1] / (item[1][0] + 1))
        label = ""
        with contextlib.suppress(LookupError, ValueError):
            label = arm_label(arm)
        return ArmYield(label, int(pulls), reward)
