"""``coati runs`` and ``coati show``: what is left to read of a run."""

import json
from pathlib import Path

from coati import open_run
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
        "skipped:    1 URL (1 out of scope)",
        "data by scent, seed 0",
        "1 has the same bytes as another",
        "text/csv",
        "status 404",
        "out of scope",
        "Groups of links with most targets",
        "report.html",
    ):
        assert words in said.out


def test_a_function_tells_the_same(coati: Coati) -> None:
    crawled(coati, "run")
    run = open_run("run")
    shown = coati("show", "run", "--format", "json").json
    assert {**run.summary.as_json(), **run.details().as_json()} == shown
    details = run.details(limit=1)
    assert (details.end, details.pause) == ("nothing was left to request", None)
    assert (details.media_types[0].media_type, details.media_types[0].targets) == ("text/csv", 3)
    assert (details.failure_reasons[0].reason, details.failure_reasons[0].requests) == ("status 404", 1)
    assert [(skip.reason, skip.urls) for skip in details.skip_reasons] == [("out of scope", 1)]
    assert details.skip_reasons[0].meaning
    assert [way.way for way in details.found_by] == ["links", "start URLs"]
    assert len(details.groups) == 1
    html = details._repr_html_()
    assert "failure reasons" in html
    assert "gone" not in html


def test_a_single_target_is_not_several(coati: Coati) -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": file()}) as site:
        assert coati("crawl", site.start, "--delay", 0, "--out", "run").code == 0
    said = coati("show", "run").out
    assert "     1 target from 1 request  links" in said
    assert "1 targets" not in said


def test_files_of_other_types_are_told(coati: Coati) -> None:
    kinds = ["geo+json", "x-a", "x-b", "x-c", "x-d"]
    routes = {
        "/": page("/1.csv", "/1.map", "/2.map", "/look", "/letters", *(f"/{kind}" for kind in kinds[1:])),
        "/1.csv": file(),
        "/1.map": file(b"{}", "application/geo+json"),
        "/2.map": file(b"[]", "Application/Geo+JSON; charset=utf-8"),
        # What a page is made of is not a file that anybody misses.
        "/look": file(b"p {}", "text/css"),
        "/letters": file(b"w", "font/woff2"),
        **{f"/{kind}": file(b"x", f"application/{kind}") for kind in kinds[1:]},
    }
    with scripted(routes) as site:
        said = coati("crawl", site.start, "--delay", 0, "--out", "run")
    told = (
        "others:     6 files, not collected because of --types: 2 application/geo+json, 1 application/x-a,"
        " 1 application/x-b and 2 more types"
    )
    assert told in said.out
    assert told in coati("show", "run").out
    others = coati("show", "run", "--format", "json").json["other_types"]
    assert others == {"application/geo+json": 2, **{f"application/{kind}": 1 for kind in kinds[1:]}}
    report = Path("run/report.html").read_text(encoding="utf-8")
    assert "Other types, not collected" in report
    assert "--types data,application/geo+json,application/x-a" in report


def test_show_as_json(coati: Coati) -> None:
    crawled(coati, "run", "--strategy", "bfs")
    told = coati("show", "run", "--format", "json").json
    assert (told["requests"], told["targets"], told["files"], told["sessions"]) == (6, 3, 2, 1)
    assert told["media_types"] == [{"media_type": "text/csv", "targets": 3, "bytes": 6}]
    assert told["failure_reasons"] == [{"reason": "status 404", "requests": 1}]
    assert told["skip_reasons"] == [{"reason": "out of scope", "urls": 1}]
    assert told["skipped_by_reason"] == {"out of scope": 1}
    assert told["other_types"] == {}


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
