"""Each route of the nasty server does what its docstring says, seen through a plain socket."""

import gzip
import http.client
import math
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import closing
from email.utils import parsedate_to_datetime
from functools import partial
from time import monotonic, time  # noqa: TID251 - these tests are about waiting

import pytest

from tests.nasty_server import (
    FILE_NAMES,
    GOOD_CSV,
    MEGABYTE,
    PRIVATE_URLS,
    ROUTES,
    NastyServer,
    Packets,
    Robots,
    nasty_server,
)

# Only what has failed waits so long: a busy machine may take its time for an answer.
PATIENCE = 120.0


@pytest.fixture(scope="module")
def shared() -> Iterator[NastyServer]:
    with nasty_server() as server:
        yield server


@pytest.fixture
def server(shared: NastyServer) -> NastyServer:
    shared.requests.clear()
    shared.turns.clear()
    return shared


def raw(
    server: NastyServer, path: str, method: str = "GET", limit: int = 100_000, seconds: float = math.inf
) -> bytes:
    """Return what the server sends until it closes, or so many bytes, or seconds since the first."""
    answer = b""
    with connected(server, path, method) as plug:
        end = math.inf
        while len(answer) < limit and (left := end - monotonic()) > 0:
            plug.settimeout(min(left, PATIENCE))
            try:
                chunk = plug.recv(65_536)
            except TimeoutError:
                break
            if not chunk:
                break
            end = min(end, monotonic() + seconds)
            answer += chunk
    return answer


def is_silent(server: NastyServer, path: str) -> bool:
    """Tell whether nothing comes for a while."""
    with connected(server, path) as plug:
        plug.settimeout(0.2)
        try:
            plug.recv(1)
        except TimeoutError:
            return True
    return False


def connected(server: NastyServer, path: str, method: str = "GET") -> socket.socket:
    plug = socket.create_connection((server.host, server.port), timeout=PATIENCE)
    plug.sendall(f"{method} {path} HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\n\r\n".encode())
    return plug


def ask(server: NastyServer, path: str, method: str = "GET") -> http.client.HTTPResponse:
    """Return an answer that follows the rules; its body can be read."""
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE)) as connection:
        connection.request(method, path, headers={"Connection": "close"})
        response = connection.getresponse()
        response.body = response.read()  # type: ignore[attr-defined]
    return response


def body(server: NastyServer, path: str) -> bytes:
    content: bytes = ask(server, path).body  # type: ignore[attr-defined]
    return content


def split(answer: bytes) -> tuple[bytes, bytes]:
    head, _, rest = answer.partition(b"\r\n\r\n")
    return head, rest


@pytest.mark.parametrize("path", ROUTES)
def test_every_route_is_documented_and_linked_from_the_start(server: NastyServer, path: str) -> None:
    assert (ROUTES[path].__doc__ or "").strip()
    if path != "/":
        assert f'href="{path}"'.encode() in body(server, "/")


def test_an_answer_arrives_in_the_packets_that_were_requested() -> None:
    arrived = {}
    for packets in Packets:
        with nasty_server(packets=packets) as server:
            plug = socket.create_connection((server.host, server.port), timeout=PATIENCE)
            with plug, plug.makefile("wb") as request:
                request.write(b"GET /broken-chunks HTTP/1.1\r\n\r\n")
                request.flush()
                arrived[packets] = list(iter(partial(plug.recv, 65_536), b""))
    whole = b"".join(arrived[Packets.TOGETHER])
    head, _, rest = whole.partition(b"5\r\n<html")
    assert arrived == {
        Packets.TOGETHER: [whole],
        Packets.APART: [head, b"5\r\n<html" + rest],
        Packets.BYTES: [bytes([byte]) for byte in whole],
    }


def test_good_things_are_good_and_the_rest_is_not_found(server: NastyServer) -> None:
    assert body(server, "/good.csv") == GOOD_CSV
    assert b"/good.csv" in body(server, "/good.html")
    assert ask(server, "/nothing").status == 404
    assert server.count("/good.csv") == 1


def test_connections_are_kept_after_an_honest_answer(server: NastyServer) -> None:
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE)) as connection:
        for path in ("/good.csv", "/calendar/", "/nothing", "/good.csv"):
            connection.request("GET", path)
            connection.getresponse().read()
            plug = connection.sock
        assert plug is connection.sock is not None


def test_connections_break(server: NastyServer) -> None:
    with pytest.raises(ConnectionResetError):
        raw(server, "/reset")
    assert raw(server, "/close") == b""
    assert is_silent(server, "/silent")
    location = ask(server, "/refused").getheader("Location") or ""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((server.host, int(location.rstrip("/").rpartition(":")[2])))


@pytest.mark.parametrize("path", ["/drop-mid-body", "/drop-mid-file.csv"])
def test_bodies_end_early(server: NastyServer, path: str) -> None:
    head, rest = split(raw(server, path))
    assert b"Content-Length: 10000" in head
    assert len(rest) == 5_000


@pytest.mark.parametrize("path", ["/reset-mid-body", "/reset-without-length.csv"])
def test_a_body_ends_in_a_reset(server: NastyServer, path: str) -> None:
    with pytest.raises(ConnectionResetError):
        raw(server, path)


def test_trailers_are_bad(server: NastyServer) -> None:
    assert b"\r\n0\r\nno colon here\r\n" in raw(server, "/bad-trailer")
    assert raw(server, "/endless-trailers", limit=MEGABYTE).count(b"X-More:") > 10_000


def test_lengths_lie(server: NastyServer) -> None:
    started = monotonic()
    head, rest = split(raw(server, "/length-too-long", seconds=0.3))
    assert b"Content-Length: 10000" in head
    assert len(rest) < 1_000
    assert monotonic() - started >= 0.3
    assert len(split(raw(server, "/length-too-short"))[1]) > 10
    assert b"Content-Length: -5" in raw(server, "/length-negative")
    assert raw(server, "/two-lengths").count(b"Content-Length") == 2


@pytest.mark.parametrize(
    "path", ["/broken-chunks", "/unfinished-chunks", "/overlong-chunk", "/huge-chunk-size"]
)
def test_chunks_are_broken(server: NastyServer, path: str) -> None:
    with pytest.raises((http.client.IncompleteRead, ValueError, OverflowError)):
        ask(server, path)


@pytest.mark.parametrize("path", ["/trickle", "/slow-headers"])
def test_bytes_trickle(server: NastyServer, path: str) -> None:
    started = monotonic()
    answer = raw(server, path, seconds=0.5)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    # However long the machine took for it.
    assert len(answer.rpartition(b"\n")[2].strip(b"X-Slow: ")) <= 10 * (monotonic() - started) + 2


@pytest.mark.parametrize(
    "path", ["/endless", "/endless.csv", "/endless-headers", "/huge.csv", "/video", "/huge-page"]
)
def test_it_never_ends(server: NastyServer, path: str) -> None:
    answer = raw(server, path, limit=10 * MEGABYTE)
    assert len(answer) >= 10 * MEGABYTE
    assert (b"\r\n\r\n" in answer) == (path != "/endless-headers")


def test_a_huge_page_has_links_at_both_ends(server: NastyServer) -> None:
    page = body(server, "/huge-page")
    assert 99 * MEGABYTE < len(page) < 101 * MEGABYTE
    assert b"/good.csv" in page[:500]
    assert b"/good.html" in page[-50:]


@pytest.mark.parametrize("path", ["/gzip-bomb", "/gzip-bomb.csv"])
def test_a_bomb_unpacks_to_a_thousand_times_its_size(server: NastyServer, path: str) -> None:
    packed = body(server, path)
    assert len(packed) < MEGABYTE
    unpacker = zlib.decompressobj(wbits=31)
    size = 0
    while packed:
        size += len(unpacker.decompress(packed, MEGABYTE))
        packed = unpacker.unconsumed_tail
    assert size == 256 * MEGABYTE


def test_packing_is_broken(server: NastyServer) -> None:
    with pytest.raises(EOFError):
        gzip.decompress(body(server, "/broken-gzip"))
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(body(server, "/not-gzip"))
    assert (ask(server, "/gzip-of-gzip").getheader("Content-Encoding") or "").count("gzip") == 100
    assert ask(server, "/unknown-encoding").getheader("Content-Encoding") == "squeeze"


def test_headers_are_too_much(server: NastyServer) -> None:
    assert len(split(raw(server, "/huge-header", limit=2 * MEGABYTE))[0]) > MEGABYTE
    assert split(raw(server, "/many-headers", limit=2 * MEGABYTE))[0].count(b"\r\n") > 10_000


def test_heads_are_not_http(server: NastyServer) -> None:
    assert raw(server, "/no-http").startswith(b"220 ")
    assert raw(server, "/bad-status").startswith(b"HTTP/1.1 OK 200")
    assert raw(server, "/status-999").startswith(b"HTTP/1.1 999")
    assert b"\xff\xfe\x00" in raw(server, "/bad-header")


def test_head_is_not_understood(server: NastyServer) -> None:
    assert ask(server, "/no-head", "HEAD").status == 405
    assert ask(server, "/head-not-implemented", "HEAD").status == 501
    assert body(server, "/no-head") == body(server, "/head-not-implemented") == GOOD_CSV
    assert split(raw(server, "/head-with-body", "HEAD"))[1] == b"<html>HTTP/1.1 500 x"
    types = {ask(server, "/head-lies", method).getheader("Content-Type") for method in ("GET", "HEAD")}
    assert len(types) == 2


# What never comes to a body, and what sends one with HEAD on purpose.
ODD_HEADS = {"/silent", "/reset", "/endless-headers", "/slow-headers", "/head-with-body", "/bad-header"}


@pytest.mark.parametrize("path", sorted(ROUTES.keys() - ODD_HEADS))
def test_no_other_route_sends_a_body_with_head(server: NastyServer, path: str) -> None:
    assert split(raw(server, path, "HEAD", limit=2 * MEGABYTE, seconds=5))[1] == b""


def test_types_and_charsets_lie(server: NastyServer) -> None:
    with pytest.raises(UnicodeDecodeError):
        body(server, "/wrong-charset").decode()
    assert "charset=hex" in (ask(server, "/unknown-charset").getheader("Content-Type") or "")
    assert body(server, "/utf-16").startswith((b"\xff\xfe", b"\xfe\xff"))
    assert ask(server, "/page-as-file.csv").getheader("Content-Type") == "text/csv"
    assert body(server, "/page-as-file.csv").startswith(b"<!doctype html>")
    assert "html" in (ask(server, "/file-as-page.html").getheader("Content-Type") or "")
    assert ask(server, "/no-type.csv").getheader("Content-Type") is None
    assert (ask(server, "/strange-type").getheader("Content-Type") or "").startswith(";")


def test_names_try_to_escape(server: NastyServer) -> None:
    index = body(server, "/names/")
    for number, disposition in enumerate(FILE_NAMES):
        assert f'"/names/{number}"'.encode() in index
        assert ask(server, f"/names/{number}").getheader("Content-Disposition") == disposition


def test_redirects_go_astray(server: NastyServer) -> None:
    def location(path: str) -> str | None:
        return ask(server, path).getheader("Location")

    assert location("/redirect-loop/a") == "/redirect-loop/b"
    assert location("/redirect-loop/b") == "/redirect-loop/a"
    assert location("/redirect-self") == "/redirect-self"
    assert location("/redirects?hop=7") == "/redirects?hop=8"
    assert [location(f"/redirect-private/{number}") for number in range(len(PRIVATE_URLS))] == list(
        PRIVATE_URLS
    )
    assert location("/redirect-elsewhere/0") == "file:///etc/passwd"
    assert location("/redirect-elsewhere/none") is None
    assert b"url=/refresh-loop" in body(server, "/refresh-loop")


def test_traps_never_end(server: NastyServer) -> None:
    assert b"/calendar/2025/1" in body(server, "/calendar/2024/12")
    assert b"/calendar/2023/12" in body(server, "/calendar/2024/1")
    assert b'"grow/"' in body(server, "/grow/grow/grow/")
    assert body(server, "/session") != body(server, "/session")
    assert b"jsessionid" in body(server, "/session;jsessionid=1")
    assert b"/pages?page=8" in body(server, "/pages?page=7")
    assert ask(server, "/soft-404/anything").status == 200
    assert b"/soft-404/anythinga" in body(server, "/soft-404/anything")
    assert body(server, "/many-links").count(b"<a ") == 100_000
    assert body(server, "/deep").count(b"<div") == 50_000
    assert b"http://[::1" in body(server, "/bad-urls")


def test_waiting_is_requested_once(server: NastyServer) -> None:
    for path in ("/busy", "/busy-until", "/busy-silly/0"):
        first, second = ask(server, path), ask(server, path)
        assert (first.status, second.status) == (429, 200)
    assert ask(server, "/busy-silly/0").getheader("Retry-After") is None
    server.turns.clear()
    assert ask(server, "/busy").getheader("Retry-After") == "1"
    before = time()
    date = parsedate_to_datetime(ask(server, "/busy-until").getheader("Retry-After") or "")
    assert before + 1 <= date.timestamp() <= time() + 2
    assert [ask(server, "/unavailable-once").status for _ in range(2)] == [503, 200]
    assert [ask(server, "/busy-for-ever").status for _ in range(2)] == [429, 429]
    assert [ask(server, "/unavailable").status for _ in range(2)] == [503, 503]
    assert ask(server, "/error").status == 500


def test_pages_ask_not_to_be_followed(server: NastyServer) -> None:
    assert "nofollow" in (ask(server, "/nofollow-header").getheader("X-Robots-Tag") or "")
    assert b'content="nofollow"' in body(server, "/nofollow-meta")


def test_robots_txt_misbehaves_as_chosen(server: NastyServer) -> None:
    def robots(kind: Robots) -> bytes:
        server.robots = kind
        return raw(server, "/robots.txt", limit=2 * MEGABYTE)

    assert b"Disallow: /forbidden/" in robots(Robots.ALLOW)
    assert b"Disallow: /\n" in robots(Robots.FORBID)
    assert b" 404 " in robots(Robots.MISSING)
    assert b" 403 " in robots(Robots.DENIED)
    assert b" 500 " in robots(Robots.ERROR)
    assert b" 503 " in robots(Robots.BUSY)
    assert b"Disallow" in robots(Robots.BUSY)
    assert b"Location: /real-robots.txt" in robots(Robots.REDIRECTED)
    assert b"Disallow" in raw(server, "/real-robots.txt")
    assert b"Location: /robots.txt" in robots(Robots.LOOP)
    assert b"Crawl-delay: 2\n" in robots(Robots.DELAY)
    assert b"Crawl-delay: 86400" in robots(Robots.LONG_DELAY)
    assert len(robots(Robots.HUGE)) > MEGABYTE
    assert len(robots(Robots.ENDLESS)) > MEGABYTE
    server.robots = Robots.SILENT
    assert is_silent(server, "/robots.txt")
    assert b"<html" in robots(Robots.PAGE) or b"<!doctype html>" in robots(Robots.PAGE)
    assert bytes(range(256)) in robots(Robots.GARBAGE)
    server.robots = Robots.ALLOW


def test_it_stops_while_clients_hang() -> None:
    threads = threading.active_count()
    with nasty_server() as server:
        plugs = [socket.create_connection((server.host, server.port)) for _ in range(4)]
        for plug, path in zip(plugs, ["/silent", "/endless", "/trickle", "/"], strict=True):
            plug.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    for plug in plugs:
        plug.close()
    assert threading.active_count() == threads
