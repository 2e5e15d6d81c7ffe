"""Answer from the archive if it can, else fetch and archive: the papers' semi-online mode.

With an archive in place a URL is requested once in a lifetime, unless a run visits it again. What the archive
holds is answered without a request, a delay or a look at robots.txt; what it does not hold, or only in an old
capture, is fetched and added. Offline nothing is fetched at all. In a Scrapy project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.read_through.ReadThroughMiddleware": 20}
    COATI_ARCHIVE = "path/of/an/archive"

20 is on the engine's side of everything else: before robots.txt is consulted, after retries are over. With
``COATI_ARCHIVE_ANSWERS = False`` everything is fetched, and recorded.
"""

from __future__ import annotations

import math
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from coati.archive.archive import Archive
from coati.archive.record import IN_TROUBLE, Entry, Record
from coati.errors import ArchiveError
from coati.live.failures import NotAskedError
from coati.live.header_texts import header_pairs, header_text
from coati.live.origin_headers import OriginHeader, sent_headers
from coati.live.outcomes import BODY_BYTES, BODY_FILE, CONDITIONAL, CUT, DAMAGED, LIVE_ONLY, NOT_MODIFIED
from coati.live.robots import asks_for_robots
from coati.live.spider import drive_of
from coati.runs.errors import RunWriteError
from coati.runs.skip_reasons import SkipReason
from coati.web.media import essence
from coati.web.sniffing import sniffed_type
from coati.web.urls import is_query, normalise, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler

    from coati.live.drive import Drive

ARCHIVED = "archived"

# An engine's errors are about the key and the quota, never about the query.
_SUCCESS = range(200, 300)


class ArchiveLike(Protocol):
    """What read-through needs of an archive (`coati.archive.archive.Archive` has it)."""

    def entry(self, url: str) -> Entry | None:
        """Look a URL up; None where nothing is archived of it."""

    def record(self, url: str) -> Record:
        """Return everything that is archived of a URL."""

    def add(self, record: Record) -> None:
        """Append a record."""


class ReadThroughMiddleware:
    """Answers from an archive and adds to it."""

    def __init__(
        self,
        archive: ArchiveLike,
        drive: Drive | None = None,
        *,
        answers: bool = True,
        bound: Iterable[OriginHeader] = (),
    ) -> None:
        self._archive = archive
        self._bound = tuple(bound)
        self._drive = drive
        self._answers = answers
        self._max_age = math.inf
        self._offline = False
        if drive is not None:
            self._max_age = drive.plan.archive_max_age_seconds or math.inf
            self._offline = drive.plan.offline

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware: with the archive of our own crawl, or with the project's."""
        drive = drive_of(crawler)
        if drive is not None:
            if drive.plan.archive is None:
                raise NotConfigured
            plan = drive.plan
            bound = plan.settings.origin_headers
            return cls(drive.plan.archive, drive, answers=plan.answer_from_archive, bound=bound)
        path = crawler.settings.get("COATI_ARCHIVE")
        if not path:
            raise NotConfigured("COATI_ARCHIVE names no archive")
        archive = Archive.open(Path(path), writable=True)
        crawler.signals.connect(lambda: archive.close(), signals.spider_closed, weak=False)  # noqa: PLW0108
        settings = crawler.settings
        bound = tuple(OriginHeader(*header) for header in settings.getlist("COATI_ORIGIN_HEADERS"))
        return cls(archive, answers=settings.getbool("COATI_ARCHIVE_ANSWERS", True), bound=bound)

    def process_request(self, request: Request) -> Response | None:
        """Answer what is archived."""
        url = archive_key(request)
        if not self._answers or url is None:
            return None
        response = self._answer(request, url)
        if response is None and self._offline and not self._answers_here(url):
            raise NotAskedError(SkipReason.NOT_ARCHIVED)
        return response

    def _answers_here(self, url: str) -> bool:
        """Tell whether an engine in this process answers a query: no request leaves the machine."""
        return self._drive is not None and is_query(url) and self._drive.engines.answers_here(url)

    def _answer(self, request: Request, url: str) -> Response | None:
        entry = self._archive.entry(url)
        if entry is None or not entry.status or self._now() - entry.moment > self._max_age:
            return None
        if entry.status in IN_TROUBLE and not self._offline:
            # It may have been an outage. A retry is to find out.
            return None
        if request.method == "HEAD":
            return archived_response(request, Record(entry, _headers(entry)))
        visited = None if self._drive is None else self._drive.visits.last(url)
        if visited is not None and not self._offline:
            # The run has had it, and wants to know what is there now.
            return None
        if visited is not None and visited.gave:
            request.meta[CONDITIONAL] = url
            return Response(url, status=NOT_MODIFIED, flags=[ARCHIVED])
        return self._whole_answer(request, entry)

    def _whole_answer(self, request: Request, entry: Entry) -> Response | None:
        try:
            record = self._archive.record(entry.url)
        except ArchiveError:
            return None
        if record.body is None and entry.size_bytes:
            # Only its size was kept. This request wants the bytes.
            return None
        return archived_response(request, record)

    def _now(self) -> float:
        return time.time() if self._drive is None else self._drive.now()

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep what came from the web."""
        url = archive_key(request)
        kept = request.method == "GET" and response.status != NOT_MODIFIED and ARCHIVED not in response.flags
        if self._offline or url is None or not kept or (is_query(url) and response.status not in _SUCCESS):
            return response
        whole = not request.meta.get(BODY_FILE) and not {CUT, DAMAGED, "download_stopped"} & set(
            response.flags
        )
        headers = tuple(header_pairs(response.headers))
        location = header_text(response.headers, "Location")
        declared = header_text(response.headers, "Content-Type")
        disposition = header_text(response.headers, "Content-Disposition")
        entry = Entry(
            url,
            response.status,
            essence(sniffed_type(declared, response.body, disposition)),
            _size(request, response),
            location=(resolve(url, location) or "") if location else "",
            fetched_at=self._time_of_capture(url),
        )
        if entry.passing:
            # It says how the server felt, not what the URL is: an archive would repeat it for ever.
            return response
        try:
            self._archive.add(
                Record(entry, headers, response.body if whole else None, self._sent(request, url))
            )
        except (OSError, sqlite3.Error) as error:
            where = self._archive.folder if isinstance(self._archive, Archive) else ""
            raise RunWriteError(f"the archive {where} could not be written: {error}") from error
        return response

    def _sent(self, request: Request, url: str) -> tuple[tuple[str, str], ...] | None:
        """Return what was sent, as far as it may be kept; of a query nothing, which an engine sends."""
        return None if is_query(url) else sent_headers(request, self._bound)

    def _time_of_capture(self, url: str) -> float:
        """Return the time, but not one before the last capture of a URL: a clock may have gone back."""
        known = self._archive.entry(url)
        return self._now() if known is None else max(self._now(), known.moment)


def archive_key(request: Request) -> str | None:
    """Return the URL under which a request is archived; None if it does not belong to the site's content."""
    if asks_for_robots(request) or LIVE_ONLY in request.meta or request.method not in {"GET", "HEAD"}:
        return None
    return request.url if request.meta.get("verbatim_url") else normalise(request.url)


def _size(request: Request, response: Response) -> int:
    if request.meta.get(BODY_FILE):
        size: int = request.meta[BODY_BYTES]
        return size
    declared = header_text(response.headers, "Content-Length")
    if "download_stopped" in response.flags and declared.isdigit():
        return int(declared[:18])
    return len(response.body)


def _headers(entry: Entry) -> tuple[tuple[str, str], ...]:
    headers = (("Content-Type", entry.media_type),)
    return (*headers, ("Location", entry.location)) if entry.location else headers


def archived_response(request: Request, record: Record) -> Response:
    """Return an archived answer as if it had been fetched; without its body where there is none."""
    headers = Headers(record.headers or _headers(record.entry), encoding="latin-1")
    # The stored body is decoded.
    headers.pop("Content-Encoding", None)
    body = record.body or b""
    kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
    return kind(request.url, status=record.entry.status, headers=headers, body=body, flags=[ARCHIVED])
