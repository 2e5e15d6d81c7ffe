"""A Scrapy download handler with limits: memory, bytes, time, and where it connects to.

Scrapy's own handlers collect a body in memory before anybody sees it. This one, on aiohttp, writes a large
file to disk as it arrives; cuts a page that does not end; gives up on bodies that come too slowly; and does
not connect to private addresses. Usable in any Scrapy project that runs on asyncio, as Scrapy does by
default::

    DOWNLOAD_HANDLERS = {
        "http": "coati.live.streaming.StreamingDownloadHandler",
        "https": "coati.live.streaming.StreamingDownloadHandler",
    }

Settings, besides Scrapy's own for downloads (``DOWNLOAD_TIMEOUT`` is for the whole of one):

=============================  ==========================================================================
``COATI_MAX_FILE_BYTES``       the largest body, decompressed; a larger one fails
``COATI_MAX_PAGE_BYTES``       how much of an HTML page is read
``COATI_STREAM_ABOVE_BYTES``   from this size on a successful answer goes to a file
``COATI_STREAM_DIR``           the folder of these files; each is named in the response's meta, under
                               ``coati_body_file``, and whoever handles the response removes it
``COATI_CONNECT_TIMEOUT``      seconds to connect
``COATI_ANSWER_TIMEOUT``       seconds from there to the end of the headers, or without a byte of the body
``COATI_MIN_BYTES_PER_SECOND`` the slowest body that is waited for, over ``COATI_SLOW_WINDOW`` seconds
``COATI_LIMIT_RATE``           bytes per second that are taken, over all connections of the process
``COATI_ALLOW_PRIVATE``        whether private addresses may get requests
``COATI_PROXY``                the proxy of all requests that name none themselves
=============================  ==========================================================================

What a server took to answer stands in the response's meta: ``download_latency`` as with Scrapy's handlers,
and ``coati_answer_seconds`` without the time for which the answer had to wait for us.

Of Scrapy's signals for downloads it sends ``headers_received`` and not ``bytes_received``.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from contextlib import aclosing
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import aiohttp
from scrapy import Request, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.log import failure_to_exc_info
from yarl import URL

from coati.live.answer_bytes import SUCCESS, BodySpeed, is_part, type_of, unpacked_pieces
from coati.live.connections import AnswerConnector
from coati.live.event_loop import byte_spacing_of_loop, seconds_of_server
from coati.live.failures import (
    DownloadError,
    FailureReason,
)
from coati.live.header_texts import header_pairs
from coati.live.outcomes import (
    ANSWER_SECONDS,
    API,
    BODY_BYTES,
    BODY_FILE,
    CUT,
    DAMAGED,
    LIST,
    LOOK_INSIDE,
    PAGE_REQUEST,
    STOPPED,
)
from coati.live.pace import PaceMiddleware
from coati.live.private_addresses import PublicResolver, refuse_private_literal
from coati.live.response_body import Body, BodyLimits
from coati.live.robots import MAX_RULES_BYTES, asks_for_robots
from coati.live.settings import LiveSettings
from coati.live.spider import drive_of
from coati.readers.formats import HEAD_BYTES, Format, format_of
from coati.readers.unpacking import MAX_LIST_BYTES
from coati.runs.skip_reasons import SkipReason

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy.crawler import Crawler


_DEFAULTS = LiveSettings()
# Python has a name for it from 3.12 on.
_OP_LEGACY_SERVER_CONNECT = 0x4

# What is read of an answer that is not a success: enough to keep the connection, and to see what it says.
_MAX_ERROR_BYTES = 256 * 1024

# What a page in a browser requests stands in memory.
_MAX_PAGE_REQUEST_BYTES = 8 * 1024 * 1024

# Real sites send policies of many kilobytes in a header.
_MAX_HEADER_BYTES = 64 * 1024

# aiohttp's own, and the least that is worth a read of the socket.
_READ_AHEAD_BYTES = 64 * 1024
_LEAST_READ_BYTES = 1024

# Scrapy's proxy middleware takes it out of the proxy's URL; it is for the proxy alone.
_PROXY_AUTHORISATION = "Proxy-Authorization"

# Errors of encryption that only mean that the connection broke.
_BROKEN_BODIES = frozenset({FailureReason.NOT_DECOMPRESSED, FailureReason.PACKED_PART})
_BROKEN_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


class StreamingDownloadHandler(BaseDownloadHandler):
    """Downloads over HTTP within limits; see the module for its settings."""

    lazy: ClassVar[bool] = True  # type: ignore[misc]  # a session needs the running loop

    def __init__(self, crawler: Crawler, *, service: BodyLimits | None = None) -> None:
        """Read the settings; ``service`` is the limit of all responses where the user named the server.

        A search engine may have a private address, and nobody stops its answers at their headers.
        """
        super().__init__(crawler)
        settings = crawler.settings
        self._service = service
        folder = settings.get("COATI_STREAM_DIR")
        self._page = BodyLimits(settings.getint("COATI_MAX_PAGE_BYTES", _DEFAULTS.max_page_bytes), cut=True)
        self._file = BodyLimits(
            settings.getint("COATI_MAX_FILE_BYTES", _DEFAULTS.max_file_bytes),
            cut=False,
            stream_above=settings.getint("COATI_STREAM_ABOVE_BYTES", _DEFAULTS.stream_above_bytes),
            folder=Path(folder) if folder else None,
        )
        # One byte more than is read tells the reader that this is not all.
        self._list = BodyLimits(MAX_LIST_BYTES + 1, cut=True)
        self._error = BodyLimits(_MAX_ERROR_BYTES, cut=True)
        self._page_request = BodyLimits(_MAX_PAGE_REQUEST_BYTES, cut=False)
        self._rules = BodyLimits(MAX_RULES_BYTES, cut=True)
        self._allow_private = service is not None or settings.getbool("COATI_ALLOW_PRIVATE")
        answer = settings.getfloat("COATI_ANSWER_TIMEOUT", _DEFAULTS.answer_timeout_seconds)
        connect = settings.getfloat("COATI_CONNECT_TIMEOUT", _DEFAULTS.connect_timeout_seconds)
        self._answer_seconds = connect + answer
        self._rate: int | None = settings.getint("COATI_LIMIT_RATE") or None
        self._byte_spacing = byte_spacing_of_loop()
        # Who is slow on purpose has as long as it takes: what bounds it is the least speed of the other side.
        total = None if self._rate else settings.getfloat("DOWNLOAD_TIMEOUT") or None
        self._timeout = aiohttp.ClientTimeout(total, sock_connect=connect, sock_read=answer)
        self._slowest = (
            settings.getint("COATI_MIN_BYTES_PER_SECOND", _DEFAULTS.min_bytes_per_second),
            settings.getfloat("COATI_SLOW_WINDOW", _DEFAULTS.slow_window_seconds),
        )
        self._proxy: str | None = settings.get("COATI_PROXY") or None
        self._pacing: PaceMiddleware | None = crawler.get_downloader_middleware(PaceMiddleware)
        self._session = self._open_session()
        self._closing: asyncio.Task[None] | None = None
        self._aborted = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self._drive = drive_of(crawler)
        if self._drive is not None:
            self._drive.on_abort(self._abort)

    def _open_session(self) -> aiohttp.ClientSession:
        settings = self.crawler.settings
        # With a proxy it is the proxy that resolves and connects; it may well be on a private address.
        guarded = not self._allow_private and self._proxy is None
        connector = AnswerConnector(
            # In all, Scrapy limits the requests; by host, this is the promise of one connection.
            limit=0,
            limit_per_host=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
            resolver=PublicResolver() if guarded else None,
            ttl_dns_cache=600,
            ssl=_ssl_context(verify=settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")),
        )
        tracing = aiohttp.TraceConfig()
        tracing.on_request_headers_sent.append(self._on_sending)
        return aiohttp.ClientSession(
            connector=connector,
            trace_configs=[tracing],
            # Cookies are Scrapy's business. Bodies are unpacked below: aiohttp would take a part for all.
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            timeout=self._timeout,
            # What is read ahead would come faster than it may.
            read_bufsize=min(_READ_AHEAD_BYTES, max(_LEAST_READ_BYTES, self._rate or _READ_AHEAD_BYTES)),
            middlewares=(_once,),
            max_line_size=_MAX_HEADER_BYTES,
            max_field_size=_MAX_HEADER_BYTES,
        )

    async def download_request(self, request: Request) -> Response:
        """Download one request; what fails raises one of Scrapy's or `coati.live.failures`' errors."""
        request.meta.pop(BODY_FILE, None)
        if not self._allow_private:
            refuse_private_literal(urlparse_cached(request).hostname or "")
        try:
            return await self._unless_aborted(self._download(request))
        except TimeoutError as error:
            raise DownloadTimeoutError(f"{request.url}: {error}") from error
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(str(error)) from error
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError) as error:
            broken = isinstance(error.__cause__, _BROKEN_OFF)
            untrusted = DownloadError(FailureReason.CERTIFICATE, str(error))
            raise (DownloadFailedError(str(error)) if broken else untrusted) from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(str(error)) from error
        except aiohttp.ClientPayloadError as error:
            raise ResponseDataLossError(str(error)) from error
        except aiohttp.ClientResponseError as error:
            about = f"{request.url}: {error.message[:200]}"
            raise DownloadError(FailureReason.BAD_ANSWER, about) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(str(error)) from error

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    async def _unless_aborted(self, download: Coroutine[Any, Any, Response]) -> Response:
        """Carry a download out; a crawl that must end at once waits for none."""
        # aiohttp works in tasks only.
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._under_way.add(task)
        try:
            return await download
        except asyncio.CancelledError:
            if not self._aborted:
                raise
            task.uncancel()
            raise DownloadFailedError("the crawl ends") from None
        finally:
            self._under_way.discard(task)

    def _abort(self) -> None:
        self._aborted = True
        # One of them may be what ends the crawl, and ends by itself.
        for task in self._under_way - {asyncio.current_task()}:
            task.cancel()
        self._closing = asyncio.get_running_loop().create_task(self._session.close())

    def _note_sent(self, request: Request) -> None:
        """Let the delay of a host count from here."""
        if self._pacing is not None:
            self._pacing.note_sent(request)
        slot = self.crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:
            slot.lastseen = time.monotonic()

    async def _download(self, request: Request) -> Response:
        if self._aborted:
            raise DownloadFailedError("the crawl ends")
        started = time.monotonic()
        # Scrapy's middleware for time-outs puts it into every request.
        seconds = None if self._rate else request.meta.get("download_timeout")
        timeout = self._timeout
        if seconds:
            timeout = aiohttp.ClientTimeout(
                seconds, sock_connect=timeout.sock_connect, sock_read=timeout.sock_read
            )
        verbatim = bool(request.meta.get("verbatim_url"))
        pairs = list(header_pairs(request.headers))
        # Headers may come byte by byte, each in time.
        async with asyncio.timeout(self._answer_seconds):
            answer = await self._session.request(
                request.method,
                URL(request.url, encoded=verbatim),
                data=request.body or None,
                headers=[pair for pair in pairs if pair[0] != _PROXY_AUTHORISATION],
                allow_redirects=False,
                proxy=request.meta.get("proxy") or self._proxy,
                proxy_headers=[pair for pair in pairs if pair[0] == _PROXY_AUTHORISATION] or None,
                timeout=timeout,
                trace_request_ctx=request,
            )
        async with answer:
            request.meta["download_latency"] = time.monotonic() - started
            request.meta[ANSWER_SECONDS] = seconds_of_server(started)
            return await self._read(request, answer)

    async def _on_sending(
        self, _: aiohttp.ClientSession, context: SimpleNamespace, __: aiohttp.TraceRequestHeadersSentParams
    ) -> None:
        """Let the delay count from when the request is written, which follows in this turn of the loop."""
        # Noted before the write, a process that is held up between the two would send the next one too soon.
        asyncio.get_running_loop().call_soon(self._note_sent, context.trace_request_ctx)

    async def _read(self, request: Request, answer: aiohttp.ClientResponse) -> Response:
        headers = Headers(answer.raw_headers)
        declared = answer.content_length
        stop = self._asks_to_stop(request, headers, declared)
        if stop is not None:
            return _response(request, answer, headers, b"", ["download_stopped"], stop)
        body = Body(self._limits(request, answer), declared)
        flags: list[str] = []
        try:
            await self._fill(body, request, answer, flags)
            in_memory = body.finish()
            if body.file is not None:
                # So that whoever keeps it does not hold up everybody by waiting for the disk.
                await asyncio.to_thread(body.sync)
        except BaseException:
            body.discard()
            raise
        finally:
            self._arrives(request, -body.size_bytes)
        if body.was_cut:
            flags.append(CUT)
        if is_part(request, answer) and DAMAGED not in flags:
            flags.append(DAMAGED)
        if body.file is not None:
            request.meta[BODY_FILE] = str(body.file)
            request.meta[BODY_BYTES] = body.size_bytes
        # It was undone on the way; whoever reads the header would undo it once more.
        headers.pop("Content-Encoding", None)
        return _response(request, answer, headers, in_memory, flags)

    async def _fill(
        self, body: Body, request: Request, answer: aiohttp.ClientResponse, flags: list[str]
    ) -> None:
        keeps_part = "html" in type_of(answer)
        undecided = body.limits is self._list
        speed = BodySpeed(*self._slowest)
        try:
            async with aclosing(unpacked_pieces(answer, lambda size: self._slow_down(size, speed))) as pieces:
                async for piece in pieces:
                    if not self._write(body, request, piece):
                        answer.close()
                        return
                    if undecided and body.size_bytes >= HEAD_BYTES:
                        undecided, keeps_part = False, _format(request, answer, body.head) is not None
                        if not keeps_part and request.meta.get(LOOK_INSIDE):
                            request.meta[STOPPED] = SkipReason.MEDIA_TYPE.value
                            flags.append("download_stopped")
                            body.discard()
                            answer.close()
                            return
                        body.limits = self._list if keeps_part else self._file
                    speed.check(body.size_bytes)
        except (aiohttp.ClientPayloadError, DownloadError) as error:
            if isinstance(error, DownloadError) and error.reason not in _BROKEN_BODIES:
                raise
            if answer.status not in SUCCESS:
                # The status says all that there is to say.
                return
            # Of a page the part that came has links; of a file it is worth nothing.
            if not keeps_part or not body.size_bytes:
                raise
            flags.append(DAMAGED)

    async def _slow_down(self, size_bytes: int, speed: BodySpeed) -> None:
        """Wait after bytes that came off the wire, where a rate is set; the server is not blamed for it."""
        if self._rate:
            seconds = self._byte_spacing.seconds_to_wait(size_bytes, self._rate, time.monotonic())
            speed.exclude_pause(seconds)
            await asyncio.sleep(seconds)

    def _write(self, body: Body, request: Request, piece: bytes) -> bool:
        """Take a piece of a body; False if no more is wanted."""
        before = body.size_bytes
        wants_more = body.write(piece)
        if not self._arrives(request, body.size_bytes - before):
            raise DownloadError(FailureReason.NO_BUDGET, "larger than the rest of the budget of bytes")
        return wants_more

    def _arrives(self, request: Request, size_bytes: int) -> bool:
        """Take note of bytes; False if the budget has none left. Rules are not charged."""
        return self._drive is None or asks_for_robots(request) or self._drive.received(size_bytes)

    def _limits(self, request: Request, answer: aiohttp.ClientResponse) -> BodyLimits:
        if self._service is not None:
            return self._service
        if asks_for_robots(request):
            return self._rules
        if PAGE_REQUEST in request.meta:
            return self._page_request
        if answer.status not in SUCCESS:
            return self._error
        if "html" in type_of(answer):
            return self._page
        return self._list if request.meta.get(LIST) or request.meta.get(LOOK_INSIDE) else self._file

    def _asks_to_stop(self, request: Request, headers: Headers, declared: int | None) -> StopDownload | None:
        if self._service is not None:
            return None
        answers = self.crawler.signals.send_catch_log(
            signal=signals.headers_received,
            headers=headers,
            body_length=declared,
            request=request,
            spider=self.crawler.spider,
        )
        for _, answer in answers:
            raised = failure_to_exc_info(answer)
            if raised is not None and isinstance(raised[1], StopDownload):
                return raised[1]
        return None


def _format(request: Request, answer: aiohttp.ClientResponse, head: bytes) -> Format | None:
    is_list, api, unwanted = (bool(request.meta.get(key)) for key in (LIST, API, LOOK_INSIDE))
    return format_of(request.url, type_of(answer), head, is_list=is_list, wanted=not unwanted, api=api)


async def _once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a request again by itself: no attempt goes uncounted and undelayed."""
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(str(error)) from error


def _response(
    request: Request,
    answer: aiohttp.ClientResponse,
    headers: Headers,
    body: bytes,
    flags: list[str],
    stop: StopDownload | None = None,
) -> Response:
    kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
    arguments: dict[str, Any] = {"headers": headers, "body": body, "flags": flags}
    response = kind(request.url, status=answer.status, **arguments)
    if stop is not None and stop.fail:
        stop.response = response
        raise stop
    return response


@cache
def _ssl_context(*, verify: bool) -> ssl.SSLContext:
    """Make the context that all sessions of the process share: loading authorities takes long."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        # Old official servers know nothing newer.
        context.set_ciphers("DEFAULT:@SECLEVEL=1")
        context.options |= _OP_LEGACY_SERVER_CONNECT
    return context
