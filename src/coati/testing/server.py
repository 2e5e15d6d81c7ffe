"""Serves sites over real HTTP on loopback, cheaply enough to be the other end of a benchmark.

A site knows its own URLs, so an address is needed before there is a site: `serve` binds first and hands the
base URL to whatever makes the site. Several sites at once get an address of their own each (127.0.0.1,
127.0.0.2, ...; Linux answers on all of them), since hosts are what a polite crawler tells apart.

The server also answers as a proxy (``GET http://any.host/ HTTP/1.1``), so that sites under made-up host names
can be crawled, too.

A test that interrupts a crawl amid its work must not count on its speed: `SiteServer.hold_after` lets the
server answer some more requests and keep the later ones waiting, so that the crawl cannot be done before.
"""

from __future__ import annotations

import asyncio
import math
import socket
import struct
import threading
from asyncio import AbstractEventLoop, Server, Transport
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple

from coati.errors import UsageError
from coati.testing.site import Response, Site, body_chunks
from coati.web.urls import normalise

MakeSite = Callable[[str], Site]
"""Makes a site for a base URL such as ``http://127.0.0.1:8000``."""

Latency = float | Callable[[str], float]
"""How many seconds an answer takes: the same for all, or by URL."""

_MAX_HEAD_BYTES = 1 << 16

# Up to here an answer is written in one piece, which saves system calls.
_SMALL_BODY_BYTES = 1 << 18

# Linux tells of a connection how many milliseconds ago the last bytes came (struct tcp_info).
_TCP_INFO_BYTES = 104
_LAST_DATA_RECEIVED = struct.Struct("=I")
_LAST_DATA_RECEIVED_AT = 52

# A port that was free on the first address may be taken on another; then all move.
_PORT_ATTEMPTS = 5


class SeenRequest(NamedTuple):
    """A request that was answered. Times are the server's monotonic clock, in seconds.

    ``arrived_at`` is when the machine had the request, to some milliseconds. A server that has to wait for
    the processor gets to it later, at ``started_at``. Where the system does not tell, they are the same.
    """

    started_at: float
    finished_at: float
    method: str
    url: str
    status: int
    arrived_at: float


@dataclass(slots=True)
class SiteServer:
    """Sites that are being served, and the requests that they answered so far."""

    sites: list[Site]
    proxy_url: str
    requests: list[SeenRequest] = field(default_factory=list)
    latency: Latency = 0.0
    _listening: _Listening | None = field(default=None, repr=False)

    @property
    def site(self) -> Site:
        """The first site, mostly the only one."""
        return self.sites[0]

    @property
    def url(self) -> str:
        """The start URL of the first site."""
        return self.site.start_url

    def times(self, url: str) -> int:
        """Count the requests for one URL."""
        return sum(seen.url == url for seen in self.requests)

    @property
    def connections(self) -> int:
        """How many connections are open. A client that was killed has none left before long."""
        return 0 if self._listening is None else len(self._listening.connections)

    def hold_after(self, answers: int) -> None:
        """Answer this many more requests; those that follow wait for the next call of this or `release`."""
        self._let_through(answers)

    def release(self) -> None:
        """Answer what waits, and every request that follows."""
        self._let_through(math.inf)

    def _let_through(self, answers: float) -> None:
        if self._listening is not None:
            self._listening.let_through(answers)


@contextmanager
def serve(*make_sites: MakeSite, latency: Latency = 0.0, port: int = 0) -> Iterator[SiteServer]:
    """Serve sites from a thread of their own until the block ends.

    >>> def make(base_url):
    ...     return Site(base_url + "/", {base_url + "/": Response.page("<h1>Hello</h1>")})
    >>> with serve(make) as server:
    ...     server.url.startswith("http://127.0.0.1:"), len(server.requests)
    (True, 0)
    """
    loop = asyncio.new_event_loop()
    listening = _Listening(loop)
    thread = threading.Thread(target=loop.run_forever, name="site server", daemon=True)
    thread.start()
    try:
        start = _start(listening, make_sites, port, latency)
        yield asyncio.run_coroutine_threadsafe(start, loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(listening.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(
    listening: _Listening, make_sites: Sequence[MakeSite], port: int, latency: Latency
) -> SiteServer:
    if not make_sites:
        raise UsageError("there is no site to serve")
    base_urls = await listening.open([_address(number) for number in range(len(make_sites))], port)
    sites = [make(base_url) for make, base_url in zip(make_sites, base_urls, strict=True)]
    server = SiteServer(sites, base_urls[0], latency=latency, _listening=listening)
    listening.answers = _Answers(server)
    return server


def _address(number: int) -> str:
    """Return the n-th address of the loopback network, without those that end in 0 and 255."""
    return f"127.0.{number // 254}.{number % 254 + 1}"


class _Listening:
    """The sockets of a server, the connections that it has open, and which of them may be answered."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.answers: _Answers | None = None
        self.connections: set[_Connection] = set()
        self._loop = loop
        self._servers: list[Server] = []
        self._answers_left = math.inf
        self._held: list[_Connection] = []

    def let_through(self, answers: float) -> None:
        """Set how many requests are answered from now on; for any thread but that of the server."""
        asyncio.run_coroutine_threadsafe(self._let_through(answers), self._loop).result()

    async def _let_through(self, answers: float) -> None:
        self._answers_left = answers
        held, self._held = self._held, []
        for connection in held:
            connection.answer()

    def may_answer(self, connection: _Connection) -> bool:
        """Tell whether a request is answered now; if not, it is kept for later."""
        if self._answers_left <= 0:
            self._held.append(connection)
            return False
        self._answers_left -= 1
        return True

    async def open(self, hosts: Sequence[str], port: int) -> list[str]:
        """Bind each address, all on one port; returns their base URLs."""
        attempts = 1 if port else _PORT_ATTEMPTS
        while True:
            attempts -= 1
            try:
                chosen = port
                for host in hosts:
                    chosen = await self._bind(host, chosen)
            except OSError:
                await self.close()
                if not attempts:
                    raise
            else:
                return [f"http://{host}:{chosen}" for host in hosts]

    async def _bind(self, host: str, port: int) -> int:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self, loop), host, port, backlog=512)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        # asyncio loses a connection that is being accepted while its server closes: nobody would close it.
        while accepting := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*accepting, return_exceptions=True)
        for server in self._servers:
            server.close()
        self._servers.clear()
        for connection in list(self.connections):
            connection.drop()
        # A dropped connection is told so, and its socket closed, in the next turn of the loop.
        await asyncio.sleep(0)


class _Answers:
    """Finds the response for a URL and keeps the account."""

    def __init__(self, server: SiteServer) -> None:
        self._server = server
        self._by_host = {_authority(site.start_url): site for site in server.sites}

    def get(self, url: str) -> Response:
        site = self._by_host.get(_authority(url))
        if site is None:
            return _error(HTTPStatus.MISDIRECTED_REQUEST)
        return site.get(url)

    def delay(self, url: str) -> float:
        latency = self._server.latency
        return latency(url) if callable(latency) else latency

    def note(self, seen: SeenRequest) -> None:
        self._server.requests.append(seen)


class _Connection(asyncio.Protocol):
    """One client, its requests answered one after the other."""

    def __init__(self, listening: _Listening, loop: AbstractEventLoop) -> None:
        self._listening = listening
        self._loop = loop
        self._transport: Transport | None = None
        self._buffer = b""
        self._busy = False
        self._closing = False
        self._rest: Iterator[bytes] = iter(())
        self._chunk = b""
        self._paused = False
        self._started_at = self._arrived_at = 0.0
        self._method = ""
        self._url = ""
        self._status = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a TCP server hands out nothing else
        self._listening.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._rest = iter(())
        self._listening.connections.discard(self)

    def drop(self) -> None:
        """Close the connection at once, whatever is under way."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._arrived_at = self._loop.time() - self._seconds_since_arrival()
        if not self._busy:
            self._next_request()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._busy:
            self._write_rest()

    def _seconds_since_arrival(self) -> float:
        if self._transport is None or not hasattr(socket, "TCP_INFO"):
            return 0.0
        connection: socket.socket = self._transport.get_extra_info("socket")
        tcp_info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        milliseconds: int = _LAST_DATA_RECEIVED.unpack_from(tcp_info, _LAST_DATA_RECEIVED_AT)[0]
        return milliseconds / 1000

    def _next_request(self) -> None:
        head, mark, rest = self._buffer.partition(b"\r\n\r\n")
        self._busy = bool(mark)
        if not mark:
            if len(head) > _MAX_HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        self._buffer = rest
        self._started_at = self._loop.time()
        lines = head.decode("latin-1").split("\r\n")
        try:
            self._method, target, version = lines[0].split(" ")
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        headers = dict(_header(line) for line in lines[1:])
        self._closing = version == "HTTP/1.0" or headers.get("connection", "").lower() == "close"
        url = normalise(
            target if target.startswith("http://") else f"http://{headers.get('host', '')}{target}"
        )
        if self._method not in {"GET", "HEAD"}:
            self._refuse(HTTPStatus.NOT_IMPLEMENTED)
        elif url is None or self._listening.answers is None:
            self._refuse(HTTPStatus.BAD_REQUEST)
        else:
            self._url = url
            self._answer_in(self._listening.answers.delay(url))

    def _answer_in(self, delay_seconds: float) -> None:
        if delay_seconds > 0:
            self._loop.call_later(delay_seconds, self.answer)
        else:
            self.answer()

    def answer(self) -> None:
        """Answer the request that waits, unless its client is gone or answers are held back."""
        answers = self._listening.answers
        if answers is not None and self._transport is not None and self._listening.may_answer(self):
            self._send(answers.get(self._url))

    def _refuse(self, status: HTTPStatus) -> None:
        # What follows on the connection may belong to the request that was not understood.
        self._busy = self._closing = True
        self._send(_error(status))

    def _send(self, response: Response) -> None:
        if self._transport is None:
            return
        self._status = response.status
        head = _head(response, closing=self._closing)
        if self._method == "HEAD" or response.status in {204, 304}:
            self._finish(head)
        elif response.size_bytes <= _SMALL_BODY_BYTES:
            self._finish(b"".join([head, *body_chunks(self._url, response)]))
        else:
            self._chunk = head
            self._rest = body_chunks(self._url, response)
            self._write_rest()

    def _write_rest(self) -> None:
        if self._transport is None:
            return
        while not self._paused:
            following = next(self._rest, None)
            if following is None:
                self._finish(self._chunk)
                return
            self._transport.write(self._chunk)
            self._chunk = following

    def _finish(self, last: bytes) -> None:
        """Write the last bytes of an answer; whoever has received them finds the request in the account."""
        self._busy = False
        answers = self._listening.answers
        if answers is not None:
            now = self._loop.time()
            arrived = min(self._arrived_at, self._started_at)
            answers.note(SeenRequest(self._started_at, now, self._method, self._url, self._status, arrived))
        if self._transport is None:
            return
        self._transport.write(last)
        if self._closing:
            self._buffer = b""
            self._transport.close()
        elif self._buffer:
            # By way of the loop: a client that sends many requests at once must not exhaust the stack.
            self._busy = True
            self._loop.call_soon(self._next_request)


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def _head(response: Response, *, closing: bool) -> bytes:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {response.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    lines.append(f"Content-Length: {response.size_bytes}")
    if closing:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _error(status: HTTPStatus) -> Response:
    return Response.page(f"<!doctype html><h1>{status.phrase}</h1>", status)


def _authority(url: str) -> str:
    return url.split("/", 3)[2]
