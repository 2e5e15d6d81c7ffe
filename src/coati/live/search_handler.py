"""A Scrapy download handler for queries: asks the engine that a ``search://`` address names.

An answer comes back in the one form that all engines share (`coati.readers.hits`), under the query's own
address, and an error of the engine as the status that it gave, so that retries, pauses and archives work as
for any host. Nothing else of what the engine sent is handed on: an error may repeat the key that it was sent
with.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, TypeVar

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import Response

from coati.errors import UsageError
from coati.live.failures import DownloadError, FailureReason, NotAskedError
from coati.live.header_texts import header_text
from coati.live.outcomes import ANSWER_SECONDS
from coati.live.pace import PACED_HOST
from coati.live.response_body import BodyLimits
from coati.live.streaming import StreamingDownloadHandler
from coati.readers.hits import HITS_TYPE, Hits, write_hits
from coati.search.provider import HttpProvider, LocalProvider, Prepares, ProviderRequest
from coati.web.queries import Query, parse_query
from coati.web.rules import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from coati.live.drive import Drive

# A page of results has some tens of kilobytes.
_ANSWER = BodyLimits(4 * 1024 * 1024, cut=False)

Content = TypeVar("Content")

_SUCCESS = range(200, 300)
_UNAVAILABLE = 503


class SearchDownloadHandler(BaseDownloadHandler):
    """Queries search engines, each by its own `coati.search.provider.Provider`."""

    lazy: ClassVar[bool] = True  # type: ignore[misc]  # most crawls query no engine

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        drive: Drive = crawler.spider.drive  # type: ignore[union-attr]  # only our own spiders use it
        self._engines = drive.engines
        self._http = StreamingDownloadHandler(crawler, service=_ANSWER)
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip, deflate, br, zstd",
            "User-Agent": crawler.settings["USER_AGENT"],
        }
        # A provider is not made for several threads.
        self._turn = asyncio.Lock()

    async def download_request(self, request: Request) -> Response:
        """Send one query; what fails raises as it does in `coati.live.streaming`."""
        query = parse_query(request.url)
        if request.method != "GET":
            raise UsageError(f"{request.url} was sent with {request.method}: a query takes GET")
        provider = self._engines.admit(query)
        if isinstance(provider, Refusal):
            raise NotAskedError(provider)
        if isinstance(provider, LocalProvider):
            return await self._search_locally(provider, query)
        return await self._ask_over_http(provider, query, request)

    async def close(self) -> None:
        """Close every connection."""
        await self._http.close()

    async def _search_locally(self, provider: LocalProvider, query: Query) -> Response:
        async with self._turn:
            try:
                found = await asyncio.to_thread(provider.search, query)
            except ConnectionError:
                return Response(query.address, _UNAVAILABLE)
            except Exception as error:
                raise DownloadError(FailureReason.BAD_SEARCH, f"{query.address}: {error!r}") from error
        return _response(query, found)

    async def _ask_over_http(self, provider: HttpProvider, query: Query, request: Request) -> Response:
        first = provider.preparation() if isinstance(provider, Prepares) else None
        if first is not None and isinstance(provider, Prepares):
            refused = await self._send(first, provider.prepare, query, request)
            if isinstance(refused, Response):
                return refused
        answer = await self._send(provider.request(query), provider.read, query, request)
        return answer if isinstance(answer, Response) else _response(query, answer)

    async def _send(
        self,
        engine_request: ProviderRequest,
        read: Callable[[bytes, str], Content],
        query: Query,
        request: Request,
    ) -> Content | Response:
        """Query an engine, and read its response; an error of the engine comes back as its status alone."""
        sent = Request(
            engine_request.url,
            method="POST" if engine_request.body else "GET",
            headers={**self._headers, **dict(engine_request.headers)},
            body=engine_request.body,
            meta={PACED_HOST: request.meta.get(PACED_HOST, "")},
        )
        try:
            answer = await self._http.download_request(sent)
        except Exception as error:
            # The message may hold the URL of the request, and that a key.
            error.args = (query.address,)
            raise error from None
        for key in ("download_latency", ANSWER_SECONDS):
            request.meta[key] = sent.meta[key]
        if answer.status not in _SUCCESS:
            patience = answer.headers.get("Retry-After")
            return Response(query.address, answer.status, {"Retry-After": patience} if patience else {})
        content_type = header_text(answer.headers, "Content-Type")
        try:
            return read(answer.body, content_type)
        except Exception:  # noqa: BLE001 - a provider may be anybody's
            # Whatever an engine sends, reading it fails for this query only.
            raise DownloadError(FailureReason.BAD_SEARCH, query.address) from None


def _response(query: Query, found: Hits) -> Response:
    return Response(query.address, 200, {"Content-Type": HITS_TYPE}, write_hits(found))
