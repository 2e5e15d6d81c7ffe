"""A spider that is none of ours, to show that a component works in anybody's project."""
# ruff: noqa: ANN401 - as Scrapy's own types have it

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response


class PlainSpider(Spider):
    """Asks for URLs and keeps what comes."""

    name = "plain"
    custom_settings = {  # noqa: RUF012 - as Scrapy has it
        "TWISTED_REACTOR_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
        "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
        "LOG_ENABLED": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    }

    def __init__(self, urls: Iterable[str]) -> None:
        super().__init__()
        self.urls = list(urls)
        self.responses: list[Response] = []
        self.errors: list[BaseException] = []

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, errback=self.failed, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        self.responses.append(response)

    def failed(self, failure: Any) -> None:
        self.errors.append(failure.value)


def run_spider(urls: Iterable[str], settings: Mapping[str, Any]) -> PlainSpider:
    """Run the spider over these URLs and give it back."""
    crawler = Crawler(PlainSpider, dict(settings))
    asyncio.run(crawler.crawl_async(urls=urls))
    assert isinstance(crawler.spider, PlainSpider)
    return crawler.spider
