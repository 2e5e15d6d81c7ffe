"""A spider as one would write it without Coati: it follows every link and notes every data file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scrapy
from scrapy.http import HtmlResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class FilesSpider(scrapy.Spider):
    """Notes the data files of a website."""

    name = "files"

    def __init__(self, start: str = "https://www.example.org/") -> None:
        super().__init__()
        self.start_urls = [start]

    def parse(self, response: Response) -> Iterator[scrapy.Request | dict[str, object]]:
        """Follow the links of a page, and note what is no page."""
        if isinstance(response, HtmlResponse):
            # Requests without a callback of their own are links: Coati's strategy decides about those.
            yield from response.follow_all(css="a")
        else:
            media_type = (response.headers.get("Content-Type") or b"").decode()
            yield {"url": response.url, "type": media_type, "bytes": len(response.body)}
