"""The log of a run: what was chosen and with which outcome, as rows of ``run.sqlite`` in order of events."""

from __future__ import annotations

import json
import sqlite3
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from coati.errors import UsageError
from coati.model import Facts, Link, NearbyText, Outcome, OutcomeKind, PageLinks, Request, Settlement
from coati.runs.durable import sync_file
from coati.runs.failed_urls import is_retry
from coati.runs.last_visit import LastVisit
from coati.runs.outcome_rows import OutcomeRow, storable, to_row
from coati.runs.renderings import note_rendering
from coati.runs.schema import is_shared, share
from coati.runs.tag_path_text import TagPathTable
from coati.runs.validators import Validators, validators_in
from coati.times import from_iso, to_iso
from coati.web.titles import best_title
from coati.web.urls import host_of, is_query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from coati.runs.fetched import Fetched
    from coati.runs.page_warc import PagePlace
    from coati.runs.target_files import StoredBody

# How long to wait for somebody who writes into our database with another tool.
_LOCK_SECONDS = 30.0

# Hot pages are rewritten in the WAL many times before they are copied to the file: 16 MB of them.
_PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA cache_size = -16000;
"""

_CHOOSE = """
INSERT INTO requests (id, strategy, strategy_id, purpose, host, url, method, arm, score,
    link, redirected_from, chosen_at, chosen_event)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_OBSERVE = """
UPDATE requests SET kind = ?, status = ?, size_bytes = ?, media_type = ?, location = ?, reason = ?,
    deferred_until = ?, charged = ?, new_target = ?, etag = ?, last_modified = ?,
    started_at = ?, finished_at = ?, observed_event = ?
WHERE id = ? AND observed_event IS NULL
"""
_FIND_ID = "SELECT id FROM requests WHERE strategy = ? AND strategy_id = ?"
_LAST_ID = "SELECT coalesce(max(id), -1) FROM requests"
# In one statement, since each costs as much to begin as to answer: a choice runs it every time.
_FIND_PAST = """
SELECT (SELECT kind FROM requests WHERE url = ?1 AND method = ?2 AND observed_event IS NOT NULL
        ORDER BY id DESC LIMIT 1),
       (SELECT id FROM links WHERE url = ?1 ORDER BY id LIMIT 1),
       (SELECT id FROM requests WHERE location = ?1 ORDER BY observed_event LIMIT 1)
"""
_IS_BEFORE = """
SELECT redirect.observed_event < page.observed_event FROM requests AS redirect, links
JOIN requests AS page ON page.id = links.page WHERE redirect.id = ? AND links.id = ?
"""
_FIND_VISIT = """
SELECT kind IN ('page', 'target', 'other'), etag, last_modified FROM requests
WHERE url = ? AND method = 'GET' AND kind IN ('page', 'target', 'other', 'redirect', 'failure')
ORDER BY observed_event DESC LIMIT 1
"""
_CHARGED_TO = "SELECT coalesce(sum(coalesce(charged, 1)), 0) FROM requests WHERE host = ?"
_FIND_VERSION = "SELECT version, sha256 FROM targets WHERE url = ? ORDER BY version DESC LIMIT 1"
_FIND_ORIGIN = "SELECT url, link, redirected_from FROM requests WHERE id = ?"
_FIND_PLACE = """
SELECT links.page, requests.url, links.anchor, tag_paths.path,
    coalesce(links.row_text, links.context), links.heading, pages.title, links.licence, links.modified
FROM links
JOIN requests ON requests.id = links.page LEFT JOIN pages ON pages.request = links.page
LEFT JOIN tag_paths ON tag_paths.id = links.tag_path
WHERE links.id = ?
"""
_ADD_LINK = """
INSERT INTO links (page, url, anchor, context, tag_path, modified, row_text, heading, licence, archived)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_ROBOTS = "INSERT INTO robots (url, status, size_bytes, reason, fetched_at) VALUES (?, ?, ?, ?, ?)"
_ADD_LIST = "INSERT INTO lists VALUES (?, ?) ON CONFLICT DO NOTHING"
_ADD_PAGE = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_WAS_RELEVANT = "SELECT 1 FROM pages WHERE url = ? AND relevant LIMIT 1"
_ADD_FILE = """
INSERT INTO files (name, name_key, size_bytes, media_type, sha256, title) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO NOTHING
"""
_ADD_TARGET = """
INSERT INTO targets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LAST_TIME = "SELECT max(coalesce(max(chosen_at), ''), coalesce(max(finished_at), '')) FROM requests"
_LAST_EVENT = "SELECT max(coalesce(max(chosen_event), 0), coalesce(max(observed_event), 0)) FROM requests"

# A chain longer than this is no longer followed back; drivers give up much earlier.
_MAX_HOPS = 50


class Purpose(StrEnum):
    """Why a URL was requested, as far as the log can tell."""

    START = "start"
    LINK = "link"
    REDIRECT = "redirect"
    QUERY = "query"
    RETRY = "retry"
    VISIT = "visit"


class Provenance(NamedTuple):
    """Where a request came from: the redirects before it, oldest first, and the link that began them."""

    redirects: list[str]
    page: int | None = None
    found_on: str | None = None
    anchor: str | None = None
    tag_path: str | None = None
    row_text: str | None = None
    heading: str | None = None
    page_title: str | None = None
    licence: str | None = None
    modified: str | None = None


class LoggedPage(NamedTuple):
    """A row of ``pages`` with its new links, and what names them.

    ``out_links`` is a difference (`coati.runs.out_links`).
    """

    number: int
    url: str
    links: int
    title: str
    new: list[Link]
    nearby_texts: list[NearbyText]
    sha256: str | None
    place: PagePlace | None
    facts: Facts
    out_links: bytes | None
    relevant: bool = False
    missing: str = ""


class RunLog:
    """Writes events. Each method but `transaction` is called within a transaction."""

    def __init__(self, path: Path) -> None:
        self._wal = path.with_name(path.name + "-wal")
        self.connection = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)
        with ExitStack() as undo:
            undo.callback(self.connection.close)
            for pragma in _PRAGMAS.strip().splitlines():
                self.connection.execute(pragma)
            self.last_event: int = self.connection.execute(_LAST_EVENT).fetchone()[0]
            self._last_id: int = self.connection.execute(_LAST_ID).fetchone()[0]
            self._shared = is_shared(self.connection)
            self._paths = TagPathTable(self.connection)
            undo.pop_all()

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Write what the block writes together; ``durable``: wait for the disk, so that power may fail.

        Otherwise it is safe from a kill of the process, and an older state is found after a power cut.
        """
        connection = self.connection
        if durable:
            connection.execute("PRAGMA synchronous = FULL")
        event = self.last_event
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            self.last_event = event
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        finally:
            if durable:
                connection.execute("PRAGMA synchronous = NORMAL")

    def last_time(self) -> float:
        """Return the last moment that the log holds, in seconds since the epoch; 0 where it holds none."""
        (last,) = self.connection.execute(_LAST_TIME).fetchone()
        return from_iso(last) if last else 0.0

    def sync(self) -> None:
        """Wait until all transactions so far are safe from a power cut; any thread may call this.

        SQLite keeps no lock on this file, so that opening it beside SQLite does no harm.
        """
        with suppress(FileNotFoundError):
            sync_file(self._wal)

    def choose(self, request: Request, at: float, strategy: str = "") -> bool:
        """Log a choice; tells whether such a request was observed before."""
        if strategy and not self._shared:
            share(self.connection)
            self._shared = True
        number = self._last_id + 1 if self._shared else request.id
        earlier, link, redirected_from = self._past(request)
        values = (
            number, strategy, request.id, _purpose(request, strategy, earlier, link, redirected_from),
            host_of(request.url), request.url, request.method.value, request.arm, request.score,
            link, redirected_from, to_iso(at), self._next_event(),
        )  # fmt: skip
        try:
            self.connection.execute(_CHOOSE, values)
        except sqlite3.IntegrityError:
            raise UsageError(f"request {request.id} ({request.url}) was chosen before") from None
        self._last_id = max(self._last_id, number)
        return earlier is not None

    def number(self, request_id: int, strategy: str = "") -> int:
        """Return the run's number of a request, given the one of the strategy that chose it."""
        if not self._shared:
            return request_id
        found = self.connection.execute(_FIND_ID, (strategy, request_id)).fetchone()
        if found is None:
            raise UsageError(f"{strategy or 'nobody'} never chose a request {request_id}")
        number: int = found[0]
        return number

    def last_visit(self, url: str) -> LastVisit | None:
        """Return what the last answer of a URL was like, "not modified" left aside; None if there is none."""
        found = self.connection.execute(_FIND_VISIT, (url,)).fetchone()
        return None if found is None else LastVisit(bool(found[0]), Validators(*found[1:]))

    def observe(self, fetched: Fetched, outcome: Outcome, *, new_target: bool = False) -> OutcomeRow:
        row = to_row(outcome, fetched.header("content-type"))
        values = (
            *row, fetched.charged, new_target,
            *validators_in(fetched.headers),
            to_iso(fetched.started_at), to_iso(fetched.finished_at),
            self._next_event(), self.number(fetched.request.id, fetched.strategy),
        )  # fmt: skip
        if self.connection.execute(_OBSERVE, values).rowcount != 1:
            request = fetched.request
            raise UsageError(f"request {request.id} ({request.url}) was not chosen, or recorded before")
        if fetched.rendered is not None:
            note_rendering(self.connection, values[-1], fetched.rendered)
        if fetched.lists:
            self.connection.executemany(_ADD_LIST, [(url, values[-1]) for url in fetched.lists])
        return row

    def add_page(self, page: LoggedPage) -> None:
        offset, length = page.place or (None, None)
        values = (
            page.number, page.url, page.links, len(page.new), page.sha256, offset, length,
            json.dumps(dict(page.facts)) if page.facts else None, page.out_links, page.title or None,
            page.relevant, page.missing or None,
        )  # fmt: skip
        self.connection.execute(_ADD_PAGE, values)
        number = self._paths.number
        rows = [
            (
                page.number,
                url,
                anchor,
                None if context == anchor else context,
                number(path),
                None if modified is None else to_iso(modified),
                None if row in {"", context} else row,
                heading or None,
                licence or None,
                archived or None,
            )
            for (url, path, anchor, context, modified), (row, heading, licence, archived) in zip(
                page.new, page.nearby_texts, strict=True
            )
        ]
        self.connection.executemany(_ADD_LINK, rows)

    def add_robots(self, url: str, status: int, size_bytes: int, reason: str, at: float) -> None:
        self.connection.execute(_ADD_ROBOTS, (url, status, size_bytes, reason or None, to_iso(at)))

    def was_relevant(self, url: str) -> bool:
        """Tell whether an earlier visit of a page counted as a target."""
        return self.connection.execute(_WAS_RELEVANT, (url,)).fetchone() is not None

    def charged_to(self, host: str) -> int:
        """Count the requests that a host has got; one that was not observed yet may have reached it."""
        count: int = self.connection.execute(_CHARGED_TO, (host,)).fetchone()[0]
        return count

    def last_version(self, url: str) -> tuple[int, str]:
        """Return the number and the SHA-256 of the last version of a target; 0 and "" if there is none."""
        found: tuple[int, str] | None = self.connection.execute(_FIND_VERSION, (url,)).fetchone()
        return (0, "") if found is None else found

    def add_file(self, body: StoredBody, media_type: str) -> None:
        self.connection.execute("DELETE FROM unfinished_files WHERE name = ?", (body.name,))
        self.connection.execute(
            _ADD_FILE,
            (body.name, body.name_key, body.size_bytes, media_type, body.sha256, body.title or None),
        )

    def add_target(self, fetched: Fetched, media_type: str, body: StoredBody, version: int) -> None:
        request = fetched.request
        number = self.number(request.id, fetched.strategy)
        origin = self.provenance(number)
        title = best_title(
            origin.anchor or "",
            origin.row_text or "",
            origin.heading or "",
            origin.page_title or "",
            body.title,
        )
        values = (
            number, request.url, version, body.name, body.size_bytes, media_type, origin.anchor,
            origin.found_on, origin.page, origin.tag_path, json.dumps(origin.redirects),
            json.dumps(fetched.headers), to_iso(fetched.finished_at), request.arm, request.score, body.sha256,
            title, origin.row_text, origin.heading, origin.page_title, origin.licence, origin.modified,
        )  # fmt: skip
        self.connection.execute(_ADD_TARGET, values)

    def settle(self, settlements: Iterable[Settlement], strategy: str = "") -> None:
        rows = [(reward, self.number(request_id, strategy)) for request_id, reward in settlements]
        self.connection.executemany("UPDATE requests SET reward = ? WHERE id = ?", rows)

    def provenance(self, request_id: int) -> Provenance:
        """Follow a request's redirects back to the link that began them."""
        _, link, before = self.connection.execute(_FIND_ORIGIN, (request_id,)).fetchone()
        redirects: list[str] = []
        while before is not None and len(redirects) < _MAX_HOPS:
            url, link, before = self.connection.execute(_FIND_ORIGIN, (before,)).fetchone()
            redirects.append(url)
        redirects.reverse()
        if link is None:
            return Provenance(redirects)
        return Provenance(redirects, *self.connection.execute(_FIND_PLACE, (link,)).fetchone())

    def _next_event(self) -> int:
        self.last_event += 1
        return self.last_event

    def _past(self, request: Request) -> tuple[str | None, int | None, int | None]:
        """Tell what came of the last such request, and which link or redirect made the run know its URL.

        Where both did, the one that came first counts.
        """
        past = self.connection.execute(_FIND_PAST, (request.url, request.method.value)).fetchone()
        earlier, link, redirect = past
        if link is not None and redirect is not None:
            (is_before,) = self.connection.execute(_IS_BEFORE, (redirect, link)).fetchone()
            return (earlier, None, redirect) if is_before else (earlier, link, None)
        return earlier, link, redirect


def _purpose(
    request: Request, strategy: str, earlier: str | None, link: int | None, redirected_from: int | None
) -> Purpose:
    if earlier is not None:
        again = earlier == OutcomeKind.DEFERRED or is_retry(strategy)
        return Purpose.RETRY if again else Purpose.VISIT
    if is_query(request.url):
        return Purpose.QUERY
    if redirected_from is not None:
        return Purpose.REDIRECT
    return Purpose.START if link is None else Purpose.LINK


def storable_texts(links: PageLinks, places: list[int]) -> list[NearbyText]:
    """Return what names the links at these places, as texts that the log can hold."""
    return [_storable_text(links.nearby_text(place)) for place in places]


def _storable_text(text: NearbyText) -> NearbyText:
    return text if "".join(text).isascii() else NearbyText(*map(storable, text))


def whole_links(links: PageLinks, places: list[int]) -> list[Link]:
    """Build the links at these places, with texts that the log can hold."""
    return [_storable_link(links.link(place)) for place in places]


def _storable_link(link: Link) -> Link:
    url, path, anchor, context, modified = link
    if "".join((url, anchor, context, *path)).isascii():
        return link
    return Link(storable(url), tuple(map(storable, path)), storable(anchor), storable(context), modified)
