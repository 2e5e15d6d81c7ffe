"""Shortcuts from the command line: inspect, a dry run of what is listed, and which way brought what."""

import csv
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from coati import Inspection, preview
from coati.testing.apis import ApiState, files_of, with_api
from coati.testing.server import SiteServer, serve
from coati.testing.site import Response, Site
from tests.cli.commands import Coati, coati
from tests.site_lists import with_lists

__all__ = ["coati"]

FILES = 9


def made_site(base: str, software: str = "wordpress", state: ApiState = ApiState.WHOLE) -> Site:
    root = base + "/"
    body = "<html><head></head><body><a href='/a.html'>A</a></body></html>"
    responses = {root: Response.page(body)}
    responses[root + "a.html"] = Response.page("<html><body><a href='/linked.csv'>L</a></body></html>")
    responses[root + "linked.csv"] = Response.file("text/csv", b"linked\n")
    for n in range(FILES):
        responses[f"{root}hidden/{n}.csv"] = Response.file("text/csv", b"%d\n" % n)
    site = Site(root, responses)
    hidden = [file for file in files_of(site) if "hidden" in file.url]
    return with_api(with_lists(site, share=1), software, state, hidden)


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with serve(made_site) as made:
        yield made


def test_inspect_says_what_a_site_runs_and_lists(coati: Coati, server: SiteServer) -> None:
    said = coati("inspect", server.url, "--delay", 0, "--format", "json")
    assert said.code == 0
    (software,) = said.json["software"]
    assert (software["profile"], software["sure"]) == ("wordpress", True)
    listed = {shown["name"]: shown for shown in said.json["lists"]}
    text = listed["wordpress > text"]
    assert (text["links"], text["wanted"], text["types"], text["more"]) == (
        FILES,
        FILES,
        {"csv": FILES},
        False,
    )
    assert listed["sitemap"]["pages"] > 0
    assert said.json["command"] == f"coati crawl {server.url}"
    assert said.json["requests"] <= 12
    words = coati("inspect", server.url, "--delay", 0)
    assert "WordPress" in words.out
    assert f"{FILES} of the wanted types" in words.out


def test_inspect_of_what_is_closed_or_not_there(coati: Coati) -> None:
    with serve(lambda base: made_site(base, "ckan", ApiState.CLOSED)) as server:
        said = coati("inspect", server.url, "--delay", 0)
        assert said.code == 0
        assert "closed (status 401)" in said.out
        gone = coati("inspect", server.url + "nowhere", "--delay", 0)
    assert gone.code == 3
    assert "status 404" in gone.out
    wrong = coati("inspect", "mailto:x")
    assert wrong.code == 2
    assert "is not a URL" in wrong.err


def test_a_dry_run_of_shortcuts_alone_lists_files_and_takes_none(coati: Coati, server: SiteServer) -> None:
    said = coati("crawl", server.url, "--shortcuts", "only", "--dry-run", "--delay", 0, "--format", "json")
    assert said.code == 0
    assert sum(shown["wanted"] for shown in said.json["lists"] if shown["name"] != "sitemap") == FILES
    found = preview(server.url, shortcuts="only", delay=0)
    assert isinstance(found, Inspection)
    assert json.loads(json.dumps(found.as_json())) == said.json
    assert all(".csv" not in seen.url for seen in server.requests)


def test_each_way_of_finding_is_told_apart(coati: Coati, server: SiteServer) -> None:
    assert coati("crawl", server.url, "--out", "run", "--delay", 0, "--quiet").code == 0
    ways = {way["way"]: way for way in coati("show", "run", "--format", "json").json["found_by"]}
    assert ways["API of wordpress"]["targets"] == FILES
    assert ways["links"]["targets"] == 1
    explained = coati("explain", "--run", "run", "/hidden/3.csv", "--format", "json").json
    assert explained["found"]["found_by"] == "API of wordpress"
    assert "found by" in coati("explain", "--run", "run", "/hidden/3.csv").out
    page = coati(
        "explain",
        "--run",
        "run",
        f"{server.url}wp-json/wp/v2/media?media_type=text&per_page=100&page=1"
        "&_fields=source_url,mime_type,title,modified_gmt",
    ).out
    assert "the site's software may list files here" in page


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--shortcuts", "on", "way to use shortcuts"),
        ("--hints", "altavista", "index for hints"),
        ("--profile", "nothing:Here", "cannot be imported"),
    ],
)
def test_wrong_values_are_refused_in_a_line(coati: Coati, option: str, value: str, words: str) -> None:
    said = coati("crawl", "http://127.0.0.1:1/", option, value, "--out", "run")
    assert said.code == 2
    assert words in said.err


def test_a_replay_offers_the_apis_that_its_archive_holds(
    coati: Coati, server: SiteServer, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    crawled = coati("crawl", server.url, "--delay", 0, "--archive", archive, "--out", tmp_path / "run")
    assert crawled.code == 0
    asked = {}
    for mode in ("off", "auto", "only"):
        said = coati("replay", archive, "--strategies", "scent,bfs", "--shortcuts", mode, "--format", "json")
        assert said.code == 0
        rows = [json.loads(line) for line in said.out.splitlines()]
        asked[mode] = {row["strategy"]: (row["targets"], row["requests"]) for row in rows}
    # Only the API knows the hidden files, and only scent asks it.
    assert asked["off"] == {"scent": (1, 3), "bfs": (1, 3)}
    assert asked["auto"]["scent"][0] == FILES + 1
    assert asked["auto"]["bfs"] == (1, 3)
    assert asked["only"]["scent"][0] == asked["only"]["bfs"][0] == FILES
    said = coati("replay", archive, "--shortcuts", "sometimes")
    assert said.code == 2


def test_a_replay_with_shortcuts_asks_as_the_crawl_did(
    coati: Coati, server: SiteServer, tmp_path: Path
) -> None:
    archive, run = tmp_path / "archive", tmp_path / "run"
    coati("crawl", server.url, "--delay", 0, "--archive", archive, "--out", run, "--seed", 3)
    with closing(sqlite3.connect(run / "run.sqlite")) as log:
        live = [url for (url,) in log.execute("SELECT url FROM requests ORDER BY id")]
    how = ("--strategies", "scent", "--seed", 3, "--shortcuts", "auto", "--out", tmp_path / "replayed")
    coati("replay", archive, *how)
    with (tmp_path / "replayed" / "scent-seed3.csv").open() as trace:
        assert [row["url"] for row in csv.DictReader(trace)] == live
