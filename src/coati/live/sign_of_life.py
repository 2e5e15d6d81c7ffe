"""Checks a failing host with a URL that it answered before, and only then retries what failed.

Whether a URL is broken or its host is down cannot be told by requesting that URL again. So a retry whose host
has not answered since the outage is preceded by a GET of the last small answer that the host gave: a HEAD
would not show that bodies break off. If that fails, the failure stands for the retry, which is not sent; if
it does not, both are charged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from scrapy import Request as ScrapyRequest
from scrapy.exceptions import ResponseDataLossError
from scrapy.http.request import NO_CALLBACK

from coati.archive.record import IN_TROUBLE
from coati.live.failures import PASSING_REASONS, failure_reason
from coati.live.outcomes import BODY_FILE, DAMAGED, LIVE_ONLY, REQUEST

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from coati.live.drive import Drive
    from coati.model import Request

_META: Final = {
    "verbatim_url": True,
    "dont_redirect": True,
    "handle_httpstatus_all": True,
    # It was allowed when it was requested first.
    "dont_obey_robotstxt": True,
    LIVE_ONLY: True,
}


class SignOfLifeMiddleware:
    """Holds retries back until their host shows that it is there; for crawls with a drive."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        return cls(crawler)

    async def process_request(self, request: ScrapyRequest) -> Response | None:
        """Probe the host where the retry needs it; a bad response takes the place of the retry's."""
        drive: Drive = self._crawler.spider.drive  # type: ignore[union-attr]  # the spider is ours
        chosen: Request | None = request.meta.get(REQUEST)
        url = None if chosen is None else drive.outages.probe_url(chosen)
        if chosen is None or url is None or not drive.charge(chosen.id):
            return None
        bad = await self._ask(url)
        if bad is None:
            drive.host_answered(url)
            return None
        drive.charge(chosen.id, -1)
        if isinstance(bad, Exception):
            raise bad
        return bad.replace(url=request.url, request=request)

    async def _ask(self, url: str) -> Response | Exception | None:
        """Request a URL; returns what is as bad as no response, or None."""
        request = ScrapyRequest(url, callback=NO_CALLBACK, meta=dict(_META))
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - the request itself will meet it, too
            return error if failure_reason(error) in PASSING_REASONS else None
        _discard_file(request)
        if DAMAGED in response.flags:
            return ResponseDataLossError(url)
        return response if response.status in IN_TROUBLE else None


def _discard_file(request: ScrapyRequest) -> None:
    """Remove what was large enough to go to disk."""
    if BODY_FILE in request.meta:
        Path(request.meta[BODY_FILE]).unlink(missing_ok=True)
