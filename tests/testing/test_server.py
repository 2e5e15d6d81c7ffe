"""The server answers over real HTTP exactly what the site says, and keeps count."""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from coati.errors import UsageError
from coati.testing.generator import generate_site
from coati.testing.sample_site import sample_site
from coati.testing.server import SiteServer, serve
from coati.testing.server_process import serve_in_process
from coati.testing.site import Response, Site, body_of
from coati.testing.site_parameters import SiteParameters
from coati.web.urls import host_of
from tests.waiting import wait_until

BIG = 5_000_000


def make_site(base_url: str) -> Site:
    root = base_url + "/"
    return Site(
        root,
        {
            root: Response.page("<a href=data>data</a>"),
            root + "big": Response.file("application/zip", size_bytes=BIG),
            root + "moved": Response.redirect("/"),
            root + "none": Response(204),
            root + "a%20b?q=1": Response.page("blank"),
        },
    )


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with serve(make_site) as server:
        yield server


@pytest.fixture
def client(server: SiteServer) -> Iterator[http.client.HTTPConnection]:
    with closing(connect(server.url)) as connection:
        yield connection


def connect(url: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(url.split("/")[2], timeout=120)


def ask(connection: http.client.HTTPConnection, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection.request(method, path)
    response = connection.getresponse()
    return response.status, response.read()


def talk(server: SiteServer, request: bytes) -> bytes:
    """Send raw bytes and read until the server closes."""
    host, port = server.url.split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=120) as plug:
        plug.sendall(request)
        answer = b""
        while chunk := plug.recv(65536):
            answer += chunk
    return answer


def test_one_connection_serves_many_requests(server: SiteServer, client: http.client.HTTPConnection) -> None:
    assert ask(client, "/") == (200, b"<a href=data>data</a>")
    port = client.sock.getsockname()[1]
    assert ask(client, "/nothing")[0] == 404
    assert ask(client, "/none") == (204, b"")
    assert ask(client, "/a%20b?q=1#ignored")[0] == 200
    assert ask(client, "/moved")[0] == 301
    assert client.sock.getsockname()[1] == port
    assert [seen.status for seen in server.requests] == [200, 404, 204, 200, 301]


def test_head_has_the_headers_of_get_and_no_body(client: http.client.HTTPConnection) -> None:
    client.request("HEAD", "/big")
    response = client.getresponse()
    assert (response.status, response.getheader("Content-Length"), response.read()) == (200, str(BIG), b"")
    assert ask(client, "/")[0] == 200


def test_a_big_body_arrives_whole(server: SiteServer, client: http.client.HTTPConnection) -> None:
    url = server.url + "big"
    assert ask(client, "/big")[1] == body_of(url, server.site.get(url))


def test_a_client_that_leaves_half_way_harms_nobody(
    server: SiteServer, client: http.client.HTTPConnection
) -> None:
    host, port = server.url.split("/")[2].split(":")
    with socket.create_connection((host, int(port))) as plug:
        plug.sendall(b"GET /big HTTP/1.1\r\nHost: " + f"{host}:{port}".encode() + b"\r\n\r\n")
        plug.recv(100)
    assert ask(client, "/")[0] == 200


def test_requests_sent_at_once_are_answered_in_order(server: SiteServer) -> None:
    host = server.url.split("/")[2]
    request = "GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n"
    paths = ["/", "/nothing"] * 300
    text = "".join(request.format(path, host, "") for path in paths)
    answer = talk(server, (text + request.format("/", host, "Connection: close\r\n")).encode())
    assert [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]] == [200, 404] * 300 + [200]


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n\r\nhello", 501),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: elsewhere.test\r\nConnection: close\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000, 431),
        (b"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n", 200),
    ],
)
def test_what_is_no_request_of_ours_is_refused(server: SiteServer, request_head: bytes, status: int) -> None:
    answer = talk(server, request_head.replace(b"{host}", server.url.split("/")[2].encode()))
    assert answer.startswith(b"HTTP/1.1 %d " % status)


def test_the_account_has_times_and_can_be_asked_for_a_url(
    server: SiteServer, client: http.client.HTTPConnection
) -> None:
    for path in ("/", "/big", "/"):
        ask(client, path)
    assert server.times(server.url) == 2
    moments = [(seen.started_at, seen.finished_at) for seen in server.requests]
    assert moments == sorted(moments)
    assert all(started <= finished for started, finished in moments)


def test_latency_delays_an_answer_but_nobody_else() -> None:
    with serve(make_site, latency=lambda url: 3600.0 if url.endswith("/big") else 0.0) as server:
        with closing(connect(server.url)) as slow, closing(connect(server.url)) as quick:
            slow.request("HEAD", "/big")
            assert ask(quick, "/")[0] == 200
        assert [seen.url for seen in server.requests] == [server.url]
        server.latency = 0.3
        with closing(connect(server.url)) as delayed:
            assert ask(delayed, "/", "HEAD")[0] == 200
        assert server.requests[-1].finished_at - server.requests[-1].started_at >= 0.3


def test_answers_are_held_back_after_a_number_of_requests_until_they_are_released(
    server: SiteServer, client: http.client.HTTPConnection
) -> None:
    server.hold_after(1)
    assert ask(client, "/")[0] == 200
    with closing(connect(server.url)) as leaves:
        leaves.request("GET", "/moved")
        wait_until(lambda: server.connections == 2)
    wait_until(lambda: server.connections == 1)
    with closing(connect(server.url)) as other:
        client.request("GET", "/nothing")
        other.request("GET", "/none")
        # One may be answered, and the client that has gone takes nobody's place.
        server.hold_after(1)
        wait_until(lambda: len(server.requests) == 2)
        assert server.requests[1].url in {server.url + "nothing", server.url + "none"}
        server.release()
        assert client.getresponse().status == 404
        assert other.getresponse().status == 204
    assert len(server.requests) == 3
    wait_until(lambda: server.connections == 1)


def test_several_sites_have_an_address_each() -> None:
    makers = [partial(generate_site, SiteParameters(pages=5), seed) for seed in range(120)]
    with serve(*makers) as server:
        assert len({host_of(site.start_url) for site in server.sites}) == 120
        for number in (0, 1, 119):
            site = server.sites[number]
            with closing(connect(site.start_url)) as client:
                assert ask(client, "/")[1] == site.get(site.start_url).body
        assert [host_of(seen.url) for seen in server.requests] == ["127.0.0.1", "127.0.0.2", "127.0.0.120"]


def test_as_a_proxy_it_serves_made_up_hosts() -> None:
    with serve(lambda _base_url: sample_site()) as server, closing(connect(server.proxy_url + "/")) as client:
        status, body = ask(client, "http://quillmark.test/")
        assert (status, body) == (200, server.site.get("http://quillmark.test/").body)


def test_it_leaves_nothing_behind() -> None:
    threads = threading.active_count()
    with serve(make_site) as server:
        client = connect(server.url)
        client.request("GET", "/big")
    assert threading.active_count() == threads
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        client.getresponse().read()
    client.close()
    with pytest.raises(ConnectionRefusedError):
        connect(server.url).connect()


def test_an_error_while_making_the_site_comes_out() -> None:
    with pytest.raises(UsageError, match="no site"), serve():
        pass
    with pytest.raises(ZeroDivisionError), serve(lambda base_url: make_site(base_url + str(1 // 0))):
        pass


def test_many_clients_at_once() -> None:
    async def fetch(host: str, port: str) -> int:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /big HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        size = len(await reader.read(-1))
        writer.close()
        await writer.wait_closed()
        return size

    async def fetch_all(host: str, port: str) -> list[int]:
        return list(await asyncio.gather(*(fetch(host, port) for _ in range(20))))

    with serve(make_site) as server:
        sizes = asyncio.run(fetch_all(*server.url.split("/")[2].split(":")))
    assert len(set(sizes)) == 1
    assert sizes[0] > BIG


def test_a_process_of_its_own_serves_generated_sites_and_counts() -> None:
    parameters = SiteParameters(pages=20)
    with serve_in_process(parameters, seed=5, sites=2) as server:
        first, second = server.start_urls
        with closing(connect(second)) as client:
            expected = generate_site(parameters, 6, second).get(second).body
            assert ask(client, "/") == (200, expected)
    assert server.requests == {first: 0, second: 1}


@pytest.mark.parametrize("parameters", ['{"pagse": 3}', '{"pages": 0}'])
def test_a_process_refuses_wrong_knobs(parameters: str) -> None:
    command = [sys.executable, "-m", "coati.testing", "--parameters", parameters]
    result = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode == 2
    assert "parameter" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_serves_the_sample_site() -> None:
    command = [sys.executable, "-m", "coati.testing"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    start, end = map(json.loads, result.stdout.splitlines())
    assert end["requests"] == {start["start_urls"][0]: 0}
