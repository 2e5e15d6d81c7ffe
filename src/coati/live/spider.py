"""The spider of our own crawls: it brings the crawl along, and starts and parses nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from coati.live.drive import Drive


class LiveSpider(Spider):
    """Carries a `coati.live.drive.Drive` to Scrapy's components, which find it as ``spider.drive``."""

    name = "coati"

    def __init__(self, drive: Drive) -> None:
        super().__init__()
        self.drive = drive

    async def start(self) -> AsyncIterator[Any]:
        """Begin with nothing: the scheduler has the first request."""
        nothing: tuple[Any, ...] = ()
        for request in nothing:
            yield request
