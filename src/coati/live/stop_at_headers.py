"""Downloads that stop after the headers, because the body is not wanted.

A picture, a film, a file above the limit, something that is neither page nor target: the headers say so, and
the body would be thrown away. Where it is small it is read all the same, since closing a connection costs the
server more. Of XML, which may be a sitemap or a feed, our own crawls look at the first bytes. Usable in any
Scrapy project::

    EXTENSIONS = {"coati.live.stop_at_headers.StopAtHeaders": 0}
    COATI_MAX_FILE_BYTES = 100_000_000
    COATI_TYPES = "data"  # leave it out to stop at pictures, films and sound only

The response has no body then, the flag ``download_stopped``, and the reason in its meta, under
``coati_stopped``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import StopDownload

from coati.live.header_texts import header_text
from coati.live.outcomes import LIST, LOOK_INSIDE, PAGE_REQUEST, STOPPED, is_blocked
from coati.live.robots import asks_for_robots
from coati.live.settings import LiveSettings
from coati.live.spider import drive_of
from coati.model import Kind
from coati.readers.formats import is_xml
from coati.runs.skip_reasons import SkipReason
from coati.web.downloads import download_type, proposed_name
from coati.web.media import TargetTypes, parse_types

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Headers


_SMALL_BYTES = 16 * 1024


class StopAtHeaders:
    """Stops downloads by what their headers say."""

    def __init__(self, crawler: Crawler, types: TargetTypes | None) -> None:
        self._types = types
        # A project's own handler would take all of any XML.
        self._of_crawl = drive_of(crawler) is not None
        self._maximum = crawler.settings.getint("COATI_MAX_FILE_BYTES", LiveSettings().max_file_bytes)
        crawler.signals.connect(self._on_headers, signals.headers_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension; Scrapy calls this."""
        drive = drive_of(crawler)
        if drive is not None:
            return cls(crawler, drive.plan.types)
        named = crawler.settings.get("COATI_TYPES")
        return cls(crawler, parse_types(named) if named else None)

    def _on_headers(self, headers: Headers, body_length: int | None, request: Request) -> None:
        request.meta.pop(STOPPED, None)
        request.meta.pop(LOOK_INSIDE, None)
        if request.method == "HEAD" or asks_for_robots(request) or PAGE_REQUEST in request.meta:
            return
        disposition = header_text(headers, "Content-Disposition")
        media_type = download_type(header_text(headers, "Content-Type"), disposition)
        # Scrapy's own handler says so where the length is not known.
        declared = body_length if isinstance(body_length, int) and body_length >= 0 else None
        reason = self._reason(media_type, proposed_name(disposition), declared, request)
        if reason is not None:
            request.meta[STOPPED] = reason.value
            raise StopDownload(fail=False)

    def _reason(
        self, media_type: str, name: str, declared: int | None, request: Request
    ) -> SkipReason | None:
        if "html" in media_type.lower():
            return None
        if declared is not None and declared <= _SMALL_BYTES:
            return None
        if is_blocked(media_type):
            return SkipReason.MEDIA_TYPE
        if self._types is not None and self._types.kind(media_type, request.url, name) is Kind.OTHER:
            if not (request.meta.get(LIST) or (self._of_crawl and is_xml(media_type))):
                return SkipReason.MEDIA_TYPE
            request.meta[LOOK_INSIDE] = True
        return SkipReason.TOO_LARGE if declared is not None and declared > self._maximum else None
