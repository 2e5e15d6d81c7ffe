"""Archive first, else the web, and keep it: the papers' semi-online mode, as a Scrapy middleware.

With an archive in place a URL is asked for once in a lifetime. What the archive holds is answered without a
request, a delay or a look at robots.txt; what it does not hold is fetched and added. In a Scrapy project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.read_through.ReadThroughMiddleware": 20}
    COATI_ARCHIVE = "path/of/an/archive"

20 is on the engine's side of everything else: before robots.txt is asked, after retries are over. With
``COATI_ARCHIVE_ANSWERS = False`` everything is fetched, and recorded.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from coati.archive.archive import Archive
from coati.archive.record import Entry, Record
from coati.errors import ArchiveError
from coati.live.outcomes import BODY_BYTES, BODY_FILE, CUT, DAMAGED
from coati.live.robots import asks_for_robots
from coati.web.media import essence
from coati.web.urls import is_query, normalise, resolve

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ARCHIVED = "archived"

# These say how the server felt, not what the URL is: an archive would repeat them for ever.
_PASSING = frozenset({408, 421, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524})
# An engine's errors are about the key and the quota, never about the query.
_SUCCESS = range(200, 300)


class ArchiveLike(Protocol):
    """What read-through needs of an archive (`coati.archive.archive.Archive` has it)."""

    def entry(self, url: str) -> Entry | None:
        """Look a URL up; None where nothing is archived of it."""

    def record(self, url: str) -> Record:
        """Give everything that is archived of a URL."""

    def add(self, record: Record) -> None:
        """Append a record."""


class ReadThroughMiddleware:
    """Answers from an archive and adds to it."""

    def __init__(self, archive: ArchiveLike, *, answers: bool = True) -> None:
        self._archive = archive
        self._answers = answers

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware: with the archive of our own crawl, or with the project's."""
        drive = getattr(crawler.spider, "drive", None)
        if drive is not None:
            if drive.plan.archive is None:
                raise NotConfigured
            return cls(drive.plan.archive, answers=drive.plan.answer_from_archive)
        path = crawler.settings.get("COATI_ARCHIVE")
        if not path:
            raise NotConfigured("COATI_ARCHIVE names no archive")
        archive = Archive.open(Path(path), writable=True)
        crawler.signals.connect(lambda: archive.close(), signals.spider_closed, weak=False)  # noqa: PLW0108
        return cls(archive, answers=crawler.settings.getbool("COATI_ARCHIVE_ANSWERS", True))

    def process_request(self, request: Request) -> Response | None:
        """Answer what is archived."""
        url = _key(request)
        if not self._answers or url is None:
            return None
        entry = self._archive.entry(url)
        if entry is None or not entry.status:
            return None
        if request.method == "HEAD":
            return _response(request, Record(entry, _headers(entry)), b"")
        try:
            record = self._archive.record(url)
        except ArchiveError:
            return None
        if record.body is None and entry.size_bytes:
            # Only its size was kept. Whoever asks for it now wants the bytes.
            return None
        return _response(request, record, record.body or b"")

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep what came from the web."""
        url = _key(request)
        if (
            url is None
            or request.method != "GET"
            or ARCHIVED in response.flags
            or response.status in _PASSING
            or (is_query(url) and response.status not in _SUCCESS)
        ):
            return response
        whole = not request.meta.get(BODY_FILE) and not {CUT, DAMAGED, "download_stopped"} & set(
            response.flags
        )
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        )
        location = (response.headers.get("Location") or b"").decode("latin-1")
        entry = Entry(
            url,
            response.status,
            essence((response.headers.get("Content-Type") or b"").decode("latin-1")),
            _size(request, response),
            location=(resolve(url, location) or "") if location else "",
            fetched_at=time.time(),
        )
        self._archive.add(Record(entry, headers, response.body if whole else None))
        return response


def _key(request: Request) -> str | None:
    """Give the URL under which a request is archived; None if it is none of the site's content."""
    if asks_for_robots(request) or request.method not in {"GET", "HEAD"}:
        return None
    return request.url if request.meta.get("verbatim_url") else normalise(request.url)


def _size(request: Request, response: Response) -> int:
    if request.meta.get(BODY_FILE):
        size: int = request.meta[BODY_BYTES]
        return size
    declared = (response.headers.get("Content-Length") or b"").decode("latin-1")
    if "download_stopped" in response.flags and declared.isdigit():
        return int(declared[:18])
    return len(response.body)


def _headers(entry: Entry) -> tuple[tuple[str, str], ...]:
    headers = (("Content-Type", entry.media_type),)
    return (*headers, ("Location", entry.location)) if entry.location else headers


def _response(request: Request, record: Record, body: bytes) -> Response:
    headers = Headers(record.headers or _headers(record.entry), encoding="latin-1")
    # The stored body is decoded.
    headers.pop("Content-Encoding", None)
    kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
    return kind(request.url, status=record.entry.status, headers=headers, body=body, flags=[ARCHIVED])
