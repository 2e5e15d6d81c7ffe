"""Crawl-delay of a robots.txt, applied.

Scrapy parses it and leaves it at that. This extension makes it the delay of the host's download slot, where
it is longer than the project's own delay, up to ``COATI_MAX_DELAY`` (seconds, default 60). Usable in any
Scrapy project, beside ``ROBOTSTXT_OBEY = True``::

    EXTENSIONS = {"coati.live.crawl_delay.CrawlDelay": 0}
    DOWNLOAD_DELAY_JITTER = 0  # Scrapy's default of 0.5 would undercut it by half at times
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

DEFAULT_MAX_DELAY = 60.0


class CrawlDelay:
    """Keeps the delays that sites ask for."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._own_delay = settings.getfloat("DOWNLOAD_DELAY")
        self._maximum = max(settings.getfloat("COATI_MAX_DELAY", DEFAULT_MAX_DELAY), self._own_delay)
        self._agent: str = settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"]
        crawler.signals.connect(self._on_robots, signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension; Scrapy calls this."""
        return cls(crawler)

    def _on_robots(self, robotparser: RobotParser, request: Request) -> None:
        asked = robotparser.crawl_delay(self._agent)
        # A comparison with NaN is false, so no nonsense passes.
        if asked is None or not asked > self._own_delay:
            return
        delay = min(asked, self._maximum)
        host = urlparse_cached(request).hostname or ""
        downloader = self._crawler.engine.downloader
        # Slots that idle are thrown away and made anew, from these settings.
        downloader.per_slot_settings.setdefault(host, {})["delay"] = delay
        slot = downloader.slots.get(host)
        if slot is not None:
            slot.delay = max(slot.delay, delay)
        drive = getattr(self._crawler.spider, "drive", None)
        if drive is not None:
            drive.slows(host, delay, "Crawl-delay")
