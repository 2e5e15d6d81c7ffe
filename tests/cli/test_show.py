"""``coati runs`` and ``coati show``: what is left to read of a run."""

import json
from pathlib import Path

from tests.cli.commands import Coati, coati
from tests.live.scripted import file, page, scripted

__all__ = ["coati"]

SITE = {
    "/": page("/a", "/b.csv", "/c.csv", "https://elsewhere.example/"),
    "/a": page("/d.csv", "/gone"),
    "/b.csv": file(b"b\n"),
    "/c.csv": file(b"c\n"),
    "/d.csv": file(b"c\n"),
}


def crawled(coati: Coati, folder: str, *more: object) -> None:
    with scripted(SITE) as site:
        assert coati("crawl", site.start, "--delay", 0, "--out", folder, *more).code == 0


def test_show_tells_what_a_run_did(coati: Coati) -> None:
    crawled(coati, "run")
    said = coati("show", "run")
    assert said.code == 0
    for words in (
        "ended: nothing was left to request",
        "data by scent, seed 0",
        "1 has the same bytes as another",
        "text/csv",
        "status 404",
        "out of scope",
        "Groups of links with most targets",
        "report.html",
    ):
        assert words in said.out


def test_show_as_json(coati: Coati) -> None:
    crawled(coati, "run", "--strategy", "bfs")
    told = coati("show", "run", "--format", "json").json
    assert (told["requests"], told["targets"], told["files"], told["sessions"]) == (6, 3, 2, 1)
    assert told["media_types"] == [{"media_type": "text/csv", "targets": 3, "bytes": 6}]
    assert told["error_reasons"] == [{"reason": "status 404", "requests": 1}]
    assert told["skip_reasons"] == [{"reason": "out of scope", "urls": 1}]


def test_show_says_that_there_is_no_run(coati: Coati) -> None:
    Path("empty").mkdir()
    for folder in ("empty", "missing"):
        said = coati("show", folder)
        assert said.code == 2
        assert f"no run in {folder}" in said.err


def test_runs_are_listed_wherever_they_are_below_a_folder(coati: Coati) -> None:
    crawled(coati, "one")
    crawled(coati, "projects/two", "--strategy", "bfs", "--max-requests", 1)
    listed = coati("runs")
    assert "nothing was left to request" in listed.out
    assert "the limit of requests was reached" in listed.out
    rows = [json.loads(line) for line in coati("runs", ".", "--format", "json").out.splitlines()]
    # Newest first.
    assert [row["folder"] for row in rows] == ["projects/two", "one"]
    assert [row["requests"] for row in rows] == [1, rows[1]["requests"]]
    assert [
        json.loads(line)["folder"] for line in coati("runs", "one", "--format", "json").out.splitlines()
    ] == ["one"]


def test_no_runs_is_no_error(coati: Coati) -> None:
    said = coati("runs")
    assert (said.code, said.out) == (0, "")
    assert "no runs" in said.err
    assert coati("runs", "missing").code == 2
