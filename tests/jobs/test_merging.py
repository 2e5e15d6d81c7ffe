"""Several runs in one database: every row with its site, and nothing half done."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from coati.cli.main import run
from coati.jobs.merging import merge
from coati.runs.layout import Layout
from tests.cli.commands import Coati, coati
from tests.live.scripted import Script, file, page, scripted
from tests.runs.test_other_tools import ask_datasette

__all__ = ["coati"]

PLAIN = ("--delay", "0", "--strategy", "bfs", "--quiet")


@pytest.fixture(scope="module")
def sites() -> Iterator[tuple[Script, Script]]:
    pages = {"/": page("/a.csv", "/more"), "/more": page("/b.csv")}
    second = {"/": page("/a.csv", "/gone"), "/a.csv": file(b"other\n"), "/pic.png": file(b"", "image/png")}
    with (
        scripted({**pages, "/a.csv": file(b"a\n"), "/b.csv": file(b"b\n")}) as one,
        scripted(second) as other,
    ):
        yield one, other


@pytest.fixture(scope="module")
def runs(sites: tuple[Script, Script], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl both sites once for all tests, which get copies."""
    folder = tmp_path_factory.mktemp("crawled")
    for name, site in zip(("one", "other"), sites, strict=True):
        assert run(["crawl", site.start, "--out", str(folder / name), *PLAIN]) == 0
    return folder


@pytest.fixture
def crawled(runs: Path, tmp_path: Path) -> list[str]:
    shutil.copytree(runs, tmp_path / "runs")
    return ["runs/one", "runs/other"]


def asked(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def hosts(sites: tuple[Script, Script]) -> list[str]:
    return [site.base.removeprefix("http://") for site in sites]


def test_all_rows_are_there_under_their_sites(
    coati: Coati, sites: tuple[Script, Script], crawled: list[str], tmp_path: Path
) -> None:
    said = coati("merge", *crawled, "--out", "all.sqlite", "--format", "json")
    assert said.code == 0, said.err
    one, other = hosts(sites)
    assert [(site["name"], site["targets"]) for site in said.json["sites"]] == [(one, 2), (other, 1)]
    database = tmp_path / "all.sqlite"
    assert asked(database, "SELECT site, path FROM targets ORDER BY site = ?".replace("?", f"'{other}'")) == [
        (one, "runs/one/files/a.csv"),
        (one, "runs/one/files/b.csv"),
        (other, "runs/other/files/a.csv"),
    ]
    assert all((tmp_path / str(path)).is_file() for (path,) in asked(database, "SELECT path FROM targets"))
    for table in ("pages", "requests", "skipped"):
        sql = f"SELECT site, count(*) FROM {table} GROUP BY site"  # noqa: S608 - a name of ours
        counts = {site: count for site, count in asked(database, sql)}  # noqa: C416 - for the checker of types
        for name, folder in zip((one, other), crawled, strict=True):
            ((rows,),) = asked(Layout(tmp_path / folder).database, f"SELECT count(*) FROM {table}")  # noqa: S608
            assert counts.get(name, 0) == rows, table
    assert asked(database, "PRAGMA foreign_key_check") == []
    assert asked(database, "SELECT file FROM targets_fts WHERE targets_fts MATCH 'csv'")


@pytest.mark.usefixtures("crawled")
def test_datasette_shows_the_names_of_sites(
    coati: Coati, sites: tuple[Script, Script], tmp_path: Path
) -> None:
    assert coati("merge", "runs", "--out", "all.sqlite").code == 0
    listing, shown, rows = ask_datasette(
        tmp_path / "all.sqlite", "/all.json", "/all/targets", "/all/targets.json?_shape=objects&_search=b"
    )
    assert {"sites", "targets", "pages", "requests", "skipped"} <= {
        each["name"] for each in listing["tables"]
    }
    for name in hosts(sites):
        assert f">{name}</a>" in shown
    assert 'name="_search"' in shown
    assert [row["file"] for row in rows["rows"]] == ["b.csv"]


def test_the_folder_of_a_harvest_is_merged_whole(
    coati: Coati, sites: tuple[Script, Script], tmp_path: Path
) -> None:
    (tmp_path / "list.txt").write_text("\n".join(site.start for site in sites), encoding="utf-8")
    assert coati("harvest", "list.txt", "--types", "data", "--out", "all", *PLAIN).code == 0
    merged = merge(["all"], "all.sqlite")
    assert sorted(site.name for site in merged.sites) == sorted(hosts(sites))


def test_runs_of_one_site_have_names_of_their_own(
    coati: Coati, sites: tuple[Script, Script], crawled: list[str]
) -> None:
    assert coati("crawl", sites[0].start, "--out", "again/one", *PLAIN).code == 0
    name = hosts(sites)[0]
    assert [site.name for site in merge([crawled[0], "again/one"], "all.sqlite").sites] == [
        name,
        f"{name} (one)",
    ]


@pytest.mark.usefixtures("crawled")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("runs/missing",), "there is no folder runs/missing"),
        (("empty",), "there is no run in empty"),
        (("runs/one/run.toml",), "there is no folder"),
        (("runs/one", "runs/other", "runs/one"), "runs/one and runs/one are the same run"),
        (("runs", "runs/other"), "are the same run"),
        (("runs/one", "copied"), "runs/one and copied are the same run"),
        (("old",), "was begun by Coati"),
        (("broken",), "broken"),
    ],
)
def test_what_cannot_be_merged_is_refused_and_leaves_nothing(
    coati: Coati, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("copied", "old", "broken"):
        (tmp_path / name).mkdir()
        for part in ("run.sqlite", "run.toml"):
            (tmp_path / name / part).write_bytes((tmp_path / "runs" / "one" / part).read_bytes())
    with closing(sqlite3.connect(tmp_path / "old" / "run.sqlite")) as database:
        database.execute("PRAGMA user_version = 2")
    database_file = tmp_path / "broken" / "run.sqlite"
    database_file.write_bytes(database_file.read_bytes()[:5000])
    told = coati("merge", *arguments, "--out", "all.sqlite")
    assert (told.code, said in told.err) == (2, True), told.err
    assert not list(tmp_path.glob("all.sqlite*"))


def test_a_file_that_is_there_is_replaced_on_demand_only(
    coati: Coati, crawled: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "all.sqlite"
    out.write_bytes(b"mine")
    told = coati("merge", *crawled, "--out", "all.sqlite")
    assert (told.code, "already exists" in told.err, out.read_bytes()) == (2, True, b"mine")
    # What a killed process left is no part of it.
    (tmp_path / "all.sqlite.partial").write_bytes(b"half a database")
    assert coati("merge", *crawled, "--out", "all.sqlite", "--overwrite").code == 0
    assert asked(out, "SELECT count(*) FROM sites") == [(2,)]
    assert [path.name for path in tmp_path.glob("all.sqlite*")] == ["all.sqlite"]
    assert coati("merge", *crawled, "--out", "runs", "--overwrite").code == 2


def test_a_run_that_is_being_written_is_read_as_it_stands(
    coati: Coati, crawled: list[str], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "runs" / "one" / "run.sqlite", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE requests SET url = 'http://nobody.test/'")
        assert coati("merge", *crawled, "--out", "all.sqlite").code == 0
        writer.execute("ROLLBACK")
    assert not asked(tmp_path / "all.sqlite", "SELECT 1 FROM requests WHERE url LIKE '%nobody%'")


def test_runs_are_listed_with_their_addresses(
    coati: Coati, sites: tuple[Script, Script], crawled: list[str]
) -> None:
    said = coati("runs", "runs")
    assert all(site.start in said.out for site in sites)
    assert all(folder in said.out for folder in crawled)
