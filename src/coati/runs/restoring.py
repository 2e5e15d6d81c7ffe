"""Restore a strategy to where a run was: the newest usable snapshot, then the rest of the log.

For each event in order, a choice is redone and an observation is observed again, with the outcome that the
log holds. A page comes back with only those links whose URLs were new to the run when it was recorded, which
is all that a strategy may learn from (rule 4 of `coati.strategies.strategy`). Nothing is sent.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

from coati.model import NO_FACTS, Link, Method, Request, Settlement
from coati.runs.errors import RunMismatchError
from coati.runs.out_links import OutLinks
from coati.runs.outcome_rows import OutcomeRow, from_row
from coati.runs.schema import is_shared
from coati.runs.snapshots import SnapshotHead
from coati.runs.tag_path_text import path_from_text
from coati.runs.totals import Totals
from coati.strategies.strategy import Strategy
from coati.times import from_iso

_CHOICE_COLUMNS = 7
# Beyond every event: the largest number that SQLite keeps.
_NO_END = (1 << 63) - 1
_CHOICES = """
SELECT chosen_event, chosen_at, strategy_id, method, url, arm, score FROM requests
WHERE chosen_event > ? AND chosen_event < ? AND strategy = ? ORDER BY chosen_event
"""
_OBSERVATIONS = """
SELECT observed_event, finished_at, requests.id, strategy_id, requests.url, facts, out_links, relevant,
       kind, status, size_bytes, media_type, location, reason, deferred_until
FROM requests LEFT JOIN pages ON pages.request = requests.id
WHERE observed_event > ? AND observed_event < ? AND strategy = ? ORDER BY observed_event
"""
_LINKS = """
SELECT links.page, links.url, links.anchor, links.context, tag_paths.path, links.modified
FROM links LEFT JOIN tag_paths ON tag_paths.id = links.tag_path
{own}WHERE links.id > ? ORDER BY links.id
"""
_OF_STRATEGY = "JOIN requests ON requests.id = links.page AND requests.strategy = ? "
_IN_FLIGHT = """
SELECT strategy_id, method, url, arm, score FROM requests
WHERE observed_event IS NULL AND strategy = ? ORDER BY chosen_event
"""

_METHODS = {method.value: method for method in Method}

# Tag paths that are kept ready while a log is read; most links share a few.
_PATHS_READY = 1 << 14


S = TypeVar("S", bound="Strategy")


@dataclass(frozen=True, slots=True)
class Restored(Generic[S]):
    """A strategy that stands where the run was.

    ``in_flight`` was chosen and never observed, in the order of choice: send these again, and do not log them
    as chosen again. ``messages`` say what was odd: a snapshot that was left aside, and why.
    """

    strategy: S
    in_flight: list[Request]
    totals: Totals
    from_snapshot: bool
    events_redone: int
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Start(Generic[S]):
    """A strategy that stands at an event: that of a snapshot, or 0. ``link`` is the last that it knows."""

    strategy: S
    event: int
    link: int


def load_newest(
    snapshots: Iterable[tuple[SnapshotHead, bytes]],
    new_strategy: Callable[[], S],
    unpack: Callable[[bytes], Mapping[str, Any]],
    messages: list[str],
) -> Start[S]:
    """Load the first snapshot that loads, each into a strategy of its own; else begin again."""
    for head, state in snapshots:
        strategy = new_strategy()
        try:
            strategy.load(unpack(state))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            messages.append(f"the snapshot of event {head.event} is ignored: it cannot be loaded ({error!r})")
        else:
            return Start(strategy, head.event, head.link)
    return Start(new_strategy(), 0, 0)


class LogTail:
    """The events of one strategy of a log after a point, or between two; final rewards are collected."""

    def __init__(
        self,
        connection: Connection,
        after_event: int,
        after_link: int,
        before_event: int = _NO_END,
        strategy: str = "",
    ) -> None:
        between = (after_event, before_event, strategy)
        choices = connection.execute(_CHOICES, between)
        observations = connection.execute(_OBSERVATIONS, between)
        self._events: Iterator[tuple[Any, ...]] = heapq.merge(choices, observations, key=itemgetter(0))
        # Most logs have one strategy, and need not look up whose each link is.
        self._links = (
            connection.execute(_LINKS.format(own=_OF_STRATEGY), (strategy, after_link))
            if is_shared(connection)
            else connection.execute(_LINKS.format(own=""), (after_link,))
        )
        self._next_link = self._links.fetchone()
        self._out_links = OutLinks(connection)
        self._path = lru_cache(_PATHS_READY)(path_from_text)
        self.length = 0
        self.settlements: list[Settlement] = []

    def redo(self, strategy: Strategy) -> None:
        """Let a strategy go through the events; raises `RunMismatchError` if it cannot."""
        for event in self._events:
            self.length += 1
            try:
                if len(event) == _CHOICE_COLUMNS:
                    strategy.redo(_request(event[2:]), from_iso(event[1]))
                else:
                    _, at, number, request_id, url, facts, out_links, relevant, *columns = event
                    outcome = from_row(
                        OutcomeRow(*columns),
                        self._links_of(number),
                        NO_FACTS if facts is None else json.loads(facts),
                        None if out_links is None else self._out_links.restored(url, number, out_links),
                        relevant=bool(relevant),
                    )
                    self.settlements.extend(strategy.observe(request_id, outcome, from_iso(at)))
            except (ValueError, LookupError) as error:
                raise RunMismatchError(
                    f"the log cannot be redone from event {event[0]} on: {error}. Was the run made with"
                    " another strategy, seed or version?"
                ) from error

    def _links_of(self, page: int) -> list[Link]:
        # Links stand in the order in which their pages were observed, so one pass over them is enough.
        links = []
        while self._next_link is not None and self._next_link[0] == page:
            _, url, anchor, context, path, modified = self._next_link
            context = anchor if context is None else context
            changed = None if modified is None else from_iso(modified)
            links.append(Link(url, self._path(path), anchor, context, changed))
            self._next_link = self._links.fetchone()
        return links


def in_flight(connection: Connection, strategy: str) -> list[Request]:
    """Return what a strategy chose and never observed, in the order of choice."""
    return [_request(row) for row in connection.execute(_IN_FLIGHT, (strategy,))]


def _request(columns: tuple[Any, ...]) -> Request:
    request_id, method, url, arm, score = columns
    return Request(request_id, _METHODS[method], url, arm, score)
