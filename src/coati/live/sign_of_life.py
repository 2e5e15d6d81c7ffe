"""Asks a host that failed for something that it answered before, and only then again for what failed.

Whether a URL is broken or its host is down cannot be told by asking for that URL again. So a retry whose host
has not answered since the outage is preceded by a HEAD of the URL that the host answered last. If that fails,
the failure stands for the retry, which is not sent; if it does not, both are charged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy import Request as ScrapyRequest
from scrapy.http.request import NO_CALLBACK

from coati.live.failures import PASSING_STATUSES
from coati.live.outcomes import LIVE_ONLY, REQUEST

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from coati.live.drive import Drive
    from coati.model import Request

_META: Final = {
    "verbatim_url": True,
    "dont_redirect": True,
    "handle_httpstatus_all": True,
    # It was allowed when it was asked for the first time.
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
        """Ask for a sign of life where the retry needs one; a bad one takes the place of its answer."""
        drive: Drive = self._crawler.spider.drive  # type: ignore[union-attr]  # the spider is ours
        chosen: Request | None = request.meta.get(REQUEST)
        url = None if chosen is None else drive.outages.proof(chosen)
        if chosen is None or url is None or not drive.charge(chosen.id):
            return None
        sign = ScrapyRequest(url, method="HEAD", callback=NO_CALLBACK, meta=dict(_META))
        try:
            response = await self._crawler.engine.download_async(sign)
        except Exception:
            drive.charge(chosen.id, -1)
            raise
        if response.status in PASSING_STATUSES:
            drive.charge(chosen.id, -1)
            return response.replace(url=request.url, request=request)
        drive.outages.answered(url)
        return None
