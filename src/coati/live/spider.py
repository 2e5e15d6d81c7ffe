"""The spider of our own crawls: it carries the crawl, and starts and parses nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler

    from coati.live.drive import Drive


class LiveSpider(Spider):
    """Carries a `coati.live.drive.Drive` to Scrapy's components, which find it with `drive_of`."""

    name = "coati"

    def __init__(self, drive: Drive) -> None:
        super().__init__()
        self.drive = drive

    async def start(self) -> AsyncIterator[Any]:
        """Begin with nothing: the scheduler has the first request."""
        nothing: tuple[Any, ...] = ()
        for request in nothing:
            yield request


def drive_of(crawler: Crawler) -> Drive | None:
    """Return the crawl that a spider of ours brings; None in another project."""
    spider = crawler.spider
    return spider.drive if isinstance(spider, LiveSpider) else None
