"""Pages built by scripts are rendered by a browser before their links are read; files never are.

A page is fetched like all others. Where it is to be rendered, the browser (`coati.live.browser`) is handed
what came, and its markup after the scripts ran takes the place of the page. So a page that needs no browser
costs nothing, no HEAD and no file ever meets one, and archives and logs hold the page as people see it, with
the header ``Coati-Rendered`` that says how many requests it made. Usable in any Scrapy project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.rendering.RenderMiddleware": 25}
    COATI_RENDER = "auto"

=========================  ==============================================================================
``COATI_RENDER``           ``auto`` renders pages with next to no links, ``always`` all; else none
``COATI_BROWSER``          the path of a Chromium, where it is not found by itself
``COATI_RENDER_SECONDS``   how long a page may take, without what it fetches (20)
``COATI_RENDER_REQUESTS``  how many requests a page may make (50)
``COATI_RENDER_MEMORY``    how many bytes of memory a page may take (1 GiB)
=========================  ==============================================================================

25 is on the engine's side of all that looks at what came from the network, and next to the archive, which
keeps the rendered page.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response

from coati.live.browser import (
    Browser,
    PageLimits,
    PageResponse,
    Rendered,
    RenderError,
    release_browser,
    share_browser,
)
from coati.live.find_browser import find_browser
from coati.live.header_texts import header_pairs, header_text
from coati.live.outcomes import API, BODY_FILE, NOT_RENDERED, RENDERED, REQUEST
from coati.live.page_requests import KeptAnswers, PageRequests
from coati.live.settings import LiveSettings, RenderMode
from coati.live.spider import drive_of
from coati.model import Kind
from coati.runs.fetched import RenderNote
from coati.stop_reasons import StopReason
from coati.web.links import LinkExtractor
from coati.web.media import parse_types
from coati.web.rules import Rules
from coati.web.scripted_pages import may_need_browser
from coati.web.sniffing import sniffed_type
from coati.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler


HEADER: Final = "Coati-Rendered"

_DEFAULTS = LiveSettings()
_SUCCESS = range(200, 300)
_ARCHIVED = "archived"
# How long the browser may take to end; a crawl that must end at once waits for hardly anything.
_CLOSE_SECONDS, _HURRY_SECONDS = 5.0, 0.2
# After this many pages of a host to which scripts added no link, `auto` renders no more of them.
_FRUITLESS = 5
# What held of the page as it came. A validator would: what scripts make of a page changes without it.
_OF_THE_ORIGINAL = ("Content-Length", "Content-Encoding", "ETag", "Last-Modified", "Content-MD5", "Digest")


class RenderMiddleware:
    """Puts the rendered page in the place of the one that came."""

    def __init__(self, crawler: Crawler, mode: RenderMode) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._mode = mode
        self._executable = find_browser(settings.get("COATI_BROWSER") or "")
        self._limits = PageLimits(
            settings.getfloat("COATI_RENDER_SECONDS", _DEFAULTS.render_seconds),
            settings.getint("COATI_RENDER_MEMORY", _DEFAULTS.render_memory_bytes),
            settings.getint("COATI_MAX_PAGE_BYTES", _DEFAULTS.max_page_bytes),
        )
        self._most_requests = settings.getint("COATI_RENDER_REQUESTS", _DEFAULTS.render_requests)
        self._agent: str = settings["USER_AGENT"]
        self._drive = drive_of(crawler)
        self._types = (
            parse_types(settings.get("COATI_TYPES") or "data")
            if self._drive is None
            else self._drive.plan.types
        )
        self._links = LinkExtractor()
        self._kept = KeptAnswers()
        self._fruitless: Counter[str] = Counter()
        self._browser: Browser | None = None
        self._aborted = asyncio.Event()
        if self._drive is not None:
            self._drive.on_abort(self._aborted.set)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        mode = RenderMode(crawler.settings.get("COATI_RENDER") or RenderMode.NEVER)
        if mode is RenderMode.NEVER:
            raise NotConfigured
        middleware = cls(crawler, mode)
        crawler.signals.connect(middleware.close, signals.spider_closed)
        return middleware

    async def close(self) -> None:
        """Release the browser."""
        browser, self._browser = self._browser, None
        if browser is not None:
            in_a_hurry = self._drive is not None and self._drive.aborted
            await release_browser(browser, _HURRY_SECONDS if in_a_hurry else _CLOSE_SECONDS)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Render a page that is to be rendered."""
        if not self._is_page(request, response) or not self._is_wanted(response):
            return response
        asks = PageRequests(
            self._crawler,
            Rules(response.url) if self._drive is None else self._drive.plan.rules,
            response.url,
            self._kept,
            self._most_requests,
            lambda attempts: self._charge(request, attempts),
        )
        begun = time.monotonic()
        failed = ""
        try:
            rendered = await self._render(response, asks)
        except RenderError as error:
            if self._drive is not None and self._drive.stop_reason is StopReason.INTERRUPTED:
                # Whoever stopped the crawl may have stopped the browser, too: the page stays open.
                self._drive.abandon()
            failed = str(error)
            response = response.replace(flags=[*response.flags, NOT_RENDERED])
        else:
            response = self._replaced(request, response, rendered, asks.made)
        request.meta[RENDERED] = RenderNote(
            requests=asks.made,
            received_bytes=asks.received_bytes,
            seconds=time.monotonic() - begun,
            failed=failed,
            skipped=tuple(asks.skipped.items()),
        )
        return response

    def _is_page(self, request: Request, response: Response) -> bool:
        """Tell whether a response is an HTML page of the crawl, which was not rendered before."""
        if request.method != "GET" or response.status not in _SUCCESS or HEADER in response.headers:
            return False
        if REQUEST not in request.meta or any(request.meta.get(key) for key in (API, BODY_FILE)):
            return False
        declared = header_text(response.headers, "Content-Type")
        disposition = header_text(response.headers, "Content-Disposition")
        if "html" not in sniffed_type(declared, response.body, disposition):
            return False
        return self._types.kind(declared, response.url) is not Kind.TARGET

    def _is_wanted(self, response: Response) -> bool:
        if self._mode is RenderMode.ALWAYS:
            return True
        if self._fruitless[host_of(response.url)] >= _FRUITLESS:
            return False
        return may_need_browser(response.body, self._urls(response))

    def _urls(self, response: Response) -> set[str]:
        page = self._links.extract(response.body, response.url, header_text(response.headers, "Content-Type"))
        return set(page.links.urls)

    def _charge(self, request: Request, attempts: int) -> bool:
        drive, number = self._drive, request.meta[REQUEST].id
        return drive is None or (drive.is_open(number) and drive.charge(number, attempts))

    async def _render(self, response: Response, asks: PageRequests) -> Rendered:
        if self._browser is None:
            self._browser = share_browser(self._executable)
        answer = PageResponse(response.status, tuple(header_pairs(response.headers)), response.body)
        return await self._unless_aborted(
            self._browser.render(response.url, answer, asks.fetch, self._agent, self._limits)
        )

    async def _unless_aborted(self, rendering: Coroutine[Any, Any, Rendered]) -> Rendered:
        """Wait for a page, but not in a crawl that must end at once."""
        tasks = asyncio.ensure_future(rendering), asyncio.ensure_future(self._aborted.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise RenderError("the crawl ends")
            return tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()

    def _replaced(self, request: Request, response: Response, rendered: Rendered, made: int) -> Response:
        """Return a page as its scripts left it; where a script wanted to go is a refresh."""
        markup = rendered.markup
        if rendered.leads_to:
            markup += f'<meta http-equiv="refresh" content="0; url={escape(rendered.leads_to)}">'
        headers = response.headers.copy()
        for name in _OF_THE_ORIGINAL:
            headers.pop(name, None)
        headers["Content-Type"] = "text/html; charset=utf-8"
        headers[HEADER] = str(made)
        made_page = HtmlResponse(
            response.url,
            status=response.status,
            headers=headers,
            body=markup.encode("utf-8", "replace"),
            encoding="utf-8",
            flags=[flag for flag in response.flags if flag != _ARCHIVED],
            request=request,
        )
        if self._mode is RenderMode.AUTO:
            host = host_of(response.url)
            gained = bool(self._urls(made_page) - self._urls(response))
            self._fruitless[host] = 0 if gained else self._fruitless[host] + 1
        return made_page
