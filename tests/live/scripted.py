"""A loopback server whose answers a test writes by hand, byte by byte where need be."""
# ruff: noqa: ANN401 - the base classes' parameters are of any type

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HTML = "text/html; charset=utf-8"

# What is tested here takes its time.
clock = time.monotonic  # noqa: TID251
pause = time.sleep  # noqa: TID251


@dataclass
class Asked:
    """A request that arrived."""

    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    client: tuple[str, int]


class Exchange(BaseHTTPRequestHandler):
    """One request; an answer is sent whole by `answer`, or in pieces by `raw`."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet: two would wait for each other's acknowledgement.
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        path = self.path
        scripted = self.server.script
        headers = {name.lower(): value for name, value in self.headers.items()}
        scripted.asked.append(Asked(clock(), self.command, path, headers, self.client_address))
        route = scripted.routes.get(path) or scripted.routes.get("*")
        if route is None:
            self.answer(404, "<h1>Not found</h1>")
        else:
            route(self)

    do_HEAD = do_GET  # noqa: N815 - the base class's name
    do_POST = do_GET  # noqa: N815 - the same

    def answer(self, status: int = 200, body: str | bytes = b"", media_type: str = HTML, **more: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def raw(self, *pieces: bytes, every: float = 0.0) -> None:
        """Send bytes as they are, then close."""
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            if every:
                pause(every)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


Route = Callable[[Exchange], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: Script

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what is tested."""


@dataclass
class Script:
    """The routes of a server, and what was asked of it."""

    routes: dict[str, Route]
    base: str = ""
    asked: list[Asked] = field(default_factory=list)

    @property
    def start(self) -> str:
        return self.base + "/"

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def times(self, path: str) -> list[float]:
        return [asked.at for asked in self.asked if asked.path == path]


def page(*links: str, title: str = "A page") -> Route:
    """Answer with a page that links to these."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return lambda exchange: exchange.answer(body=f"<title>{title}</title><ul>{anchors}</ul>")


def file(body: bytes = b"a,b\n1,2\n", media_type: str = "text/csv") -> Route:
    """Answer with a data file."""
    return lambda exchange: exchange.answer(body=body, media_type=media_type)


def answer(status: int, **headers: str) -> Route:
    """Answer with a status and headers."""
    return lambda exchange: exchange.answer(status, **headers)


def in_turn(*routes: Route) -> Route:
    """Answer by the first route the first time, and so on; the last one stays."""
    waiting = list(routes)
    lock = threading.Lock()

    def route(exchange: Exchange) -> None:
        with lock:
            chosen = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        chosen(exchange)

    return route


@contextmanager
def scripted(
    routes: Mapping[str, Route],
    host: str = "127.0.0.1",
    context: ssl.SSLContext | None = None,
    port: int = 0,
) -> Iterator[Script]:
    """Serve these routes until the block ends, encrypted if there is a context for it."""
    server = _Server((host, port), Exchange)
    scheme = "http"
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    server.script = Script(dict(routes), f"{scheme}://{host}:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
