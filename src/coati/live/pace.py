"""The pace of hosts (`coati.pacing.host_pace`) in front of the network: each request waits for its turn.

It keeps the delay, honours Retry-After and the Crawl-delay of robots.txt, and slows down while a host is in
trouble. Usable in any Scrapy project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.pace.PaceMiddleware": 890}

890 is next to the network, so that each attempt counts, and what other middlewares request as well. Settings:

=========================  ==============================================================================
``DOWNLOAD_DELAY``         the least delay between two requests to a host, without Scrapy's variation
``COATI_DELAYS``           the delays of single hosts, by name, in the place of that one
``COATI_MAX_DELAY``        how far it may grow by a Crawl-delay, by errors and by slowness (60 seconds)
``COATI_MAX_RETRY_AFTER``  the longest wait that a server may ask for (300 seconds). A response that asks for
                           more is not retried; it reaches the spider with the seconds in
                           ``response.meta["coati_wait_too_long"]``. Further requests to its host are not
                           sent, and end in a `coati.live.failures.HostEndedError`.
=========================  ==============================================================================
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from datetime import UTC
from typing import TYPE_CHECKING, Final, Self

from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.utils.httpobj import urlparse_cached

from coati.live.clock import RunClock
from coati.live.event_loop import CrawlLoop
from coati.live.failures import HostEndedError
from coati.live.outcomes import ANSWER_SECONDS, REQUEST
from coati.live.settings import LiveSettings
from coati.live.spider import drive_of
from coati.pacing.host_pace import HostPace, PaceSettings, Wait
from coati.web.urls import host_of, is_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings


TOO_LONG: Final = "coati_wait_too_long"

# A request that was let through to the network has the name of its host here, as the pace knows it. Who sends
# another one in its place hands that on.
PACED_HOST: Final = "coati_paced_host"

# Failures that say something about the host, and not about one answer.
_TROUBLES = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

# A request that is held back looks up this often, to see whether the crawl has ended.
_LOOK_UP_SECONDS = 0.25
# The clock of a run has milliseconds.
_LEAST_SLEEP_SECONDS = 0.001

_DEFAULTS = LiveSettings()


def pace_settings(settings: BaseSettings, *, many_hosts: bool) -> PaceSettings:
    """Read the pace from Scrapy's settings; in our crawls ``COATI_DELAY`` takes the place of its delay."""
    delay = settings.getfloat("DOWNLOAD_DELAY")
    return PaceSettings(
        delay_seconds=settings.getfloat("COATI_DELAY", delay),
        delays=settings.getdict("COATI_DELAYS"),
        # 0 means no limit to Scrapy; a strategy that chose without end would learn nothing.
        per_host=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") or 1,
        max_delay_seconds=settings.getfloat("COATI_MAX_DELAY", _DEFAULTS.max_delay_seconds),
        max_rest_seconds=settings.getfloat("COATI_MAX_RETRY_AFTER", _DEFAULTS.max_retry_after_seconds),
        many_hosts=many_hosts,
    )


class PaceMiddleware:
    """Lets each request through at its time, and tells the pace what became of it."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        # The crawl that a spider of ours brings.
        self._drive = drive_of(crawler)
        self._now = RunClock().now if self._drive is None else self._drive.now
        many_hosts = self._drive is not None and not self._drive.plan.one_site
        chosen = pace_settings(settings, many_hosts=many_hosts)
        self.pace = HostPace(chosen)
        if self._drive is not None:
            self.pace.load(self._drive.host_pauses(), self._now())
        self._spaced = chosen.delay_seconds > 0
        agent: str = settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"]
        self._agents: list[str] = settings.getlist("COATI_ROBOTS_AGENTS") or [agent]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.robots_parsed, signals.robots_parsed)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Hold a request back until its host is ready."""
        host = _host(request)
        if not host:
            return
        while True:
            if self.pace.ended(host):
                raise HostEndedError(self.pace.ended(host))
            seconds = self.pace.wait(host, self._now()).seconds
            if seconds <= 0:
                break
            if self._drive is not None and self._drive.aborted:
                raise IgnoreRequest("the crawl ends before the host's delay is over")
            await asyncio.sleep(max(_LEAST_SLEEP_SECONDS, min(seconds, _LOOK_UP_SECONDS)))
        request.meta[PACED_HOST] = host
        self.note_sent(request)
        if await self._take_turn():
            self.note_sent(request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Learn from a response of the host; one from an archive says nothing."""
        host = request.meta.pop(PACED_HOST, "")
        if not host:
            return response
        now = self._now()
        header = response.headers.get("Retry-After")
        retry_after = None if header is None else parse_retry_after(header.decode("latin-1"), time.time())
        self._tell(
            host, self.pace.answered(host, now, response.status, _server_seconds(request), retry_after)
        )
        if self.pace.ended(host):
            request.meta["dont_retry"] = True
            request.meta[TOO_LONG] = retry_after
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Learn from a failure, if it says something about the host."""
        host = request.meta.pop(PACED_HOST, "")
        if host and isinstance(exception, _TROUBLES):
            self._tell(host, self.pace.failed(host, self._now()))

    def note_sent(self, request: Request) -> None:
        """Let the delay of a host count from here; a handler says it again when it writes to the socket."""
        # One moment for both: else a stall between them makes the log show less than the delay.
        now = self._now()
        if request.meta.get(PACED_HOST):
            self.pace.sent(request.meta[PACED_HOST], now)
        if self._drive is not None and REQUEST in request.meta:
            self._drive.note_sent(request.meta[REQUEST].id, now)

    def robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Keep the Crawl-delay of a robots.txt."""
        host = _host(request)
        for agent in self._agents:
            crawl_delay = robotparser.crawl_delay(agent)
            if crawl_delay is not None:
                self._tell(host, self.pace.set_crawl_delay(host, crawl_delay))

    async def _take_turn(self) -> bool:
        """Let the requests of this process leave one after the other, unless no delay is wanted at all."""
        loop = asyncio.get_running_loop()
        if not self._spaced or not isinstance(loop, CrawlLoop):
            return False
        seconds = loop.request_spacing.seconds_to_wait(time.monotonic())
        if seconds > 0:
            await asyncio.sleep(seconds)
        return seconds > 0

    def _tell(self, host: str, waits: Sequence[Wait]) -> None:
        changed = self.pace.unsaved()
        if self._drive is not None:
            self._drive.host_waits(host, waits, changed)


def _host(request: Request) -> str:
    """Return the host as `coati.web.urls.host_of` writes it."""
    if is_query(request.url):
        return host_of(request.url)
    name = urlparse_cached(request).hostname or ""
    return f"[{name}]" if ":" in name else name


def _server_seconds(request: Request) -> float:
    meta = request.meta
    return meta.get(ANSWER_SECONDS, meta.get("download_latency")) or 0.0


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
