"""The time of a run, where the clock of the machine is wrong."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from coati.live.clock import RunClock
from coati.model import Link, LinkList, Method, Page, Request
from coati.runs.fetched import Fetched
from coati.runs.store import RunStore
from coati.times import to_iso
from tests.live.crawling import crawl_into
from tests.live.scripted import page, scripted


def test_a_clock_that_goes_back_does_not_take_the_run_with_it() -> None:
    wall, steady = iter([100.0, 101.0, 40.0, 41.0, 200.0]), iter([0.0, 1.0, 1.5, 2.5, 3.0])
    clock = RunClock(wall=wall.__next__, steady=steady.__next__)
    assert [clock.now() for _ in range(4)] == [101.0, 101.5, 102.5, 200.0]


def test_a_session_that_begins_before_the_last_one_ended_goes_on_after_it(tmp_path: Path) -> None:
    # The last session had a clock that was a year ahead.
    ahead = time.time() + 365 * 86400  # noqa: TID251 - a run has real times
    with scripted({"*": page()}) as server:
        with RunStore.create(tmp_path, {}, ahead) as store:
            first = Request(0, Method.GET, server.start)
            found = LinkList([Link(server.base + path, ("a",)) for path in ("/a", "/b")])
            store.chosen(first, ahead)
            store.record(Fetched(first, Page(200, 9, found), ahead, ahead))
        crawl_into(tmp_path, server.start, robots=False)
        assert server.paths == ["/a", "/b"]
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as run:
        times = [
            at
            for row in run.execute("SELECT chosen_at, finished_at FROM requests ORDER BY chosen_event")
            for at in row
        ]
    assert len(times) == 6
    assert times == sorted(times)
    assert times[0] == to_iso(ahead)
