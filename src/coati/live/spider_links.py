"""What a spider says about the links that a strategy chooses among, in your own Scrapy project.

A spider yields requests for links; the strategy decides when each is sent, and makes the request itself. So
what the spider put on its own (meta, headers, arguments of the callback) is kept until then. Of links that it
did not yield, the page they stood on is remembered, since a Referer and a depth are expected of any request.
"""

from __future__ import annotations

from collections.abc import Iterable
from logging import LoggerAdapter
from typing import Any, NamedTuple

from scrapy import Request
from scrapy.spidermiddlewares.referer import DefaultReferrerPolicy


class RequestParts(NamedTuple):
    """What goes with the request for a link."""

    meta: dict[str, Any]
    headers: dict[str, Any]
    cb_kwargs: dict[str, Any]


class _Found(NamedTuple):
    """Where a link stood, and how many clicks from the start it is."""

    page: str
    depth: int


class SpiderLinks:
    """The links of the pages so far, and what the spider's own requests for them carry."""

    def __init__(self, start_urls: Iterable[str], logger: LoggerAdapter[Any]) -> None:
        self._found = {url: _Found("", 0) for url in start_urls}
        self._requests: dict[str, Request] = {}
        self._logger = logger
        self._warned: set[str] = set()

    def __contains__(self, url: str) -> bool:
        return url in self._found

    def add_page(self, url: str, links: Iterable[str]) -> None:
        """Remember where links stand; the first page that has one counts."""
        here = _Found(url, self._found[url].depth + 1 if url in self._found else 0)
        for link in links:
            self._found.setdefault(link, here)

    def add_redirect(self, url: str, location: str) -> None:
        """Take what a redirect leads to for the link that it stands behind."""
        if url in self._found:
            self._found.setdefault(location, self._found[url])
        if url in self._requests:
            self._requests.setdefault(location, self._requests[url])

    def keep(self, url: str, request: Request) -> None:
        """Keep what the spider's request for a link carries; the first one counts, as with a filter."""
        if request.priority:
            self._warn("the priority of links is ignored: the strategy decides the order")
        if request.errback is not None:
            self._warn("the errback of links is not called: failures go to the strategy")
        self._requests.setdefault(url, request)

    def carried(self, url: str) -> RequestParts:
        """Return what goes with a link, whether the spider yielded it or not."""
        found = self._found.get(url, _Found("", 0))
        request = self._requests.get(url)
        if request is not None:
            meta = {"depth": found.depth, **request.meta}
            return RequestParts(meta, dict(request.headers), request.cb_kwargs)
        referer = DefaultReferrerPolicy().referrer(found.page, url) if found.page else None
        return RequestParts({"depth": found.depth}, {"Referer": referer} if referer else {}, {})

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            self._logger.warning("%s (how-to: Use Coati in a Scrapy project)", message)
