"""A server on loopback that does what servers do at their worst: one route for each fault.

    with nasty_server() as server:
        server.url("/drop-mid-body")

``ROUTES`` maps each path to its function, whose docstring says what goes wrong; a path that ends in a slash
stands for everything below it. ``/`` links to all of them, so a crawl from there meets every fault. What
``/robots.txt`` does is chosen when the server starts (`Robots`), and so is how an answer is spread over
packets (`Packets`).
"""

import asyncio
import gzip
import socket
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from enum import Enum
from functools import cache
from time import time  # noqa: TID251 - Retry-After as a date needs the real clock
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests import nasty_apis
from tests.unread import unread_bytes

PAGE = "text/html; charset=utf-8"
GOOD_CSV = b"place,number\nSaltgate,3\n"
MEGABYTE = 1 << 20

Headers = list[tuple[str, str]]


class Robots(Enum):
    """What the server does when somebody asks for robots.txt."""

    ALLOW = "a plain file that forbids /forbidden/ only"
    FORBID = "a plain file that forbids everything"
    MISSING = "404"
    DENIED = "403"
    ERROR = "500, every time"
    BUSY = "503 the first time, then the plain file"
    REDIRECTED = "a redirect to another path, where the plain file is"
    LOOP = "a redirect to itself"
    DELAY = "a plain file with a crawl-delay of 2 seconds"
    LONG_DELAY = "a plain file with a crawl-delay of a day"
    HUGE = "the plain file after 5 MB of comments"
    ENDLESS = "comments without end"
    SILENT = "no answer at all"
    PAGE = "an HTML page with status 200, as misconfigured sites have"
    GARBAGE = "bytes that are no text"


class Packets(Enum):
    """How an answer reaches the client; each packet is read before the next is sent."""

    TOGETHER = "the head in one packet with the first of the body"
    APART = "the head in one packet, the body in another"
    BYTES = "byte by byte; after some hundred bytes, as it is written"


# Enough for every head, and for the faulty part of every body that is not large.
SINGLE_BYTES = 400


class Asked(NamedTuple):
    """A request that arrived: when (the server's monotonic clock), and what for."""

    at: float
    method: str
    path: str


@dataclass
class NastyServer:
    """The server, as a test sees it."""

    host: str
    port: int
    robots: Robots
    packets: Packets = Packets.TOGETHER
    requests: list[Asked] = field(default_factory=list)
    turns: Counter[str] = field(default_factory=Counter)

    def url(self, path: str = "/") -> str:
        """Return the URL of a path."""
        return f"http://{self.host}:{self.port}{path}"

    def count(self, path: str, method: str = "GET") -> int:
        """Count the requests for a path, queries included."""
        return sum(asked.path == path and asked.method == method for asked in self.requests)


class HeadIsAllError(Exception):
    """The request was a HEAD, and its answer is complete."""


@dataclass
class Exchange:
    """One request and the connection on which to answer it."""

    server: NastyServer
    method: str
    target: str
    headers: dict[str, str]
    writer: asyncio.StreamWriter
    # Whether the connection may go on after this.
    reusable: bool = False
    _held: bytes = b""
    _singly: int = SINGLE_BYTES

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    def query(self, name: str, default: str = "") -> str:
        return parse_qs(urlsplit(self.target).query).get(name, [default])[0]

    async def write(self, data: bytes) -> None:
        """Send what was held back, and this."""
        data, self._held = self._held + data, b""
        if self.server.packets is Packets.BYTES and self._singly:
            singly, data = data[: self._singly], data[self._singly :]
            self._singly -= len(singly)
            for byte in singly:
                await self._send(bytes([byte]))
                await self._until_read()
        await self._send(data)

    async def _send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def _until_read(self) -> None:
        plug, writer = self.writer.get_extra_info("socket"), self.writer
        while unread_bytes(plug) and not writer.is_closing():  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(0.0002)

    async def head(self, status: str, headers: Headers) -> None:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers)]
        self._held += "\r\n".join([*lines, "", ""]).encode("latin-1")
        if self.server.packets is not Packets.TOGETHER:
            await self.write(b"")
            await self._until_read()

    async def begin(self, *headers: tuple[str, str]) -> None:
        """Send the head of a success whose body follows; to a HEAD that is all."""
        await self.head("200 OK", list(headers))
        if self.method == "HEAD":
            raise HeadIsAllError

    async def answer(
        self, body: bytes, content_type: str = PAGE, status: str = "200 OK", extra: Headers | None = None
    ) -> None:
        """Answer as an honest server would."""
        headers = [("Content-Type", content_type), ("Content-Length", str(len(body))), *(extra or [])]
        self.reusable = True
        await self.head(status, headers)
        if self.method != "HEAD":
            await self.write(body)

    async def redirect(self, location: str, status: str = "302 Found") -> None:
        await self.answer(b"", status=status, extra=[("Location", location)])

    def reset(self) -> None:
        """Close the connection with a reset instead of an end."""
        plug = self.writer.get_extra_info("socket")
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def turn(self) -> int:
        """Count how often this path was asked for, this time included."""
        self.server.turns[self.path] += 1
        return self.server.turns[self.path]


Route = Callable[[Exchange], Awaitable[None]]

ROUTES: dict[str, Route] = {}


def route(path: str) -> Callable[[Route], Route]:
    def register(function: Route) -> Route:
        ROUTES[path] = function
        return function

    return register


def links(*paths: str, title: str = "Page") -> bytes:
    items = "".join(f'<li><a href="{path}">{path}</a></li>' for path in paths)
    return f"<!doctype html><title>{title}</title><h1>{title}</h1><ul>{items}</ul>".encode()


# What is fine.


@route("/")
async def index(exchange: Exchange) -> None:
    """Answer honestly with links to every route, /good.csv last."""
    if exchange.path != "/":
        await exchange.answer(links(title="Not found"), status="404 Not Found")
        return
    await exchange.answer(links(*(path for path in ROUTES if path != "/"), "/good.html", "/good.csv"))


@route("/good.html")
async def good_page(exchange: Exchange) -> None:
    """Answer honestly with a page that links to a file."""
    await exchange.answer(links("/good.csv"))


@route("/good.csv")
async def good_file(exchange: Exchange) -> None:
    """Answer honestly with a file."""
    await exchange.answer(GOOD_CSV, "text/csv")


@route("/forbidden/")
async def forbidden(exchange: Exchange) -> None:
    """Answer honestly; robots.txt asks not to come here."""
    await exchange.answer(links("/forbidden/more"))


# Connections.


@route("/reset")
async def reset(exchange: Exchange) -> None:
    """Reset the connection instead of an answer."""
    exchange.reset()


@route("/close")
async def close(_exchange: Exchange) -> None:
    """Close the connection without a word."""


@route("/silent")
async def silent(_exchange: Exchange) -> None:
    """Take the request and never answer."""
    await asyncio.Event().wait()


@route("/refused")
async def refused(exchange: Exchange) -> None:
    """Redirect to a port on which nobody listens."""
    await exchange.redirect(f"http://{exchange.server.host}:1/")


# Bodies.


@route("/drop-mid-body")
async def drop_mid_body(exchange: Exchange) -> None:
    """Announce 10,000 bytes of HTML, send half, and close."""
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", "10000"))
    await exchange.write(links("/good.csv").ljust(5_000))


@route("/drop-mid-file.csv")
async def drop_mid_file(exchange: Exchange) -> None:
    """Announce 10,000 bytes of CSV, send half, and close."""
    await exchange.begin(("Content-Type", "text/csv"), ("Content-Length", "10000"))
    await exchange.write(GOOD_CSV.ljust(5_000))


@route("/reset-mid-body")
async def reset_mid_body(exchange: Exchange) -> None:
    """Announce 10,000 bytes, send half, and reset the connection."""
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", "10000"))
    await exchange.write(links("/good.csv").ljust(5_000))
    exchange.reset()


@route("/reset-without-length.csv")
async def reset_without_length(exchange: Exchange) -> None:
    """Send the beginning of a file whose end is the end of the connection, and reset it."""
    await exchange.begin(("Content-Type", "text/csv"))
    await exchange.write(GOOD_CSV)
    exchange.reset()


@route("/length-too-long")
async def length_too_long(exchange: Exchange) -> None:
    """Announce more bytes than there are, and keep the client waiting for them."""
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", "10000"))
    await exchange.write(links("/good.csv"))
    await asyncio.Event().wait()


@route("/length-too-short")
async def length_too_short(exchange: Exchange) -> None:
    """Announce fewer bytes than are sent; the rest looks like an answer to the next request."""
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", "10"))
    await exchange.write(links("/good.csv"))
    exchange.reusable = True


@route("/length-negative")
async def length_negative(exchange: Exchange) -> None:
    """Announce a negative length."""
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", "-5"))
    await exchange.write(links("/good.csv"))


@route("/two-lengths")
async def two_lengths(exchange: Exchange) -> None:
    """Announce two different lengths."""
    lengths = [("Content-Length", "10"), ("Content-Length", "200")]
    await exchange.begin(("Content-Type", PAGE), *lengths)
    await exchange.write(links("/good.csv").ljust(200))


@route("/broken-chunks")
async def broken_chunks(exchange: Exchange) -> None:
    """Send a chunk whose size is not a number."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    await exchange.write(b"5\r\n<html\r\nzz\r\nrest\r\n0\r\n\r\n")


@route("/unfinished-chunks")
async def unfinished_chunks(exchange: Exchange) -> None:
    """Send chunks and close without the last, empty one."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    await exchange.write(b"5\r\n<html\r\n")


@route("/overlong-chunk")
async def overlong_chunk(exchange: Exchange) -> None:
    """Send a chunk that is longer than its size says."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    await exchange.write(b"5\r\n<html>\r\n0\r\n\r\n")


@route("/huge-chunk-size")
async def huge_chunk_size(exchange: Exchange) -> None:
    """Announce a chunk of more bytes than any number of 64 bits counts."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    await exchange.write(b"f" * 40 + b"\r\n<html")


@route("/bad-trailer")
async def bad_trailer(exchange: Exchange) -> None:
    """Send a trailer after the last chunk that is not a header."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    await exchange.write(b"5\r\n<html\r\n0\r\nno colon here\r\n\r\n")


@route("/endless-trailers")
async def endless_trailers(exchange: Exchange) -> None:
    """Send trailers without end after the last chunk."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    await exchange.write(b"5\r\n<html\r\n0\r\n")
    while True:
        await exchange.write(b"X-More: and more\r\n" * 100)


@route("/trickle")
async def trickle(exchange: Exchange) -> None:
    """Send a byte ten times per second, up to a million: each is in time, the whole never."""
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", "1000000"))
    while True:
        await exchange.write(b" ")
        await asyncio.sleep(0.1)


@route("/endless")
async def endless(exchange: Exchange) -> None:
    """Send a page that never ends, as fast as it is read."""
    await exchange.begin(("Content-Type", PAGE), ("Transfer-Encoding", "chunked"))
    text = b"<p>and so on</p>" * 1_024
    while True:
        await exchange.write(b"%x\r\n%s\r\n" % (len(text), text))


@route("/endless.csv")
async def endless_file(exchange: Exchange) -> None:
    """Send a file without a length that never ends."""
    await exchange.begin(("Content-Type", "text/csv"))
    while True:
        await exchange.write(GOOD_CSV * 1_000)


@route("/huge-page")
async def huge_page(exchange: Exchange) -> None:
    """Send 100 MB of HTML with a link at its beginning and another at its end."""
    first, last = links("/good.csv"), b'<a href="/good.html">end</a>'
    block = b"<p>" + b"text " * 13_106 + b"</p>"
    blocks = 100 * MEGABYTE // len(block)
    size = len(first) + blocks * len(block) + len(last)
    await exchange.begin(("Content-Type", PAGE), ("Content-Length", str(size)))
    await exchange.write(first)
    for _ in range(blocks):
        await exchange.write(block)
    await exchange.write(last)


@route("/huge.csv")
async def huge_file(exchange: Exchange) -> None:
    """Announce a file of a terabyte, and begin to send it."""
    await exchange.begin(("Content-Type", "text/csv"), ("Content-Length", str(1 << 40)))
    while True:
        await exchange.write(GOOD_CSV * 1_000)


@cache
def gzip_bomb() -> bytes:
    """Pack 256 MB of blanks into some 260 kB: one block is packed once, and repeated."""
    packer = zlib.compressobj(wbits=-15)
    block = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(256):
        check = zlib.crc32(b" " * MEGABYTE, check)
    head, end = b"\x1f\x8b\x08" + bytes(6) + b"\xff", zlib.compressobj(wbits=-15).flush()
    return head + block * 256 + end + struct.pack("<LL", check, 256 * MEGABYTE)


@route("/gzip-bomb")
async def bomb(exchange: Exchange) -> None:
    """Send a page of 260 kB that unpacks to 256 MB."""
    await exchange.answer(gzip_bomb(), extra=[("Content-Encoding", "gzip")])


@route("/gzip-bomb.csv")
async def bomb_file(exchange: Exchange) -> None:
    """Send a file of 260 kB that unpacks to 256 MB."""
    await exchange.answer(gzip_bomb(), "text/csv", extra=[("Content-Encoding", "gzip")])


# Pages that are small to send, and would take very much memory or time to read.
BOMBS: dict[str, Callable[[], str]] = {
    "long-base": lambda: f'<base href="/{"x" * 3_900}/">' + "".join(f"<a href={n}>" for n in range(900_000)),
    "many-links": lambda: "".join(f"<a href=/{n}>" for n in range(500_000)),
    "reopened": lambda: "".join(f"<b id={n}><p>" for n in range(2_040)),
    "many-attributes": lambda: f"<x {' '.join(f'a{n}' for n in range(680))}>" * 4_000,
    "many-elements": lambda: "<p>x" * 4_000_000,
    "wide-characters": lambda: "<p>\N{GRINNING FACE}" + "text " * 3_000_000,
    "one-text-for-all": lambda: (
        "<div>" * 500 + "text " * 3_000_000 + "".join(f"<a href=/{n}></a></div>" for n in range(500))
    ),
    "nul-characters": lambda: "<p>" + "\0" * 16_700_000,
    "refresh": lambda: f'<meta http-equiv=refresh content="{"1" * 1_000_000}x">',
    "charset": lambda: "<meta " + "a" * 16_000 + "charset=" * 16,
}


@route("/bombs/")
async def page_bombs(exchange: Exchange) -> None:
    """Send one of the pages that only their reader can defend against, packed."""
    make = BOMBS.get(exchange.path.removeprefix("/bombs/"), lambda: "")
    await exchange.answer(gzip.compress(make().encode(), 1, mtime=0), extra=[("Content-Encoding", "gzip")])


@route("/gzip-of-gzip")
async def gzip_of_gzip(exchange: Exchange) -> None:
    """Send a page that was packed a hundred times, and say so."""
    body = links("/good.csv")
    for _ in range(100):
        body = gzip.compress(body, mtime=0)
    await exchange.answer(body, extra=[("Content-Encoding", ", ".join(["gzip"] * 100))])


@route("/broken-gzip")
async def broken_gzip(exchange: Exchange) -> None:
    """Send a packed page of which the second half is missing."""
    packed = gzip.compress(links("/good.csv", *(f"/x{number}" for number in range(999))))
    await exchange.answer(packed[: len(packed) // 2], extra=[("Content-Encoding", "gzip")])


@route("/broken-deflate")
async def broken_deflate(exchange: Exchange) -> None:
    """Send a page packed with deflate of which the second half is missing."""
    packed = zlib.compress(links("/good.csv", *(f"/x{number}" for number in range(999))))
    await exchange.answer(packed[: len(packed) // 2], extra=[("Content-Encoding", "deflate")])


@route("/not-gzip")
async def not_gzip(exchange: Exchange) -> None:
    """Say that a plain page is packed."""
    await exchange.answer(links("/good.csv"), extra=[("Content-Encoding", "gzip")])


@route("/unknown-encoding")
async def unknown_encoding(exchange: Exchange) -> None:
    """Name a Content-Encoding that nobody knows."""
    await exchange.answer(links("/good.csv"), extra=[("Content-Encoding", "squeeze")])


@route("/unknown-encoding.csv")
async def unknown_encoding_of_a_file(exchange: Exchange) -> None:
    """Send a file in a Content-Encoding that nobody knows."""
    await exchange.answer(GOOD_CSV, "text/csv", extra=[("Content-Encoding", "squeeze")])


@route("/unreadable-encoding")
async def unreadable_encoding(exchange: Exchange) -> None:
    """Send a page that is packed, by a name that nobody knows."""
    await exchange.answer(zlib.compress(links("/good.csv")), extra=[("Content-Encoding", "squeeze")])


@route("/two-encodings.csv")
async def two_encodings(exchange: Exchange) -> None:
    """Send a file that was packed twice, in two ways."""
    packed = gzip.compress(zlib.compress(GOOD_CSV), mtime=0)
    await exchange.answer(packed, "text/csv", extra=[("Content-Encoding", "deflate, gzip")])


@route("/packed-for-the-way.csv")
async def packed_for_the_way(exchange: Exchange) -> None:
    """Send a file whose packing is a matter of the connection, though nobody asked for that."""
    packed = gzip.compress(GOOD_CSV, mtime=0)
    await exchange.begin(("Content-Type", "text/csv"), ("Transfer-Encoding", "gzip, chunked"))
    await exchange.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed))


@route("/squeezed-for-the-way.csv")
async def squeezed_for_the_way(exchange: Exchange) -> None:
    """Send a file in a Transfer-Encoding that nobody knows."""
    await exchange.begin(("Content-Type", "text/csv"), ("Transfer-Encoding", "squeeze, chunked"))
    await exchange.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD_CSV), GOOD_CSV))


@route("/charset-as-encoding.csv")
async def charset_as_encoding(exchange: Exchange) -> None:
    """Name the charset of a file as its Content-Encoding, as some servers do."""
    await exchange.answer(GOOD_CSV, "text/csv", extra=[("Content-Encoding", "UTF-8")])


@route("/broken-gzip.csv")
async def broken_gzip_file(exchange: Exchange) -> None:
    """Send a packed file of which the second half is missing, with the length of what is sent."""
    packed = gzip.compress(bytes(range(256)) * 40, mtime=0)
    await exchange.answer(packed[: len(packed) // 2], "text/csv", extra=[("Content-Encoding", "gzip")])


@route("/wrong-gzip.csv")
async def wrong_gzip_file(exchange: Exchange) -> None:
    """Send a packed file whose check sum is wrong."""
    packed = gzip.compress(GOOD_CSV, mtime=0)
    await exchange.answer(packed[:-8] + bytes(8), "text/csv", extra=[("Content-Encoding", "gzip")])


# Parts.


@route("/unasked-part.csv")
async def unasked_part(exchange: Exchange) -> None:
    """Send the first half of a file as a part that nobody asked for."""
    size = len(GOOD_CSV)
    part = [("Content-Range", f"bytes 0-{size // 2 - 1}/{size}")]
    await exchange.answer(GOOD_CSV[: size // 2], "text/csv", "206 Partial Content", part)


@route("/part-that-is-all.csv")
async def part_that_is_all(exchange: Exchange) -> None:
    """Send all of a file as a part."""
    size = len(GOOD_CSV)
    part = [("Content-Range", f"bytes 0-{size - 1}/{size}")]
    await exchange.answer(GOOD_CSV, "text/csv", "206 Partial Content", part)


@route("/no-content.csv")
async def no_content(exchange: Exchange) -> None:
    """Say that there is no content."""
    await exchange.head("204 No Content", [("Content-Type", "text/csv")])
    await exchange.write(b"")


@route("/accepted.csv")
async def accepted(exchange: Exchange) -> None:
    """Say that the file is being prepared."""
    await exchange.answer(b'{"status": "pending"}', "text/csv", "202 Accepted")


@route("/missing-and-broken")
async def missing_and_broken(exchange: Exchange) -> None:
    """Answer 404 with a packed page that breaks off."""
    packed = gzip.compress(links("/good.csv"), mtime=0)[:40]
    await exchange.answer(packed, status="404 Not Found", extra=[("Content-Encoding", "gzip")])


# Head of the answer.


@route("/endless-headers")
async def endless_headers(exchange: Exchange) -> None:
    """Send headers without end."""
    await exchange.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        await exchange.write(b"X-More: and more\r\n" * 100)


@route("/huge-header")
async def huge_header(exchange: Exchange) -> None:
    """Send a header of a megabyte."""
    await exchange.answer(links("/good.csv"), extra=[("X-Huge", "x" * MEGABYTE)])


@route("/many-headers")
async def many_headers(exchange: Exchange) -> None:
    """Send ten thousand headers."""
    await exchange.answer(links("/good.csv"), extra=[(f"X-{number}", "x") for number in range(10_000)])


@route("/slow-headers")
async def slow_headers(exchange: Exchange) -> None:
    """Send a byte of the headers ten times per second, for ever."""
    await exchange.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await exchange.write(b"x")
        await asyncio.sleep(0.1)


@route("/no-http")
async def no_http(exchange: Exchange) -> None:
    """Answer in another protocol."""
    await exchange.write(b"220 mail.test ESMTP ready\r\n")


@route("/bad-status")
async def bad_status(exchange: Exchange) -> None:
    """Answer with a status that is not a number."""
    await exchange.head("OK 200", [("Content-Type", PAGE), ("Content-Length", "0")])


@route("/status-999")
async def status_999(exchange: Exchange) -> None:
    """Answer with a status that does not exist."""
    await exchange.answer(links("/good.csv"), status="999 Go Away")


@route("/bad-header")
async def bad_header(exchange: Exchange) -> None:
    """Send header lines that are none, and bytes that are no text."""
    bad = b"HTTP/1.1 200 OK\r\nno colon here\r\n: no name\r\nX-Bytes: \xff\xfe\x00\r\n"
    body = links("/good.csv")
    good = b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    await exchange.write(bad + good)


# HEAD.


@route("/no-head")
async def no_head(exchange: Exchange) -> None:
    """Answer 405 to HEAD and honestly to GET."""
    if exchange.method == "HEAD":
        await exchange.answer(b"", status="405 Method Not Allowed", extra=[("Allow", "GET")])
    else:
        await exchange.answer(GOOD_CSV, "text/csv")


@route("/head-not-implemented")
async def head_not_implemented(exchange: Exchange) -> None:
    """Answer 501 to HEAD and honestly to GET."""
    if exchange.method == "HEAD":
        await exchange.answer(b"", status="501 Not Implemented")
    else:
        await exchange.answer(GOOD_CSV, "text/csv")


@route("/head-with-body")
async def head_with_body(exchange: Exchange) -> None:
    """Send a body with the answer to HEAD, on a connection that continues."""
    await exchange.head("200 OK", [("Content-Type", PAGE), ("Content-Length", "20")])
    await exchange.write(b"<html>HTTP/1.1 500 x")
    exchange.reusable = True


@route("/head-lies")
async def head_lies(exchange: Exchange) -> None:
    """Say with HEAD that it is a page, and with GET that it is a file."""
    if exchange.method == "HEAD":
        await exchange.answer(b"")
    else:
        await exchange.answer(GOOD_CSV, "text/csv")


# Types and names.


@route("/wrong-charset")
async def wrong_charset(exchange: Exchange) -> None:
    """Say UTF-8 and send Latin-1, also in a link."""
    body = '<p>Köln <a href="/größe.csv">Größe</a> <a href="/good.csv">gut</a>'.encode("latin-1")
    await exchange.answer(body)


@route("/unknown-charset")
async def unknown_charset(exchange: Exchange) -> None:
    """Name a charset that does not exist; hex is a codec of Python's, but none for text."""
    await exchange.answer(links("/good.csv"), "text/html; charset=hex")


@route("/utf-16")
async def utf_16(exchange: Exchange) -> None:
    """Send UTF-16 with a byte-order mark, and say UTF-8."""
    await exchange.answer(links("/good.csv").decode().encode("utf-16"))


@route("/page-as-file.csv")
async def page_as_file(exchange: Exchange) -> None:
    """Send a page under the name and type of a CSV file."""
    await exchange.answer(links("/good.csv"), "text/csv")


@route("/file-as-page.html")
async def file_as_page(exchange: Exchange) -> None:
    """Send a CSV file under the name and type of a page."""
    await exchange.answer(GOOD_CSV)


@route("/no-type.csv")
async def no_type(exchange: Exchange) -> None:
    """Send a file without a Content-Type."""
    await exchange.begin(("Content-Length", str(len(GOOD_CSV))))
    await exchange.write(GOOD_CSV)


@route("/no-type.html")
async def no_type_page(exchange: Exchange) -> None:
    """Send a page without a Content-Type."""
    body = links("/good.csv")
    await exchange.begin(("Content-Length", str(len(body))))
    await exchange.write(body)


@route("/strange-type")
async def strange_type(exchange: Exchange) -> None:
    """Send a Content-Type that is none."""
    await exchange.answer(GOOD_CSV, ";;;=/x" * 100)


@route("/video")
async def video(exchange: Exchange) -> None:
    """Begin a video of a gigabyte under a plain address."""
    await exchange.begin(("Content-Type", "video/mp4"), ("Content-Length", str(1 << 30)))
    while True:
        await exchange.write(bytes(65_536))


# Names under which no file may be stored as they are. The same name twice is a trick, too.
FILE_NAMES = (
    'attachment; filename="../../escaped.csv"',
    'attachment; filename="/tmp/absolute.csv"',
    'attachment; filename="..\\\\..\\\\escaped.csv"',
    'attachment; filename="C:\\\\Windows\\\\drive.csv"',
    "attachment; filename*=UTF-8''..%2F..%2Fescaped.csv",
    "attachment; filename*=UTF-8''nul%00byte.csv",
    "attachment; filename*=klingon'x'name.csv",
    'attachment; filename="CON"',
    'attachment; filename=".hidden"',
    'attachment; filename=".."',
    'attachment; filename=""',
    'attachment; filename="trailing. . ."',
    f'attachment; filename="{"x" * 5_000}.csv"',
    'attachment; filename="same.csv"',
    'attachment; filename="SAME.csv"',
    'attachment; filename="line%0d%0abreak.csv"',
    "attachment; filename=",
    "filename",
)


@route("/names/")
async def names(exchange: Exchange) -> None:
    """Send files whose Content-Disposition tries to leave the folder; /names/ links to /names/0 and so on."""
    number = exchange.path.removeprefix("/names/")
    if number.isdigit() and int(number) < len(FILE_NAMES):
        body = f"file,{number}\n".encode()
        await exchange.answer(body, "text/csv", extra=[("Content-Disposition", FILE_NAMES[int(number)])])
    else:
        await exchange.answer(links(*(f"/names/{number}" for number in range(len(FILE_NAMES)))))


# Redirects.


@route("/redirect-loop/")
async def redirect_loop(exchange: Exchange) -> None:
    """Redirect from a to b and from b to a."""
    await exchange.redirect("/redirect-loop/b" if exchange.path.endswith("/a") else "/redirect-loop/a")


@route("/redirect-self")
async def redirect_self(exchange: Exchange) -> None:
    """Redirect to the same URL."""
    await exchange.redirect("/redirect-self")


@route("/redirects")
async def redirects(exchange: Exchange) -> None:
    """Redirect to ever new URLs."""
    await exchange.redirect(f"/redirects?hop={int(exchange.query('hop', '0')) + 1}")


# Where a crawl that began on a public host must not be led. The last is a name that resolves to loopback.
PRIVATE_URLS = (
    "http://10.0.0.1/",
    "http://192.168.0.1/",
    "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:22/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://localhost/",
)


@route("/redirect-private/")
async def redirect_private(exchange: Exchange) -> None:
    """Redirect to a private address; /redirect-private/ links to one number for each of `PRIVATE_URLS`."""
    number = exchange.path.removeprefix("/redirect-private/")
    if number.isdigit() and int(number) < len(PRIVATE_URLS):
        await exchange.redirect(PRIVATE_URLS[int(number)])
    else:
        paths = (f"/redirect-private/{number}" for number in range(len(PRIVATE_URLS)))
        await exchange.answer(links(*paths, *PRIVATE_URLS))


@route("/redirect-elsewhere/")
async def redirect_elsewhere(exchange: Exchange) -> None:
    """Redirect to something that is not a web page, or to nothing; /redirect-elsewhere/ links to all."""
    places = ("file:///etc/passwd", "gopher://a.test/", "javascript:alert(1)", "http://", "", "http://[bad/")
    number = exchange.path.removeprefix("/redirect-elsewhere/")
    if number.isdigit() and int(number) < len(places):
        await exchange.redirect(places[int(number)])
    elif number == "none":
        await exchange.answer(b"", status="302 Found")
    else:
        paths = (f"/redirect-elsewhere/{number}" for number in range(len(places)))
        await exchange.answer(links(*paths, "/redirect-elsewhere/none"))


@route("/refresh-loop")
async def refresh_loop(exchange: Exchange) -> None:
    """Reload itself by a meta element."""
    await exchange.answer(b'<meta http-equiv="refresh" content="0; url=/refresh-loop"><p>Wait.')


# Traps.


@route("/calendar/")
async def calendar(exchange: Exchange) -> None:
    """Show a month, with links to the next and the previous one, without end."""
    parts = exchange.path.removeprefix("/calendar/").split("/")
    year, month = (int(part) for part in parts) if len(parts) == 2 else (2024, 1)
    following, previous = divmod(year * 12 + month, 12), divmod(year * 12 + month - 2, 12)
    months = [f"/calendar/{y}/{m + 1}" for y, m in (following, previous)]
    await exchange.answer(links(*months, title=f"{year}, {month}"))


@route("/grow/")
async def grow(exchange: Exchange) -> None:
    """Link to a folder below itself by a relative address that was meant to be absolute."""
    await exchange.answer(links("grow/", "index.html"))


@route("/session")
async def session(exchange: Exchange) -> None:
    """Show the same page under a new session id each time, in the query and in the path."""
    sid = f"{len(exchange.server.requests):032x}"
    await exchange.answer(
        links(f"/session?sid={sid}", f"/session;jsessionid={sid}", f"/session?PHPSESSID={sid}")
    )


@route("/pages")
async def pages(exchange: Exchange) -> None:
    """List nothing on page after page, each with a link to the next."""
    number = int(exchange.query("page", "1"))
    await exchange.answer(links(f"/pages?page={number + 1}", title=f"Page {number}: no results"))


@route("/soft-404/")
async def soft_404(exchange: Exchange) -> None:
    """Answer 200 for whatever is asked, with the same words and links to two more addresses."""
    name = exchange.path.removeprefix("/soft-404/")[-8:]
    paths = (f"/soft-404/{name}a", f"/soft-404/{name}b")
    await exchange.answer(links(*paths, title="This page could not be found"))


@route("/many-links")
async def many_links(exchange: Exchange) -> None:
    """Link to a hundred thousand pages that do not exist."""
    await exchange.answer(links(*(f"/none/{number}" for number in range(100_000))))


@route("/deep")
async def deep(exchange: Exchange) -> None:
    """Nest fifty thousand elements around a link."""
    await exchange.answer(b"<div class=a>" * 50_000 + b'<a href="/good.csv">x</a>')


@route("/bad-urls")
async def bad_urls(exchange: Exchange) -> None:
    """Link to addresses that no parser accepts, and to one that is fine."""
    bad = ("http://[::1", "http://a b.test/", "http://:80/", "//", "http://a.test:99999/", "%", "http:///x")
    tricky = ("mailto:x@a.test", "javascript:void(0)", "data:text/html,x", "/" + "x" * 100_000, "/%ff%00")
    await exchange.answer(links(*bad, *tricky, "/good.csv"))


# Please wait.


@route("/busy")
async def busy(exchange: Exchange) -> None:
    """Answer 429 with Retry-After: 1 the first time, honestly after that."""
    await _busy_once(exchange, "1")


@route("/busy-until")
async def busy_until(exchange: Exchange) -> None:
    """Answer 429 with Retry-After as a date two seconds ahead the first time, honestly after that."""
    await _busy_once(exchange, formatdate(time() + 2, usegmt=True))


@route("/busy-silly/")
async def busy_silly(exchange: Exchange) -> None:
    """Answer 429 with a Retry-After that makes no sense; /busy-silly/ links to one number for each."""
    values = ("soon", "-5", "99999999999999", formatdate(0, usegmt=True), "1.5", "")
    number = exchange.path.removeprefix("/busy-silly/")
    if number.isdigit() and int(number) < len(values):
        await _busy_once(exchange, values[int(number)])
    else:
        await exchange.answer(links(*(f"/busy-silly/{number}" for number in range(len(values)))))


@route("/busy-for-ever")
async def busy_for_ever(exchange: Exchange) -> None:
    """Answer 429 each time."""
    await exchange.answer(b"", status="429 Too Many Requests", extra=[("Retry-After", "1")])


@route("/unavailable-once")
async def unavailable_once(exchange: Exchange) -> None:
    """Answer 503 the first time, honestly after that."""
    if exchange.turn() == 1:
        await exchange.answer(b"", status="503 Service Unavailable")
    else:
        await exchange.answer(GOOD_CSV, "text/csv")


@route("/unavailable")
async def unavailable(exchange: Exchange) -> None:
    """Answer 503 each time."""
    await exchange.answer(b"", status="503 Service Unavailable")


@route("/error")
async def error(exchange: Exchange) -> None:
    """Answer 500 each time, with a page full of links."""
    await exchange.answer(links("/good.csv"), status="500 Internal Server Error")


async def _busy_once(exchange: Exchange, retry_after: str) -> None:
    if exchange.turn() == 1:
        await exchange.answer(b"", status="429 Too Many Requests", extra=[("Retry-After", retry_after)])
    else:
        await exchange.answer(GOOD_CSV, "text/csv")


# Software behind a site.


@route("/apis/")
async def apis(exchange: Exchange) -> None:
    """Link to one home page for each fault of an API (`tests.nasty_apis`)."""
    await nasty_apis.answer(exchange)


# Please do not.


@route("/nofollow-header")
async def nofollow_header(exchange: Exchange) -> None:
    """Ask by X-Robots-Tag not to follow the links."""
    await exchange.answer(links("/nofollow-target.csv"), extra=[("X-Robots-Tag", "noindex, nofollow")])


@route("/nofollow-meta")
async def nofollow_meta(exchange: Exchange) -> None:
    """Ask by a meta element not to follow the links."""
    await exchange.answer(b'<meta name="robots" content="nofollow">' + links("/nofollow-target.csv"))


# robots.txt.

PLAIN_ROBOTS = b"User-agent: *\nDisallow: /forbidden/\n"


ROBOTS_BODIES = {
    Robots.ALLOW: PLAIN_ROBOTS,
    Robots.FORBID: b"User-agent: *\nDisallow: /\n",
    Robots.DELAY: PLAIN_ROBOTS + b"Crawl-delay: 2\n",
    Robots.LONG_DELAY: PLAIN_ROBOTS + b"Crawl-delay: 86400\n",
    Robots.HUGE: b"# nothing\n" * (5 * MEGABYTE // 10) + PLAIN_ROBOTS,
    Robots.GARBAGE: bytes(range(256)) * 50,
    Robots.BUSY: PLAIN_ROBOTS,
}
ROBOTS_STATUSES = {
    Robots.MISSING: "404 Not Found",
    Robots.DENIED: "403 Forbidden",
    Robots.ERROR: "500 Internal Server Error",
}
ROBOTS_LOCATIONS = {Robots.REDIRECTED: "/real-robots.txt", Robots.LOOP: "/robots.txt"}


async def _real_robots(exchange: Exchange) -> None:
    await exchange.answer(PLAIN_ROBOTS, "text/plain")


async def _robots(exchange: Exchange) -> None:
    kind = exchange.server.robots
    if kind is Robots.BUSY and exchange.turn() == 1:
        await exchange.answer(b"", "text/plain", "503 Service Unavailable")
    elif kind in ROBOTS_BODIES:
        await exchange.answer(ROBOTS_BODIES[kind], "text/plain")
    elif kind in ROBOTS_STATUSES:
        await exchange.answer(b"", "text/plain", ROBOTS_STATUSES[kind])
    elif kind in ROBOTS_LOCATIONS:
        await exchange.redirect(ROBOTS_LOCATIONS[kind], "301 Moved Permanently")
    elif kind is Robots.PAGE:
        await exchange.answer(links("/good.csv"))
    elif kind is Robots.SILENT:
        await asyncio.Event().wait()
    else:
        await exchange.begin(("Content-Type", "text/plain"))
        while True:
            await exchange.write(b"# and so on\n" * 1_000)


# The server itself.


def _find(path: str) -> Route:
    if path == "/robots.txt":
        return _robots
    if path == "/real-robots.txt":
        return _real_robots
    exact = ROUTES.get(path.partition(";")[0])
    if exact is not None:
        return exact
    below = [known for known in ROUTES if known.endswith("/") and path.startswith(known)]
    return ROUTES[max(below, key=len)]


async def _converse(server: NastyServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection; whatever the client does, the server continues."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ", 2)
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
            asked = Asked(asyncio.get_running_loop().time(), method, target)
            server.requests.append(asked)
            exchange = Exchange(server, method, target, headers, writer)
            with suppress(HeadIsAllError):
                await _find(exchange.path)(exchange)
            await exchange.write(b"")
            if not exchange.reusable or headers.get("connection") == "close":
                return
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return
    finally:
        writer.close()


@contextmanager
def nasty_server(robots: Robots = Robots.ALLOW, packets: Packets = Packets.TOGETHER) -> Iterator[NastyServer]:
    """Run the server in a thread until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="nasty server", daemon=True)
    thread.start()
    state = NastyServer("127.0.0.1", 0, robots, packets)
    conversations: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(_converse(state, reader, writer))
        conversations[task] = writer

    async def start() -> asyncio.Server:
        return await asyncio.start_server(accept, state.host, 0)

    async def stop() -> None:
        # asyncio loses a connection that is being accepted while its server closes.
        while accepting := asyncio.all_tasks() - conversations.keys() - {asyncio.current_task()}:
            await asyncio.gather(*accepting, return_exceptions=True)
        listening.close()
        for task, writer in conversations.items():
            task.cancel()
            # Closing alone would wait for a client that does not read. One that has just gone by itself has
            # left its loop, which asyncio does not expect.
            with suppress(AttributeError):
                writer.transport.abort()
        await asyncio.gather(*conversations, return_exceptions=True)
        await asyncio.sleep(0)

    listening = asyncio.run_coroutine_threadsafe(start(), loop).result()
    state.port = listening.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
