"""``--retry-failed``: what an earlier session called broken is asked for again, and nothing else is."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Coati, coati
from tests.live.scripted import Route, Script, answer, file, page, scripted

__all__ = ["coati"]

FAST = ("--delay", "0", "--limits", "retries=0", "--limits", "retry_seconds=0.01", "--no-stop-when-dry")
STRATEGIES = ["scent", "sb-classifier", "bfs"]
FILES = [f"/{number}.csv" for number in range(6)]


def broken_site() -> dict[str, Route]:
    """A hub that gives 500, files that are refused, and one that does not exist."""
    routes: dict[str, Route] = {
        "/": page("/hub", "/0.csv", "/gone.csv", "/well.csv"),
        "/hub": answer(500),
        "/0.csv": answer(403),
        "/well.csv": file(b"well\n1\n"),
    }
    return routes


def repair(site: Script) -> None:
    site.routes["/hub"] = page(*FILES, "/well.csv", "/")
    for number, path in enumerate(FILES):
        site.routes[path] = file(b"a,b\n%d,2\n" % number)


def rows(query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect("run/run.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_failed_is_had_once_the_site_is_well(coati: Coati, strategy: str) -> None:
    with scripted(broken_site()) as site:
        command = ("crawl", site.start, *FAST, "--strategy", strategy, "--out", "run", "--format", "json")
        assert coati(*command).json["targets"] == 1
        repair(site)
        assert coati(*command).json["targets"] == 1
        asked = len(site.asked)
        said = coati(*command, "--retry-failed")
        again = [path for path in site.paths[asked:] if path != "/robots.txt"]
    assert (said.code, said.json["targets"], said.json["stop"]) == (0, 7, "finished")
    # What answered before is not asked for again.
    assert sorted(set(again)) == sorted(["/hub", "/gone.csv", *FILES])
    purposes = dict(rows("SELECT url, purpose FROM requests WHERE strategy = 'retry 1'"))
    assert purposes[f"{site.base}/hub"] == "retry"
    assert purposes[f"{site.base}/5.csv"] == "link"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_goes_on_where_it_was(coati: Coati, strategy: str) -> None:
    with scripted(broken_site()) as site:
        command = ("crawl", site.start, *FAST, "--strategy", strategy, "--out", "run", "--format", "json")
        spent = coati(*command).json["requests"]
        repair(site)
        asked = len(site.asked)
        # One request at a time, each in a session of its own; none needs the option again.
        assert (
            coati(*command, "--retry-failed", "--max-requests", spent + 1).json["stop"] == "budget_requests"
        )
        for more in range(2, 30):
            said = coati(*command, "--max-requests", spent + more)
            assert said.code == 0, said.err
            if said.json["stop"] == "finished":
                break
        again = [asked.path for asked in site.asked[asked:] if asked.method == "GET"]
    assert said.json["targets"] == 7
    targets = [path for path in again if path.endswith(".csv")]
    assert sorted(targets) == sorted({"/gone.csv", *FILES})


def test_a_second_time_asks_for_what_failed_twice(coati: Coati) -> None:
    with scripted(broken_site()) as site:
        command = ("crawl", site.start, *FAST, "--out", "run", "--format", "json")
        coati(*command)
        coati(*command, "--retry-failed")
        repair(site)
        asked = len(site.asked)
        assert coati(*command, "--retry-failed").json["targets"] == 7
        assert "/gone.csv" in site.paths[asked:]
        asked = len(site.asked)
        assert coati(*command, "--retry-failed").json["targets"] == 7
        assert [path for path in site.paths[asked:] if path != "/robots.txt"] == ["/gone.csv"]
    assert rows("SELECT count(DISTINCT strategy) FROM requests") == [(4,)]


def test_a_run_that_goes_on_knows_its_own_past(coati: Coati, tmp_path: Path) -> None:
    pages = {f"/p{number}": page(f"/p{number}.csv") for number in range(20)}
    files = {f"/p{number}.csv": file(b"n\n%d\n" % number) for number in range(20)}
    routes = {"/": page("/hub", *pages), "/hub": answer(500), **pages, **files}
    with scripted(routes) as site:
        command = ("crawl", site.start, *FAST, "--out", "run", "--format", "json")
        assert coati(*command, "--max-requests", 25).json["stop"] == "budget_requests"
        site.routes["/hub"] = page(*FILES)
        for path in FILES:
            site.routes[path] = file(path.encode())
        said = coati(*command, "--retry-failed", "--max-requests", 500)
        paths = [asked.path for asked in site.asked if asked.method == "GET" and asked.path.endswith(".csv")]
    assert (said.code, said.json["stop"], said.json["targets"]) == (0, "finished", 26)
    assert len(paths) == len(set(paths)) == 26
    assert coati("show", "run").code == 0
    assert coati("explain", f"{site.base}/hub", "--run", "run").code == 0
    assert (tmp_path / "run" / "report.html").exists()


def test_what_a_kill_at_the_very_beginning_leaves_is_no_obstacle(coati: Coati, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.toml.new").write_bytes(b"url")
    with scripted({"/": page("/a.csv"), "/a.csv": file()}) as site:
        assert coati("crawl", site.start, *FAST, "--out", "run", "--format", "json").json["targets"] == 1
