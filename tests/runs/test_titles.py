"""The list of files that people pass on: each file has the best title, wherever that stood."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from coati.jobs.runs import open_run
from coati.reporting.page import report_page
from coati.runs.layout import Layout
from coati.runs.reader import RunReader
from coati.testing import Response, Site
from tests.reporting.made_runs import MadeRun

START = "http://a.test/"
PDF = b"%PDF-1.4\n7 0 obj\n<</Title (Yearbook of towns)>>\nendobj\ntrailer <</Info 7 0 R>>"


def site() -> Site:
    page = (
        "<title>Office of statistics</title><h2>Labour</h2><table>"
        "<tr><td>Unemployment</td><td><a href=data/a.csv>Download</a></td></tr>"
        "<tr><td>Wages</td><td><a href=data/b.csv>Download</a></td></tr></table>"
        "<h2>Prices</h2><p><a href=data/c.csv>CSV</a></p><p><a href=more/d.csv>Rents</a></p>"
    )
    files = {
        name: Response.file("text/csv", f"{name}\n".encode())
        for name in ("data/a.csv", "data/b.csv", "data/c.csv", "more/d.csv")
    }
    return Site(START, {START: Response.page(page)} | {START + name: file for name, file in files.items()})


def rows_of(folder: Path) -> list[dict[str, str]]:
    with Layout(folder).listing.open(encoding="utf-8-sig", newline="") as file:
        return sorted(csv.DictReader(file), key=lambda row: row["url"])


def crawled(folder: Path, site: Site, **settings: object) -> Path:
    run = MadeRun(folder, site, "bfs", settings)
    run.steps()
    return run.finish()


def test_a_download_button_gives_way_to_the_row_and_the_heading(tmp_path: Path) -> None:
    folder = crawled(tmp_path / "run", site())
    rows = rows_of(folder)
    assert [row["title"] for row in rows] == ["Unemployment", "Wages", "Prices", "Rents"]
    first = rows[0]
    assert first["link_text"] == "Download"
    assert first["row_text"] == "Unemployment | Download"
    assert first["heading"] == "Labour"
    assert first["page_title"] == "Office of statistics"
    assert len(first["sha256"]) == 64
    package = json.loads(Layout(folder).datapackage.read_text(encoding="utf-8"))
    assert {each["title"] for each in package["resources"]} >= {"Unemployment", "Prices"}


def test_files_with_one_title_have_their_names_behind_it(tmp_path: Path) -> None:
    page = (
        "<h2>Prices</h2><p><a href=p.csv>CSV</a></p><p><a href=p.xlsx>Excel</a></p>"
        "<h2>Rents</h2><p><a href=r.csv>CSV</a></p><h2>Wages</h2><p><a href=w.csv>w.csv</a></p>"
        "<p><a href=again.csv>Rents (r.csv)</a></p>"
    )
    names = ("p.csv", "p.xlsx", "r.csv", "w.csv")
    files = {START + name: Response.file("text/csv", name.encode()) for name in names}
    files[START + "again.csv"] = files[START + "r.csv"]
    folder = crawled(tmp_path / "run", Site(START, {START: Response.page(page)} | files))
    titles = {row["url"].removeprefix(START): row["title"] for row in rows_of(folder)}
    assert titles == {
        "p.csv": "Prices (p.csv)",
        "p.xlsx": "Prices (p.xlsx)",
        "r.csv": "Rents",
        "w.csv": "Wages (w.csv)",
        "again.csv": "Rents (r.csv)",
    }
    package = json.loads(Layout(folder).datapackage.read_text(encoding="utf-8"))
    assert {"Prices (p.csv)", "Prices (p.xlsx)"} <= {each["title"] for each in package["resources"]}
    with RunReader(folder) as run:
        assert "Prices (p.xlsx)" in report_page(run)
    assert {"Prices (p.csv)", "Rents"} <= {each.title for each in open_run(folder).files()}


def test_a_file_that_nothing_names_says_its_own_title(tmp_path: Path) -> None:
    page = "<a href=report.pdf>PDF</a><a href=again>Download</a>"
    again = Response.file("application/pdf", PDF)
    pages = {START: Response.page(page), START + "report.pdf": again, START + "again": again}
    rows = rows_of(crawled(tmp_path / "run", Site(START, pages)))
    # The second address holds the same bytes, which are stored once.
    assert [row["title"] for row in rows] == ["Yearbook of towns"] * 2
    assert [row["file_title"] for row in rows] == ["Yearbook of towns"] * 2
    assert len({row["file"] for row in rows}) == 1


def test_files_may_stand_in_the_folders_of_the_site(tmp_path: Path) -> None:
    folder = crawled(tmp_path / "run", site(), folders="site")
    assert [row["file"] for row in rows_of(folder)] == [
        "files/a.test/data/a.csv",
        "files/a.test/data/b.csv",
        "files/a.test/data/c.csv",
        "files/a.test/more/d.csv",
    ]
    for row in rows_of(folder):
        assert (folder / row["file"]).read_text() == row["url"].removeprefix(START) + "\n"
    flat = crawled(tmp_path / "flat", site())
    assert rows_of(flat)[0]["file"] == "files/a.csv"


def test_a_file_in_the_way_of_a_folder_is_no_trouble(tmp_path: Path) -> None:
    names = ["data", "data/a", "data/b/c", "DATA/a", "..%2F..%2Fup/x", "con/x"]
    page = "".join(f"<a href='/{name}'>{name}</a>" for name in names)
    pages = {START + name: Response.file("application/x-thing", name.encode()) for name in names}
    folder = crawled(
        tmp_path / "run", Site(START, pages | {START: Response.page(page)}), folders="site", types="any"
    )
    with RunReader(folder) as run:
        stored = {row["file"] for row in run.connection.execute("SELECT file FROM targets")}
    assert all((folder / "files" / name).resolve().is_relative_to(folder / "files") for name in stored)
    assert all((folder / "files" / name).is_file() for name in stored)
