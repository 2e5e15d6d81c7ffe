"""What ``--sitemaps`` costs is written down request by request, and asked for once."""

import json
import shutil
import signal
import sqlite3
import threading
from pathlib import Path
from typing import Any

from tests.cli.commands import Coati, coati, start_coati
from tests.live.scripted import Exchange, answer, file, page, scripted

__all__ = ["coati"]

INDEX = b"<sitemapindex><loc>/one.xml</loc><loc>/moved.xml</loc></sitemapindex>"
SITE = {
    "/": page("/a.csv"),
    "/a.csv": file(b"a\n"),
    "/b.csv": file(b"b\n"),
    "/c.csv": file(b"c\n"),
    "/robots.txt": file(b"Sitemap: /index.xml\n", "text/plain"),
    "/index.xml": file(INDEX, "application/xml"),
    "/one.xml": file(b"<urlset><loc>/b.csv</loc></urlset>", "application/xml"),
    "/moved.xml": answer(301, Location="/two.xml"),
    "/two.xml": file(b"<urlset><loc>/c.csv</loc></urlset>", "application/xml"),
}
COMMAND = ("--delay", 0, "--strategy", "bfs", "--sitemaps", "--out", "run", "--format", "json")
ROWS = [("/index.xml", "other"), ("/one.xml", "other"), ("/moved.xml", "redirect"), ("/two.xml", "other")]


def _rows(folder: Path, base: str) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "run.sqlite") as database:
        found = database.execute("SELECT url, kind FROM requests WHERE id < 0 ORDER BY observed_event")
        return [(url.removeprefix(base), kind) for url, kind in found]


def test_each_request_has_a_row_and_events_under_an_id_of_its_own(coati: Coati) -> None:
    with scripted(SITE) as site:
        said = coati("crawl", site.start, *COMMAND, "--events", "events.jsonl").json
        assert _rows(Path("run"), site.base) == ROWS
    assert (said["requests"], said["targets"], said["errors"]) == (4 + 1 + 3, 3, 0)
    with sqlite3.connect("run/run.sqlite") as database:
        assert database.execute("SELECT requests FROM totals").fetchone() == (8,)
        assert database.execute("SELECT max(requests) FROM progress").fetchone() == (8,)
    events = [json.loads(line) for line in Path("events.jsonl").read_text(encoding="utf-8").splitlines()]
    observed: list[dict[str, Any]] = [event for event in events if event["what"] == "observed"]
    assert [event["id"] for event in observed] == [-1, -2, -3, -4, 0, 1, 2, 3]
    assert sum(event["charged"] for event in observed) == 8
    assert not Path("run/state/errands").exists()


def test_a_run_that_was_killed_among_its_sitemaps_asks_for_none_twice(coati: Coati, tmp_path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def hang(exchange: Exchange) -> None:
        reached.set()
        go_on.wait(60)
        exchange.answer(404)

    with scripted({**SITE, "/two.xml": hang}) as site:
        process = start_coati("crawl", site.start, *COMMAND, cwd=tmp_path)
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        go_on.set()
        assert _rows(tmp_path / "run", site.base) == ROWS[:3]
        site.routes["/two.xml"] = SITE["/two.xml"]
        said = coati("crawl", site.start, *COMMAND).json
        assert _rows(Path("run"), site.base) == ROWS
        asked = [path for path in site.paths if path != "/robots.txt"]
    # What was in flight is all that is asked for again; and what a killed process sent is not known.
    assert sorted(asked) == sorted(
        [*(path for path, _ in ROWS), "/two.xml", "/", "/a.csv", "/b.csv", "/c.csv"]
    )
    assert (said["requests"], said["targets"]) == (8, 3)


def test_who_clears_the_state_of_such_a_run_loses_no_link(coati: Coati) -> None:
    def fail(exchange: Exchange) -> None:
        exchange.answer(503)

    command = (*COMMAND, "--limits", "retries=0")
    with scripted({**SITE, "/": fail}) as site:
        coati("crawl", site.start, *command, "--max-requests", 8)
        with sqlite3.connect("run/run.sqlite") as database:
            # As after a kill: the start page is still to be asked for.
            database.execute("DELETE FROM requests WHERE id >= 0")
            database.execute("UPDATE sessions SET stop_reason = NULL")
        shutil.rmtree("run/state")
        site.routes["/"] = SITE["/"]
        said = coati("crawl", site.start, *command, "--max-requests", 40).json
    assert said["targets"] == 3
    assert said["requests"] == 4 + 4 + 1 + 3


def test_half_of_the_budget_goes_into_sitemaps_at_most(coati: Coati) -> None:
    with scripted(SITE) as site:
        first = coati("crawl", site.start, *COMMAND, "--max-requests", 5).json
        assert _rows(Path("run"), site.base) == ROWS[:2]
    assert (first["requests"], first["stop"]) == (5, "budget_requests")
