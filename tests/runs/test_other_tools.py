"""A run folder is opened by tools that know nothing of us."""

import asyncio
import csv
import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from coati.model import Link, LinkList, Method, Outcome, Page, Request, Settlement, Target
from coati.runs.fetched import Fetched
from coati.runs.layout import Layout
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from tests.runs.synthetic import START, Loop, Site, abandon, form, new_store

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from datasette.app import Datasette
    from frictionless import validate


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    with new_store(tmp_path / "run") as store:
        loop = Loop(store, Site(2, 120), "bfs", 2)
        loop.steps()
        store.finish(1100.0, "nothing left", loop.strategy)
    return tmp_path / "run"


def ask_datasette(database: Path, *paths: str) -> list[Any]:
    async def ask() -> list[Any]:
        datasette = Datasette([str(database)])
        answers = []
        for path in paths:
            answer = await datasette.client.get(path)
            assert answer.status_code == 200, (path, answer.text)
            answers.append(answer.json() if ".json" in path else answer.text)
        for opened in datasette.databases.values():
            opened.close()
        return answers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return asyncio.run(ask())


def test_datasette_shows_every_table_and_view(finished: Path) -> None:
    database = Layout(finished).database
    (listing,) = ask_datasette(database, "/run.json")
    tables = {table["name"]: table["count"] for table in listing["tables"]}
    assert {"requests", "pages", "links", "groups", "targets", "files", "skipped", "sessions"} <= set(tables)
    assert tables["requests"] > 100
    views = {view["name"] for view in listing["views"]}
    assert {"targets_with_provenance", "links_with_tag_paths", "progress", "totals", "in_flight"} <= views
    pages = ask_datasette(database, *(f"/run/{name}" for name in [*tables, *views]))
    assert all("500" not in page[:200] for page in pages)
    (targets,) = ask_datasette(database, "/run/targets_with_provenance.json?_shape=objects")
    row = targets["rows"][0]
    assert row["found_on"].startswith(START)
    assert row["file"].endswith(".csv")


def test_datasette_reads_a_run_that_was_killed(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    Loop(store, Site(2, 120), "bfs", 2).steps(50)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in tmp_path.glob("run.sqlite*"):  # with the write-ahead log as it is right now
        (copy / path.name).write_bytes(path.read_bytes())
    store.close()
    (totals,) = ask_datasette(copy / "run.sqlite", "/run/totals.json?_shape=objects")
    assert totals["rows"][0]["requests"] == 50
    with RunReader(copy) as reader:
        assert reader.totals().requests == 50


def test_frictionless_accepts_the_package(finished: Path) -> None:
    package = json.loads(Layout(finished).datapackage.read_text(encoding="utf-8"))
    resources = {resource["path"]: resource for resource in package["resources"]}
    on_disk = {f"files/{path.name}" for path in Layout(finished).files.iterdir()}
    assert set(resources) == on_disk | {"files.csv"}
    for path in on_disk:
        body = (finished / path).read_bytes()
        assert resources[path]["bytes"] == len(body)
        assert resources[path]["hash"] == "sha256:" + hashlib.sha256(body).hexdigest()
        assert resources[path]["mediatype"] == "text/csv"
        assert resources[path]["sources"][0]["path"].startswith(START)
    report = validate(str(Layout(finished).datapackage))
    assert report.valid, report.flatten(["name", "type", "message"])


def test_frictionless_notices_a_changed_file(finished: Path) -> None:
    victim = next(Layout(finished).files.iterdir())
    victim.write_bytes(victim.read_bytes()[::-1])
    assert not validate(str(Layout(finished).datapackage)).valid


def test_frictionless_accepts_a_run_without_targets_and_nasty_names(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        store.finish(1001.0, "nothing left")
        assert validate(str(Layout(tmp_path).datapackage)).valid
        for number, name in enumerate(["..", "%2e%2e%2fx", "é#?.csv", "FILES", "A.csv", "a.csv", "=1+1.csv"]):
            request = Request(number, Method.GET, f"{START}{number}/{name.replace('#', '%23')}")
            store.chosen(request, 1002.0)
            body = b"a,b\n1\n\n,,,\n%d" % number  # no table that Frictionless would like
            store.record(Fetched(request, Target(200, 9, "text/csv"), 1002.0, 1003.0, body=body))
        store.finish(1004.0, "nothing left")
    report = validate(str(Layout(tmp_path).datapackage))
    assert report.valid, report.flatten(["name", "type", "message"])
    assert len(report.tasks) == 8


def test_the_listing_is_a_table_for_people(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        anchor = '=HYPERLINK("http://evil.example")'
        links = LinkList(
            [Link(START + "d.csv", ("html", "a"), anchor, ""), Link(START + "e.csv", (), "Été, 2020")]
        )
        contents: list[Outcome] = [
            Page(200, 9, links),
            Target(200, 4, "text/csv"),
            Target(200, 4, "text/csv"),
        ]
        for number, (url, outcome) in enumerate(zip([START, *links.urls], contents, strict=True)):
            request = Request(number, Method.GET, url)
            store.chosen(request, 1000.0)
            store.record(Fetched(request, outcome, 1000.0, 1000.0, body=b"1,2\n"))
        store.finish(1001.0, "nothing left")
    with Layout(tmp_path).listing.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    # A spreadsheet must not run what a page says.
    assert [row["title"] for row in rows] == ["'" + anchor, "Été, 2020"]
    assert rows[1] == {
        "file": "files/d.csv",
        "title": "Été, 2020",
        "source_page": START,
        "url": START + "e.csv",
        "type": "text/csv",
        "size_bytes": "4",
        "fetched_at": "1970-01-01T00:16:40.000Z",
        "link_text": "Été, 2020",
        "row_text": "",
        "heading": "",
        "page_title": "",
        "file_title": "",
        "licence": "",
        "modified": "",
        "sha256": hashlib.sha256(b"1,2\n").hexdigest(),
    }


def test_groups_say_what_each_arm_brought(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(2, 40), "bfs", 1)
        for number in range(6):
            request = Request(number, Method.GET, f"{START}{number}", arm=number % 2, score=1.0)
            store.chosen(request, 1000.0)
            store.record(Fetched(request, Page(200, 9, LinkList()), 1000.0, 1000.0))
        store.settled([Settlement(0, 1.0), Settlement(2, 5.0), Settlement(1, 0.0)])
        store.finish(1001.0, "nothing left", loop.strategy)
    with RunReader(tmp_path) as reader:
        first, second = map(dict, reader.connection.execute("SELECT * FROM groups"))
        assert reader.sessions()[0].stop_reason == "nothing left"
        assert [point.requests for point in reader.curve()] == [1, 2, 3, 4, 5, 6]
    assert first["label"] == "all links (0)"
    assert (first["pulls"], first["rewards"], first["mean_reward"], first["total_reward"]) == (3, 2, 2.0, 6.0)
    assert second["mean_reward"] == 0.0
    assert [link["url"] for link in json.loads(first["example_links"])] == [
        START + "2",
        START + "0",
        START + "4",
    ]


@pytest.mark.parametrize("answers", [10, 25, 60])
def test_groups_count_the_files_of_pages_whose_other_links_wait(tmp_path: Path, answers: int) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(2, 300), "scent", 1)
        loop.steps(answers)
        store.finish(1001.0, "the limit of requests was reached", loop.strategy)
    with RunReader(tmp_path) as reader:
        led_to = dict(reader.connection.execute("SELECT arm, total_reward FROM groups WHERE total_reward"))
        held = dict(
            reader.connection.execute(
                "SELECT page.arm, count(*) FROM targets JOIN requests AS page ON page.id = targets.found_by"
                " WHERE page.arm IS NOT NULL GROUP BY page.arm"
            )
        )
        waits = reader.connection.execute(
            "SELECT count(*) FROM targets JOIN requests AS page ON page.id = targets.found_by"
            " WHERE page.arm IS NOT NULL AND page.reward IS NULL"
        ).fetchone()
    assert waits != (0,)
    assert led_to == held


def test_a_run_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, Site(2, 120), "bfs", 2)
        with RunReader(tmp_path) as reader:
            loop.steps(30)
            assert reader.totals() == store.totals
            assert reader.settings == {"start_url": START}
            loop.steps(10)
            assert [*reader.curve()][-1].requests == store.totals.requests == 40
            assert reader.skip_counts()["out of scope"] > 0
    assert not list(tmp_path.glob("run.sqlite-*"))  # one file is left


def test_what_a_snapshot_brings_up_to_date(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    loop = Loop(store, Site(2, 120), "bfs", 2)
    loop.steps(60)
    store.snapshot(loop.strategy, form("bfs"))
    abandon(store)
    assert validate(str(Layout(tmp_path).datapackage)).valid
    with Layout(tmp_path).listing.open(encoding="utf-8-sig") as file:
        assert len(file.readlines()) == 1 + store.totals.targets
    RunStore.open(tmp_path, 2000.0).close()
