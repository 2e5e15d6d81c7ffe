"""The first interrupt waits for what is being transferred, and for nothing that only waits."""

import gzip
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from coati.harvesting.files_harvest import FilesHarvest, FilesHarvested, harvest_files
from coati.live import Event, EventKind, StopReason
from coati.settings.run_settings import RunSettings
from tests.live.conftest import Deadline
from tests.live.crawling import crawl_into
from tests.live.scripted import Exchange, Route, answer, file, in_turn, page, pause, scripted

wall = time.time  # noqa: TID251 - a run has real times

SITE = {"/": page("/a.csv"), "/a.csv": file(), "/robots.txt": answer(404)}


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def busy(exchange: Exchange) -> None:
    """Ask for some minutes of patience, and be interrupted meanwhile."""
    exchange.answer(503, Retry_After="250")
    threading.Timer(0.5, interrupt).start()


def busy_at_last(exchange: Exchange) -> None:
    """Be interrupted first, then ask for patience."""
    interrupt()
    pause(0.4)
    exchange.answer(503, Retry_After="250")


def left_to_ask(folder: Path) -> list[str]:
    """List what is in flight, and what met an outage and was not asked again."""
    with sqlite3.connect(folder / "run.sqlite") as database:
        rows = database.execute("SELECT url, kind FROM requests ORDER BY id")
        return [url for url, kind in dict(list(rows)).items() if kind in {None, "deferred"}]


@pytest.mark.parametrize(
    ("path", "route", "waiting"),
    [("/a.csv", busy, "/a.csv"), ("/a.csv", busy_at_last, "/a.csv"), ("/robots.txt", busy, "/")],
)
def test_a_host_that_rests_is_not_waited_for(tmp_path: Path, path: str, route: Route, waiting: str) -> None:
    run = tmp_path / "run"
    with scripted({**SITE, path: in_turn(route, SITE[path])}) as server:
        crawled = crawl_into(run, server.start, retries=2)
        assert crawled.result.stop is StopReason.INTERRUPTED
        # Had the wait been waited for, it would be answered.
        assert left_to_ask(run) == [server.base + waiting]
        with sqlite3.connect(run / "run.sqlite") as database:
            (told,) = database.execute("SELECT stop_reason FROM sessions").fetchone()
        assert told == StopReason.INTERRUPTED
        # Who comes back after ten minutes has waited long enough.
        resumed = crawl_into(run, server.start, retries=2, clock=lambda: wall() + 600)
    assert resumed.result.stop is StopReason.FINISHED
    assert resumed.result.progress.targets == 1


def test_what_is_being_transferred_is_waited_for(tmp_path: Path) -> None:
    stopping = threading.Event()

    def note(event: Event) -> None:
        if event.what is EventKind.STOPPING:
            stopping.set()

    def slow(exchange: Exchange) -> None:
        interrupt()
        assert stopping.wait(240)
        # Longer than it waits for what is not being transferred.
        pause(2.0)
        file()(exchange)

    with scripted({**SITE, "/a.csv": slow}) as server:
        crawled = crawl_into(tmp_path / "run", server.start, on_event=note)
    assert crawled.result.stop is StopReason.INTERRUPTED
    assert crawled.result.progress.targets == 1
    assert left_to_ask(tmp_path / "run") == []


def hangs(exchange: Exchange) -> None:
    """Begin an answer that never ends, until the client has gone."""
    exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 99999999\r\n\r\n")
    exchange.connection.recv(1)


@pytest.fixture
def hardly_any_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coati.live.running._TERM_SECONDS", 0.1)
    monkeypatch.setattr("coati.live.scheduler._GRACE_SECONDS", 0.1)


@pytest.mark.usefixtures("hardly_any_grace")
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGHUP])
def test_who_is_told_to_end_gives_back_what_is_in_flight(tmp_path: Path, kind: signal.Signals) -> None:
    def slow(exchange: Exchange) -> None:
        os.kill(os.getpid(), kind)
        hangs(exchange)

    with scripted({**SITE, "/a.csv": in_turn(slow, file())}) as server:
        # Had it been waited for, the time-out would have come first.
        crawled = crawl_into(tmp_path / "run", server.start, answer_timeout_seconds=60.0)
        assert crawled.result.stop is StopReason.INTERRUPTED
        assert left_to_ask(tmp_path / "run") == [server.base + "/a.csv"]
        resumed = crawl_into(tmp_path / "run", server.start)
    assert resumed.result.progress.targets == 1


def test_who_ignores_a_closed_terminal_goes_on(tmp_path: Path) -> None:
    def slow(exchange: Exchange) -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        file()(exchange)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with scripted({**SITE, "/a.csv": slow}) as server:
            crawled = crawl_into(tmp_path / "run", server.start)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert crawled.result.stop is StopReason.FINISHED


@pytest.mark.usefixtures("hardly_any_grace")
def test_a_budget_of_time_waits_for_nobody(tmp_path: Path, deadline: Deadline) -> None:
    def time_is_over(exchange: Exchange) -> None:
        deadline.comes()
        hangs(exchange)

    with scripted({**SITE, "/a.csv": in_turn(time_is_over, file())}) as server:
        settings = {"answer_timeout_seconds": 60.0, "max_seconds": 3600.0}
        crawled = crawl_into(tmp_path / "run", server.start, **settings)
        assert crawled.result.stop is StopReason.BUDGET_SECONDS
        assert left_to_ask(tmp_path / "run") == [server.base + "/a.csv"]
        with sqlite3.connect(tmp_path / "run" / "run.sqlite") as database:
            assert database.execute("SELECT stop_reason FROM sessions").fetchone() == (crawled.result.stop,)
        resumed = crawl_into(tmp_path / "run", server.start)
    assert resumed.result.progress.targets == 1


@pytest.mark.parametrize("packed", [False, True])
def test_a_budget_of_bytes_stops_a_body_that_exceeds_it(tmp_path: Path, *, packed: bool) -> None:
    large = b"a,b\n" * 500_000
    body, more = (gzip.compress(large), {"Content_Encoding": "gzip"}) if packed else (large, {})
    routes = {**SITE, "/a.csv": lambda exchange: exchange.answer(200, body, "text/csv", **more)}
    with scripted(routes) as server:
        crawled = crawl_into(tmp_path / "run", server.start, max_bytes=100_000)
        assert crawled.result.stop is StopReason.BUDGET_BYTES
        assert crawled.result.progress.bytes < 100_000
        assert left_to_ask(tmp_path / "run") == [server.base + "/a.csv"]
        assert not list((tmp_path / "run" / "state" / "incoming").iterdir())
        resumed = crawl_into(tmp_path / "run", server.start, max_bytes=5_000_000)
    assert resumed.result.stop is StopReason.FINISHED
    assert resumed.result.progress.targets == 1


def harvested(folder: Path, *starts: str, **settings: Any) -> FilesHarvested:  # noqa: ANN401 - a setting's
    """Harvest the files of sites, all at once."""
    chosen = RunSettings(delay=0.0, strategy="bfs", **settings)
    return harvest_files(FilesHarvest(urls=starts, out=folder, settings=chosen, at_once=len(starts)))


@pytest.mark.usefixtures("hardly_any_grace")
def test_the_time_of_a_harvest_waits_for_nobody(tmp_path: Path, deadline: Deadline) -> None:
    def time_is_over(exchange: Exchange) -> None:
        deadline.comes()
        hangs(exchange)

    with scripted({**SITE, "/a.csv": in_turn(time_is_over, file())}) as server:
        ended = harvested(tmp_path / "all", server.start, max_time=3600.0)
        assert ended.stop is StopReason.BUDGET_SECONDS
        resumed = harvested(tmp_path / "all", server.start)
    assert (resumed.stop, resumed.sites[0].targets) == (StopReason.FINISHED, 1)


def test_the_bytes_of_a_harvest_stop_a_body_that_exceeds_them(tmp_path: Path) -> None:
    large = {**SITE, "/a.csv": file(b"a,b\n" * 500_000)}
    with scripted(large) as server, scripted({**SITE, "/a.csv": hangs}) as other:
        ended = harvested(tmp_path / "all", server.start, other.start, max_bytes=100_000)
        assert ended.stop is StopReason.BUDGET_BYTES
        assert sum(site.bytes for site in ended.sites) < 100_000
        other.routes["/a.csv"] = file()
        resumed = harvested(tmp_path / "all", server.start, other.start, max_bytes=5_000_000)
    assert resumed.stop is StopReason.FINISHED
    assert [site.targets for site in resumed.sites] == [1, 1]
