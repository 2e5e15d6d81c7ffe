"""A few requests on the way to a crawl: robots.txt, sitemaps, the start page of a dry run.

They go through the live driver like all others, so they are as polite and as bounded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from coati.budget import Budget
from coati.live.plan import CrawlPlan
from coati.live.progress import Event, Happening
from coati.live.stop import StopReason
from coati.model import EVERY_HOST, Failure, Method, Other, Redirect, Refused, Request
from coati.runs.fetched import Fetched
from coati.web.media import PRESETS
from coati.web.rules import Rules, Scope
from coati.web.sitemaps import MAX_SITEMAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from coati.archive.record import Entry, Record
    from coati.live.plan import CrawlResult
    from coati.live.progress import OnEvent
    from coati.live.settings import LiveSettings
    from coati.model import Hosts, Outcome, Settlement
    from coati.runs.errands import PastErrand
    from coati.runs.store import RunStore


class Answer(NamedTuple):
    """What came for a URL, after ``hops`` redirects, which led to ``url``; no body where it was not whole."""

    url: str
    outcome: Outcome
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    hops: int = 0

    @property
    def good_body(self) -> bytes | None:
        """The body of a success; None of anything else."""
        return None if isinstance(self.outcome, Failure | Refused | Redirect) else self.body


class Errand(Protocol):
    """Knows which URL to ask for next, and takes what came for it."""

    def next_url(self) -> str | None:
        """Give the next URL; None when there is nothing more to ask for."""

    def take(self, url: str, answer: Answer) -> None:
        """Take what came for it."""


def run_errand(
    errand: Errand,
    start_url: str,
    settings: LiveSettings,
    budget: Budget | None = None,
    on_event: OnEvent | None = None,
) -> CrawlResult:
    """Carry an errand out, redirects followed, within the domain of the start URL; nothing is kept of it."""
    bodies = _LastRecord()
    strategy = _ErrandStrategy(errand, bodies, settings.max_redirects)
    return _carry_out(strategy, bodies, start_url, settings, budget or Budget(), on_event)


def run_kept_errand(
    errand: Errand,
    store: RunStore,
    start_url: str,
    settings: LiveSettings,
    budget: Budget,
    on_event: OnEvent | None = None,
) -> StopReason:
    """Carry an errand of a run out: each request is recorded, and none of an earlier session is made again.

    ``budget.max_requests`` includes what those sessions were charged.
    """
    bodies = _LastRecord()
    strategy = _ErrandStrategy(errand, bodies, settings.max_redirects)
    past = store.errands()
    strategy.go_through(past)
    if budget.max_requests is not None:
        left = budget.max_requests - sum(one.charged for one in past)
        if left <= 0:
            return StopReason.BUDGET_REQUESTS
        budget = replace(budget, max_requests=left)

    def tell(event: Event) -> None:
        if on_event is not None:
            on_event(event)
        if event.what is Happening.OBSERVED and strategy.done is not None:
            request, outcome, body = strategy.done
            seconds, charged = float(str(event.data["seconds"])), int(str(event.data["charged"]))
            store.record_errand(
                Fetched(request, outcome, event.at - seconds, event.at, charged=charged, body=body)
            )

    return _carry_out(strategy, bodies, start_url, settings, budget, tell).stop


def _carry_out(
    strategy: _ErrandStrategy,
    bodies: _LastRecord,
    start_url: str,
    settings: LiveSettings,
    budget: Budget,
    on_event: OnEvent | None,
) -> CrawlResult:
    plan = CrawlPlan(
        new_strategy=lambda: strategy,
        rules=Rules(start_url, Scope.DOMAIN, blocked_extensions=frozenset(), traps=False),
        types=PRESETS["all-files"],
        settings=replace(
            settings,
            max_file_bytes=MAX_SITEMAP_BYTES,
            # The body is wanted in memory, since nobody keeps files here.
            stream_above_bytes=MAX_SITEMAP_BYTES,
            concurrency=1,
            per_host=1,
        ),
        budget=budget,
        archive=bodies,
        answer_from_archive=False,
        on_event=on_event,
    )
    # Scrapy takes a second to import, and nobody who asks for help should wait for it.
    from coati.live.running import crawl

    return crawl(plan)


class _LastRecord:
    """Stands where an archive would, and keeps only what came last (`ArchiveLike`)."""

    def __init__(self) -> None:
        self.last: Record | None = None

    def entry(self, url: str) -> Entry | None:
        return None

    def record(self, url: str) -> Record:
        raise LookupError(url)

    def add(self, record: Record) -> None:
        self.last = record


class _ErrandStrategy:
    """One request after the other, as an errand wants them (`coati.strategies.strategy.Strategy`).

    ``done`` is the last request with what came of it. Ids are below zero: these are no choices of a run's.
    """

    def __init__(self, errand: Errand, bodies: _LastRecord, max_redirects: int) -> None:
        self._errand = errand
        self._bodies = bodies
        self._max_redirects = max_redirects
        self._made = 0
        self._wanted = ""
        self._asked: Request | None = None
        self._next: str | None = None
        self._hops = 0
        self.done: tuple[Request, Outcome, bytes | None] | None = None

    def go_through(self, past: Sequence[PastErrand]) -> None:
        """Take what an earlier session asked for, as long as the errand still wants the same."""
        for request, _, outcome, body in past:
            asked = self.choose(0.0, EVERY_HOST)
            if asked is None:
                break
            # Somebody may have cleared the folder with the bodies.
            lost = isinstance(outcome, Other) and body is None
            if lost or asked.url != request.url:
                self._asked, self._next = None, asked.url
                break
            self._take(asked, outcome, (), body)
        self._made = len(past)

    def choose(self, now: float, hosts: Hosts) -> Request | None:
        if self._asked is not None:
            return None
        url, self._next = self._next, None
        if url is None:
            url = self._errand.next_url()
            if url is None:
                return None
            self._wanted, self._hops = url, 0
        self._made += 1
        self._asked = Request(-self._made, Method.GET, url)
        return self._asked

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        asked = self._asked
        if asked is None:
            raise ValueError("nothing was asked for")
        record, self._bodies.last = self._bodies.last, None
        if record is None or record.entry.url != asked.url:
            self._take(asked, outcome, (), None)
        else:
            self._take(asked, outcome, record.headers, record.body)
        return ()

    def _take(
        self, asked: Request, outcome: Outcome, headers: tuple[tuple[str, str], ...], body: bytes | None
    ) -> None:
        self._asked = None
        self.done = asked, outcome, body
        if isinstance(outcome, Redirect) and self._hops < self._max_redirects:
            self._next = outcome.location
            self._hops += 1
        else:
            self._errand.take(self._wanted, Answer(asked.url, outcome, headers, body, self._hops))

    def redo(self, request: Request, now: float) -> None:
        raise NotImplementedError("an errand is not restored")

    def save(self) -> Mapping[str, Any]:
        raise NotImplementedError("an errand is not saved")

    def load(self, state: Mapping[str, Any]) -> None:
        raise NotImplementedError("an errand is not restored")

    def arm_label(self, arm: int) -> str:
        return str(arm)
