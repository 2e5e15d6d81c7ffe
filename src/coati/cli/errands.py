"""A few requests on the way to a crawl: robots.txt, sitemaps, the start page of a dry run.

They go through the live driver like all others, so they are as polite and as bounded; nothing is stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from coati.budget import Budget
from coati.live.crawl import crawl
from coati.live.plan import CrawlPlan
from coati.model import Failure, Method, Redirect, Refused, Request
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
    from coati.model import Outcome, Ready, Settlement


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
    """Carry an errand out, redirects followed, within the domain of the start URL."""
    bodies = _LastRecord()
    plan = CrawlPlan(
        new_strategy=lambda: _ErrandStrategy(errand, bodies, settings.max_redirects),
        rules=Rules(start_url, Scope.DOMAIN, blocked_extensions=frozenset(), traps=False),
        types=PRESETS["all-files"],
        settings=replace(settings, max_file_bytes=MAX_SITEMAP_BYTES, concurrency=1, per_host=1),
        budget=budget or Budget(),
        archive=bodies,
        answer_from_archive=False,
        on_event=on_event,
    )
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
    """One request after the other, as an errand wants them (`coati.strategies.strategy.Strategy`)."""

    def __init__(self, errand: Errand, bodies: _LastRecord, max_redirects: int) -> None:
        self._errand = errand
        self._bodies = bodies
        self._max_redirects = max_redirects
        self._made = 0
        self._wanted = ""
        self._asked: Request | None = None
        self._hop: str | None = None
        self._hops = 0

    def choose(self, now: float, ready: Ready) -> Request | None:
        if self._asked is not None:
            return None
        url, self._hop = self._hop, None
        if url is None:
            url = self._errand.next_url()
            if url is None:
                return None
            self._wanted, self._hops = url, 0
        self._asked = Request(self._made, Method.GET, url)
        self._made += 1
        return self._asked

    def observe(self, request_id: int, outcome: Outcome) -> Sequence[Settlement]:
        asked, self._asked = self._asked, None
        if asked is None:
            raise ValueError("nothing was asked for")
        if isinstance(outcome, Redirect) and self._hops < self._max_redirects:
            self._hop = outcome.location
            self._hops += 1
            return ()
        record, self._bodies.last = self._bodies.last, None
        if record is None or record.entry.url != asked.url:
            answer = Answer(asked.url, outcome, hops=self._hops)
        else:
            answer = Answer(asked.url, outcome, record.headers, record.body, self._hops)
        self._errand.take(self._wanted, answer)
        return ()

    def redo(self, request: Request) -> None:
        raise NotImplementedError("an errand is not restored")

    def save(self) -> Mapping[str, Any]:
        raise NotImplementedError("an errand is not saved")

    def load(self, state: Mapping[str, Any]) -> None:
        raise NotImplementedError("an errand is not restored")

    def arm_label(self, arm: int) -> str:
        return str(arm)
