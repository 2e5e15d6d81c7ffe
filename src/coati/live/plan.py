"""What a live crawl is given, and what it gives back."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coati.budget import Budget
from coati.errors import UsageError
from coati.live.settings import LiveSettings
from coati.search.engines import Engines
from coati.web.facts import NO_EXTRACTORS, Extractor
from coati.web.media import PRESETS, TargetTypes
from coati.web.traps import TrapSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coati.live.answered_urls import EarlierVisit
    from coati.live.outcomes import FetchResult
    from coati.live.progress import OnEvent, OnProgress, Progress
    from coati.live.read_through import ArchiveLike
    from coati.live.site_turns import Turns
    from coati.live.stop_signal import StopSignal
    from coati.model import Request
    from coati.runs.store import RunStore, SnapshotForm
    from coati.search.provider import AnyProvider
    from coati.shortcuts.shortcuts import Shortcuts
    from coati.stop_reasons import StopReason
    from coati.strategies.stopping.early_stop import EarlyStop
    from coati.strategies.strategy import Strategy
    from coati.web.markup.goals import Predicate
    from coati.web.rules import Rules

    OnFetched = Callable[[Request, FetchResult], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """Everything that one live crawl needs.

    ``new_strategy`` makes the strategy as it stands before its first choice; a run that is resumed is
    restored from ``store``, which then needs ``form``. Without a store nothing is kept. ``archive`` answers
    what it holds, if that is not older than ``archive_max_age_seconds``, and takes what it does not;
    ``offline``, nothing is sent. ``out_links``: the strategy is told all out-links of a page,
    ``listed_links``: those that an API listed before.
    ``one_site`` is false for strategies that choose among hosts, and ``defers`` where what met an outage is
    not retried, or by somebody else. ``finishes`` is false for a look at a site: an interrupt ends it at
    once, without what is in flight.
    ``strategy`` names the strategy in a log that holds several; only the sole one has none.
    ``more_start_urls`` are where the crawl begins beside the start URLs of its rules: they widen no scope.
    ``earlier`` tells what an earlier run got, so that its validators make requests of this one conditional.
    ``clock`` tells the time; with one of their own, tests let weeks go by in seconds.
    ``extractors`` find the facts of pages that the strategy or the goal reads (`coati.web.facts`).
    ``goal`` tells by a page's facts whether it is relevant itself; then it counts as a target.
    ``on_fetched`` sees each answer whole, before it is recorded.
    ``providers`` are the search engines that may get queries, ``shortcuts`` knows the software behind
    sites.
    ``host_budget`` is the most that one host may get.
    ``turns`` are for a crawl that spends one budget with others (`coati.live.site_turns`).
    ``stop`` ends the crawl from outside.
    """

    new_strategy: Callable[[], Strategy]
    rules: Rules
    types: TargetTypes = field(default_factory=lambda: PRESETS["data"])
    settings: LiveSettings = field(default_factory=LiveSettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    budget: Budget = field(default_factory=Budget)
    store: RunStore | None = None
    form: SnapshotForm | None = None
    archive: ArchiveLike | None = None
    answer_from_archive: bool = True
    archive_max_age_seconds: float | None = None
    offline: bool = False
    out_links: bool = False
    listed_links: bool = False
    extractors: Mapping[str, Extractor] = field(default_factory=lambda: NO_EXTRACTORS)
    goal: Predicate | None = None
    early_stop: EarlyStop | None = None
    on_progress: OnProgress | None = None
    on_event: OnEvent | None = None
    on_fetched: OnFetched | None = None
    one_site: bool = True
    defers: bool = True
    finishes: bool = True
    more_start_urls: tuple[str, ...] = ()
    earlier: EarlierVisit | None = None
    clock: Callable[[], float] = time.time
    strategy: str = ""
    providers: tuple[AnyProvider, ...] = ()
    shortcuts: Shortcuts | None = None
    host_budget: int | None = None
    turns: Turns | None = None
    stop: StopSignal | None = None

    def __post_init__(self) -> None:
        """Refuse a run folder that could not be resumed, and engines that could not be queried."""
        Engines(self.providers)
        if self.store is not None and self.form is None:
            raise UsageError("a crawl into a run folder needs the form of its snapshots")
        if self.offline and (self.archive is None or not self.answer_from_archive):
            raise UsageError("an offline crawl needs an archive to read from")

    @property
    def start_urls(self) -> tuple[str, ...]:
        """Where the crawl begins."""
        return (*self.rules.start_urls, *self.more_start_urls)


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """How a crawl ended.

    ``start_links`` counts the links that the start page gave; None if no page came. A handful or none may
    mean that the site builds its pages in the browser. ``first_failure`` is the first thing that went wrong.
    """

    stop: StopReason
    progress: Progress
    start_links: int | None = None
    first_failure: str = ""
    messages: tuple[str, ...] = ()
