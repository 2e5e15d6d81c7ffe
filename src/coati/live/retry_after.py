"""Retry-After, honoured: a host that asks for a pause gets it, and other hosts go on.

Scrapy retries 429 and 503 at once. With this middleware in front of its retries, the host rests for as long
as the header says (seconds or a date), or for a growing time if it says nothing. Usable in any Scrapy
project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.retry_after.RetryAfterMiddleware": 560}

560 is between Scrapy's retries (550) and the network. ``COATI_MAX_RETRY_AFTER`` (seconds, default 300) bounds
the wait. A response that asks for more is not retried; it reaches the spider, with the seconds in
``response.meta["coati_wait_too_long"]``.
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from datetime import UTC
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from coati.live.drive import Drive

TOO_LONG: Final = "coati_wait_too_long"

_ASKS_FOR_PATIENCE = frozenset({429, 503})

# The first pause of a host that gives none itself; each further attempt at the same request doubles it.
_FIRST_PAUSE_SECONDS = 5.0

_DEFAULT_MAXIMUM = 300.0

# A request that is held back looks up so often, to see whether the crawl has ended.
_LOOK_UP_SECONDS = 0.25


class RetryAfterMiddleware:
    """Makes hosts rest that ask for it."""

    def __init__(self, maximum_seconds: float = _DEFAULT_MAXIMUM) -> None:
        self._maximum = maximum_seconds
        self._until: dict[str, float] = {}
        self._why: dict[str, str] = {}
        self._crawler: Crawler | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        middleware = cls(crawler.settings.getfloat("COATI_MAX_RETRY_AFTER", _DEFAULT_MAXIMUM))
        middleware._crawler = crawler
        return middleware

    def rest_seconds(self, host: str) -> float:
        """Say how long a host still has to rest."""
        until = self._until.get(host)
        if until is None:
            return 0.0
        left = until - time.monotonic()
        if left <= 0:
            del self._until[host], self._why[host]
        return max(0.0, left)

    def why(self, host: str) -> str:
        """Say why a host rests."""
        return self._why.get(host, "")

    def let_rest(self, host: str, seconds: float, why: str = "Retry-After") -> None:
        """Let a host rest; a longer rest stays as it is."""
        until = time.monotonic() + seconds
        if until > self._until.get(host, 0.0):
            self._until[host], self._why[host] = until, why

    async def process_request(self, request: Request) -> None:
        """Hold a request back while its host rests; our own scheduler does not even send it."""
        if self._until:
            host = _host(request)
            while (seconds := self.rest_seconds(host)) > 0:
                drive = self._drive()
                if drive is not None and drive.aborted:
                    raise IgnoreRequest("the crawl ends before its host may be asked again")
                await asyncio.sleep(min(seconds, _LOOK_UP_SECONDS))

    def process_response(self, request: Request, response: Response) -> Response:
        """Let the host rest if it asks for it; what is done with the response is Scrapy's business."""
        if response.status not in _ASKS_FOR_PATIENCE:
            return response
        header = response.headers.get("Retry-After")
        seconds = None if header is None else parse_retry_after(header.decode("latin-1"), time.time())
        why = "Retry-After"
        if seconds is None:
            seconds = _FIRST_PAUSE_SECONDS * 2 ** request.meta.get("retry_times", 0)
            why = f"status {response.status}"
        if seconds > self._maximum:
            if header is not None:
                request.meta["dont_retry"] = True
                request.meta[TOO_LONG] = seconds
            seconds = self._maximum
        host = _host(request)
        self.let_rest(host, seconds, why)
        self._tell(host, seconds, why)
        return response

    def _tell(self, host: str, seconds: float, why: str) -> None:
        drive = self._drive()
        if drive is not None:
            drive.rests(host, seconds, why)

    def _drive(self) -> Drive | None:
        """Give the crawl that a spider of ours brings."""
        spider = None if self._crawler is None else self._crawler.spider
        drive: Drive | None = getattr(spider, "drive", None)
        return drive


def _host(request: Request) -> str:
    """Name who rests: a host, or what the request names as its slot, as queries do."""
    slot: str | None = request.meta.get("download_slot")
    return slot or urlparse_cached(request).hostname or ""


def parse_retry_after(value: str, now: float) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date; None if it is neither.

    >>> parse_retry_after("120", 0.0)
    120.0
    >>> parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 15.0)
    45.0
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        at = email.utils.parsedate_to_datetime(value)
        seconds = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds - now)
