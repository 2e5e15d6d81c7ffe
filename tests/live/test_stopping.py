"""The first interrupt waits for what is being transferred, and for nothing that only waits."""

import os
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

from coati.live import StopReason
from tests.live.crawling import crawl_into
from tests.live.scripted import Exchange, Route, answer, file, in_turn, page, pause, scripted

SITE = {"/": page("/a.csv"), "/a.csv": file(), "/robots.txt": answer(404)}


def interrupt_in(seconds: float) -> None:
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def busy(exchange: Exchange) -> None:
    """Ask for ten seconds of patience, and be interrupted meanwhile."""
    exchange.answer(503, Retry_After="10")
    interrupt_in(0.5)


def busy_at_last(exchange: Exchange) -> None:
    """Be interrupted first, then ask for patience."""
    interrupt_in(0.0)
    pause(0.4)
    exchange.answer(503, Retry_After="10")


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
        resumed = crawl_into(run, server.start, retries=2)
    assert resumed.result.stop is StopReason.FINISHED
    assert resumed.result.progress.targets == 1


def test_what_is_being_transferred_is_waited_for(tmp_path: Path) -> None:
    def slow(exchange: Exchange) -> None:
        interrupt_in(0.0)
        pause(2.0)
        file()(exchange)

    with scripted({**SITE, "/a.csv": slow}) as server:
        crawled = crawl_into(tmp_path / "run", server.start)
    assert crawled.result.stop is StopReason.INTERRUPTED
    assert crawled.result.progress.targets == 1
    assert left_to_ask(tmp_path / "run") == []
