"""A site that is down in every way for stretches of a crawl that is stopped again and again: nothing is lost.

How long an outage lasts is counted in requests that leave, robots.txt and signs of life included, and drawn
from a seed. So nothing here depends on how fast the machine is.
"""

import random
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from enum import StrEnum
from itertools import cycle
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from scrapy import Request
from scrapy.http import Response

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.assembly import build_strategy
from coati.live import StopReason
from coati.live.streaming import StreamingDownloadHandler
from coati.runs.store import SnapshotForm
from coati.strategies.state import pack, unpack
from coati.web.media import PRESETS
from coati.web.rules import Rules
from tests.live.crawling import crawl_into
from tests.live.scripted import Exchange, Script, scripted

HOSTS = ("127.0.0.1", "127.0.0.2")

QUICK = {
    "retry_seconds": 0.01,
    "retries": 3,
    "max_delay_seconds": 0.002,
    "max_retry_after_seconds": 0.005,
    "stream_above_bytes": 2_000,
}


class Down(StrEnum):
    """A way of being down."""

    REFUSED = "refused"
    RESET = "reset"
    SILENT = "silent"
    BROKEN_OFF = "broken off"
    BUSY = "503"
    FAILING = "500"
    LIMITED = "429"
    LIMITED_WITH_TIME = "429 with Retry-After"


class Weather:
    """Says how the next request to a host fares: stretches of calm and of one kind of outage."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._days: dict[str, Iterator[Down | None]] = {}
        self.met: set[Down] = set()
        self._cuts = 0

    def next(self, host: str) -> Down | None:
        kind = next(self._days.setdefault(host, self._stretches()))
        if kind is not None:
            self.met.add(kind)
        return kind

    def cut(self) -> int:
        """Say where an answer breaks off."""
        self._cuts += 1
        return self._cuts % 200

    def _stretches(self) -> Iterator[Down | None]:
        kinds = self._random.sample(list(Down), len(Down))
        for kind in cycle(kinds):
            # Long enough for a sign of life and a retry.
            yield from [None] * self._random.randint(4, 30)
            # More than one request, so that it is not a fault of one address. To be silent takes time.
            yield from [kind] * self._random.randint(2, 6 if kind is Down.SILENT else 30)


def under(weather: Weather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each request that leaves meet the weather: at a port of nobody's, or by a word to the server."""
    send = StreamingDownloadHandler._download  # noqa: SLF001 - where a request leaves
    failed: set[str] = set()

    async def send_under(self: StreamingDownloadHandler, request: Request) -> Response:
        kind = weather.next(urlsplit(request.url).hostname or "")
        if kind is Down.FAILING and request.url in failed:
            # A second 500 says that the page is broken. Which request meets which outage depends on the
            # order of answers where several are in flight, so that it could meet a good page.
            kind = Down.BUSY
        elif kind is Down.FAILING:
            failed.add(request.url)
        if kind is Down.REFUSED:
            parts = urlsplit(request.url)
            return await send(
                self, request.replace(url=parts._replace(netloc=f"{parts.hostname}:1").geturl())
            )
        if kind is Down.SILENT:
            request.meta["download_timeout"] = 0.2
        request.headers["X-Weather"] = kind or "calm"
        request.headers["X-Cut"] = str(weather.cut())
        return await send(self, request)

    monkeypatch.setattr(StreamingDownloadHandler, "_download", send_under)


class TwoHosts(Rules):
    """Both hosts are one site."""

    def refusal(self, url: str) -> Any:  # noqa: ANN401 - as the base class has it
        return None


def answer(exchange: Exchange, body: str | bytes, media_type: str = "text/html", status: int = 200) -> None:
    """Answer as the weather wants it."""
    match exchange.headers.get("X-Weather"):
        case Down.RESET:
            exchange.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            exchange.close_connection = True
        case Down.SILENT:
            # Until the client has gone.
            exchange.connection.recv(1)
            exchange.close_connection = True
        case Down.BROKEN_OFF:
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: 9999\r\n\r\n"
            content = body.encode() if isinstance(body, str) else body
            exchange.raw(head.encode() + content[: int(exchange.headers["X-Cut"])])
        case Down.BUSY:
            exchange.answer(503)
        case Down.FAILING:
            exchange.answer(500)
        case Down.LIMITED:
            exchange.answer(429)
        case Down.LIMITED_WITH_TIME:
            exchange.answer(429, Retry_After="0")
        case _:
            exchange.answer(status, body, media_type)


class Site:
    """Lists, pages with files, redirects to files, and what is always broken, on two hosts."""

    def __init__(self) -> None:
        self.bases: list[str] = []
        self.targets: set[str] = set()
        self.broken: set[str] = set()

    def build(self, one: Script, two: Script) -> None:
        for script, other in ((one, two), (two, one)):
            self._page(script, "/", [f"/list/{number}" for number in range(4)], other.base + "/")
            for number in range(4):
                self._page(script, f"/list/{number}", [f"/set/{number}-{place}" for place in range(3)])
                for place in range(3):
                    self._set(script, f"{number}-{place}")
            self._fails(script, "/gone", 404)
            self._fails(script, "/always-busy", 503)
            self._fails(script, "/always-failing", 500)

    def _set(self, script: Script, name: str) -> None:
        small, large, moved = f"/files/{name}.csv", f"/large/{name}.csv", f"/moved/{name}"
        self._page(script, f"/set/{name}", [small, moved, "/gone", "/always-busy", "/always-failing"])
        self._file(script, small, 40)
        self._file(script, large, 9_000)
        script.routes[moved] = lambda exchange: self._redirect(exchange, large)

    def _page(self, script: Script, path: str, links: list[str], *more: str) -> None:
        anchors = "".join(f'<li class="row"><a href="{link}">{link}</a></li>' for link in (*links, *more))
        text = f"<title>{path}</title><ul class=list>{anchors}</ul>" + "<p>words</p>" * 20
        script.routes[path] = lambda exchange: answer(exchange, text)

    def _file(self, script: Script, path: str, size: int) -> None:
        self.targets.add(script.base + path)
        body = f"{script.base}{path}\n".encode().ljust(size, b"x")
        script.routes[path] = lambda exchange: answer(exchange, body, "text/csv")

    def _redirect(self, exchange: Exchange, location: str) -> None:
        if exchange.headers.get("X-Weather") in {"calm", None}:
            exchange.answer(302, Location=location)
        else:
            answer(exchange, b"")

    def _fails(self, script: Script, path: str, status: int) -> None:
        self.broken.add(script.base + path)
        script.routes[path] = lambda exchange: answer(exchange, b"", status=status)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "run.sqlite") as database:
        return database.execute(query).fetchall()


class Case(NamedTuple):
    """One crawl: who decides, how many requests are in flight, and whether an archive is filled."""

    seed: int
    strategy: str
    concurrency: int = 1
    archived: bool = False


CASES = [
    Case(0, "bfs"),
    Case(1, "dfs", archived=True),
    Case(2, "random", concurrency=4),
    Case(3, "sb-classifier"),
    Case(4, "sb-classifier", concurrency=3, archived=True),
    Case(5, "scent", archived=True),
    Case(6, "scent", concurrency=4),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_target_is_there_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    weather = Weather(case.seed)
    under(weather, monkeypatch)
    site, chance, run = Site(), random.Random(case.seed), tmp_path / "run"
    stops: list[StopReason] = []
    with scripted({}, HOSTS[0]) as one, scripted({}, HOSTS[1]) as two:
        site.build(one, two)
        limit = 0
        while StopReason.FINISHED not in stops:
            assert len(stops) < 300, stops
            limit += chance.randint(5, 60)
            stops.append(session(run, one.start, case, limit))
    taken = rows(run, "SELECT DISTINCT url FROM targets")
    assert {url for (url,) in taken} == site.targets
    broken = rows(run, "SELECT DISTINCT url FROM requests WHERE kind = 'failure'")
    assert {url for (url,) in broken} == site.broken
    assert rows(run, "SELECT url FROM in_flight") == []
    assert len(list((run / "files").iterdir())) == len(site.targets)
    assert len(weather.met) > 1
    assert len(stops) > 1


def session(run: Path, start: str, case: Case, limit: int) -> StopReason:
    """Crawl until this many requests are spent, or until something else ends it."""
    with ExitStack() as stack:
        archive = (
            stack.enter_context(opened_archive(run.parent / "archive", start)) if case.archived else None
        )
        crawled = crawl_into(
            run,
            start,
            **QUICK,
            archive=archive,
            new_strategy=lambda: build_strategy(case.strategy, [start], case.seed),
            form=SnapshotForm(case.strategy, {}, pack, unpack),
            rules=TwoHosts(start),
            concurrency=case.concurrency,
            per_host=case.concurrency,
            max_requests=limit,
        )
    return crawled.result.stop


def opened_archive(folder: Path, start: str) -> Archive:
    if folder.exists():
        return Archive.open(folder, writable=True)
    return Archive.create(folder, ArchiveMeta("site", start, PRESETS["data"]))
