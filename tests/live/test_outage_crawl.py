"""A site that is down in every way for stretches of a crawl that is stopped again and again: nothing is lost.

How long an outage lasts is counted in requests that leave, robots.txt and signs of life included, and drawn
from a seed. So nothing here depends on how fast the machine is.
"""

import random
import sqlite3
import struct
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any
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
from tests.live.scripted import Exchange, Script, pause, scripted

HOSTS = ("127.0.0.1", "127.0.0.2")

QUICK = {
    "retry_seconds": 0.01,
    "retries": 3,
    "answer_timeout_seconds": 0.2,
    "connect_timeout_seconds": 2.0,
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
    LIMITED = "429"
    LIMITED_WITH_TIME = "429 with Retry-After"


class Weather:
    """Says how the next request to a host fares: stretches of calm and of one kind of outage."""

    def __init__(self, seed: int, kinds: list[Down]) -> None:
        self._random = random.Random(seed)
        self._kinds = kinds
        self._days: dict[str, Iterator[Down | None]] = {}
        self.met: set[Down] = set()

    def next(self, host: str) -> Down | None:
        kind = next(self._days.setdefault(host, self._stretches()))
        if kind is not None:
            self.met.add(kind)
        return kind

    def _stretches(self) -> Iterator[Down | None]:
        while True:
            # Long enough for a sign of life and a retry, and too short to be no outage at all.
            yield from [None] * self._random.randint(4, 30)
            kind = self._random.choice(self._kinds)
            yield from [kind] * self._random.randint(2, 30 if kind is not Down.SILENT else 8)


def under(weather: Weather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each request that leaves meet the weather: a port that nobody listens on, or a word to the server."""
    send = StreamingDownloadHandler._download

    async def send_under(self: StreamingDownloadHandler, request: Request) -> Response:
        kind = weather.next(urlsplit(request.url).hostname or "")
        if kind is Down.REFUSED:
            parts = urlsplit(request.url)
            return await send(self, request.replace(url=parts._replace(netloc=f"{parts.hostname}:1").geturl()))
        request.headers["X-Weather"] = kind or "calm"
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
            pause(0.5)
            exchange.close_connection = True
        case Down.BROKEN_OFF:
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: 9999\r\n\r\n"
            exchange.raw(head.encode() + (body.encode() if isinstance(body, str) else body)[:50])
        case Down.BUSY:
            exchange.answer(503)
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

    def _set(self, script: Script, name: str) -> None:
        small, large, moved = f"/files/{name}.csv", f"/large/{name}.csv", f"/moved/{name}"
        self._page(script, f"/set/{name}", [small, moved, "/gone", "/always-busy"])
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


CASES = [
    (strategy, seed, concurrency, archived)
    for seed, (strategy, concurrency, archived) in enumerate(
        [
            ("bfs", 1, False),
            ("dfs", 1, True),
            ("random", 4, False),
            ("sb-classifier", 1, False),
            ("sb-classifier", 3, True),
            ("scent", 1, True),
            ("scent", 4, False),
        ]
    )
]


@pytest.mark.parametrize(("strategy", "seed", "concurrency", "archived"), CASES)
def test_every_target_is_there_at_the_end(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    strategy: str,
    seed: int,
    concurrency: int,
    archived: bool,
) -> None:
    weather = Weather(seed, list(Down))
    under(weather, monkeypatch)
    site, chance, run = Site(), random.Random(seed), tmp_path / "run"
    stops: list[StopReason] = []
    with scripted({}, HOSTS[0]) as one, scripted({}, HOSTS[1]) as two:
        site.build(one, two)
        limit = 0
        while StopReason.FINISHED not in stops:
            assert len(stops) < 300, stops
            limit += chance.randint(5, 60)
            stops.append(session(run, one.start, strategy, seed, concurrency, tmp_path if archived else None, limit))
    taken = {url for (url,) in rows(run, "SELECT url FROM targets")}
    assert site.targets == taken
    assert {url for (url,) in rows(run, "SELECT DISTINCT url FROM requests WHERE kind = 'broken'")} == site.broken
    assert rows(run, "SELECT * FROM in_flight") == []
    assert len(list((run / "files").iterdir())) == len(taken)
    print(len(stops), stops, len(weather.met), rows(run, "SELECT kind, count(*), sum(charged) FROM requests GROUP BY 1"))


def session(
    run: Path, start: str, strategy: str, seed: int, concurrency: int, archive: Path | None, limit: int
) -> StopReason:
    """Crawl until this many requests are spent, or until something else ends it."""
    more: dict[str, Any] = {}
    opened: Archive | None = None
    if archive is not None:
        folder = archive / "archive"
        meta = ArchiveMeta("site", start, PRESETS["data"], frozenset(), "a test")
        opened = Archive.open(folder, writable=True) if folder.exists() else Archive.create(folder, meta)
        more["archive"] = opened
    try:
        crawled = crawl_into(
            run,
            start,
            **QUICK,
            **more,
            new_strategy=lambda: build_strategy(strategy, [start], seed),
            form=SnapshotForm(strategy, {}, pack, unpack),
            rules=TwoHosts(start),
            concurrency=concurrency,
            per_host=concurrency,
            max_requests=limit,
        )
    finally:
        if opened is not None:
            opened.close()
    return crawled.result.stop
