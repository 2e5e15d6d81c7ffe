"""Crawls of tests: quick, breadth-first, and with everything that happened at hand."""
# ruff: noqa: ANN401 - changes are of all the types that a plan's fields have

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coati.budget import Budget
from coati.live import CrawlPlan, CrawlResult, Event, EventKind, LiveSettings, crawl
from coati.runs.store import RunStore, SnapshotForm
from coati.strategies.baselines.simple_orders import breadth_first
from coati.strategies.state import pack, unpack
from coati.web.rules import Rules

FORM = SnapshotForm("bfs", {}, pack, unpack)

# No answer is late on a machine that is shared; tests of time-outs have their own.
QUICK = LiveSettings(
    delay_seconds=0.0,
    answer_timeout_seconds=60.0,
    connect_timeout_seconds=60.0,
    retries=0,
    retry_seconds=0.01,
)


@dataclass
class Crawled:
    """A crawl that is over."""

    result: CrawlResult
    events: list[Event] = field(default_factory=list)

    def told(self, what: EventKind) -> list[dict[str, Any]]:
        return [dict(event.data) for event in self.events if event.what is what]

    @property
    def observed(self) -> dict[str, dict[str, Any]]:
        """What came of each URL."""
        return {told["url"]: told for told in self.told(EventKind.OBSERVED)}

    @property
    def skipped(self) -> dict[str, str]:
        return {told["url"]: told["reason"] for told in self.told(EventKind.SKIPPED)}


def plan_for(start_url: str, **changes: Any) -> CrawlPlan:
    """Plan a crawl; settings and budget may be given by the names of their fields."""
    settings = {name: changes.pop(name) for name in list(changes) if name in LiveSettings.__slots__}
    limits = {name: changes.pop(name) for name in list(changes) if name in Budget.__slots__}
    changes.setdefault("new_strategy", lambda: breadth_first([start_url]))
    changes.setdefault("rules", Rules(start_url))
    return CrawlPlan(settings=replace(QUICK, **settings), budget=Budget(**limits), **changes)


def crawl_from(
    start_url: str, on_event: Callable[[Event], object] = lambda _: None, **changes: Any
) -> Crawled:
    """Crawl from a URL and keep what happened; ``on_event`` is told at once."""
    events: list[Event] = []

    def note(event: Event) -> None:
        events.append(event)
        on_event(event)

    return Crawled(crawl(plan_for(start_url, on_event=note, **changes)), events)


def crawl_into(folder: Path, start_url: str, **changes: Any) -> Crawled:
    """Crawl into a run folder, new or to be resumed."""
    known = (folder / "run.toml").exists()
    now = time.time()  # noqa: TID251 - a run has real times
    opened = RunStore.open(folder, now) if known else RunStore.create(folder, {}, now)
    with opened as store:
        return crawl_from(start_url, **{"store": store, "form": FORM, **changes})
