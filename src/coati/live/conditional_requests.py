"""Conditional requests: ask whether a URL has changed, if the run or its archive has its validators.

The validators of the last answer go along with the request. "Not modified" then means `Unchanged` where the
run itself was given that answer; where only the archive holds it, the archived answer takes its place.
Each hop of a redirect is a request of its own, so validators only ever go back to the URL that gave them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from coati.errors import ArchiveError
from coati.live.outcomes import CONDITIONAL, NOT_MODIFIED
from coati.live.read_through import ArchiveLike, archive_key, archived_response
from coati.live.spider import drive_of
from coati.runs.validators import validators_in

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from coati.archive.record import Record
    from coati.live.answered_urls import AnsweredUrls

# The key of a request's meta under which an archived answer waits for "not modified".
_ARCHIVED_ANSWER = "coati_archived_answer"
_CONDITIONS = ("If-None-Match", "If-Modified-Since")


class ConditionalRequestMiddleware:
    """Adds the conditions to requests that go to the web, and understands the answers."""

    def __init__(self, visits: AnsweredUrls, archive: ArchiveLike | None) -> None:
        self._visits = visits
        self._archive = archive

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl of ours."""
        drive = drive_of(crawler)
        if drive is None:
            raise NotConfigured
        return cls(drive.visits, drive.plan.archive)

    def process_request(self, request: Request) -> None:
        """Add the conditions, where there are validators."""
        for key in (CONDITIONAL, _ARCHIVED_ANSWER):
            if request.meta.pop(key, None) is not None:
                for name in _CONDITIONS:
                    request.headers.pop(name, None)
        url = archive_key(request)
        if url is None or request.method != "GET":
            return
        visited = self._visits.last(url)
        if visited is not None:
            conditions = visited.validators.headers if visited.gave else {}
            if conditions:
                request.meta[CONDITIONAL] = url
        else:
            record = self._archived(url)
            conditions = {} if record is None else validators_in(record.headers).headers
            if conditions:
                request.meta[_ARCHIVED_ANSWER] = record
        for name, value in conditions.items():
            request.headers[name] = value.encode("latin-1", "replace")

    def process_response(self, request: Request, response: Response) -> Response:
        """Put the archived answer in the place of "not modified"."""
        record: Record | None = request.meta.pop(_ARCHIVED_ANSWER, None)
        if record is None or response.status != NOT_MODIFIED:
            return response
        return archived_response(request, record)

    def _archived(self, url: str) -> Record | None:
        """Return the archived answer, if it is one that could be given instead of being fetched."""
        entry = None if self._archive is None else self._archive.entry(url)
        if self._archive is None or entry is None or not 200 <= entry.status < 300:  # noqa: PLR2004 - success
            return None
        try:
            record = self._archive.record(url)
        except ArchiveError:
            return None
        return None if record.body is None else record
