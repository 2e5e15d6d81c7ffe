"""A target is whole, or marked and asked again; a page that is not whole leaves a trace."""

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.live import StopReason
from coati.reporting import write_report
from coati.web.media import PRESETS
from tests.live.crawling import crawl_into
from tests.live.scripted import Exchange, Route, file, in_turn, page, scripted

CSV = b"a,b\n" + b"1,2\n" * 400
PACKED = gzip.compress(CSV, mtime=0)


def packed(body: bytes) -> Route:
    return lambda exchange: exchange.answer(body=body, media_type="text/csv", Content_Encoding="gzip")


def part(exchange: Exchange) -> None:
    exchange.answer(206, CSV[:40], "text/csv", Content_Range=f"bytes 0-39/{len(CSV)}")


def accepted(exchange: Exchange) -> None:
    exchange.answer(202, b"pending", "text/csv")


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "run.sqlite")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("first", [packed(PACKED[:-20]), part, accepted], ids=["packed", "part", "accepted"])
def test_what_came_in_part_is_asked_again(tmp_path: Path, first: Route) -> None:
    folder = tmp_path / "run"
    routes = {"/": page("/a.csv"), "/a.csv": in_turn(first, packed(PACKED))}
    with scripted(routes) as site:
        crawled = crawl_into(folder, site.start, robots=False, retries=2)
    assert (crawled.result.progress.targets, crawled.result.stop) == (1, StopReason.FINISHED)
    assert (folder / "files" / "a.csv").read_bytes() == CSV
    kinds = rows(folder, "SELECT kind FROM requests WHERE url LIKE '%a.csv' ORDER BY id")
    assert kinds == [("deferred",), ("target",)]


def test_files_that_always_come_in_part_are_broken_and_the_site_is_not_silent(tmp_path: Path) -> None:
    names = [f"/{number}.csv" for number in range(12)]
    routes = {"/": page(*names, "/good.csv"), "/good.csv": file()} | dict.fromkeys(names, packed(PACKED[:-9]))
    with scripted(routes) as site:
        crawled = crawl_into(tmp_path / "run", site.start, robots=False, retries=1)
    assert (crawled.result.progress.targets, crawled.result.stop) == (1, StopReason.FINISHED)
    broken = rows(tmp_path / "run", "SELECT reason FROM requests WHERE kind = 'failure'")
    assert broken == [("compressed body is incomplete",)] * len(names)


def test_an_archive_keeps_no_part(tmp_path: Path) -> None:
    routes = {"/": page("/part.csv", "/later.csv"), "/part.csv": part, "/later.csv": accepted}
    with scripted(routes) as site:
        meta = ArchiveMeta(name="parts", start_url=site.start, types=PRESETS["data"])
        with Archive.create(tmp_path / "archive", meta) as archive:
            crawl_into(tmp_path / "run", site.start, robots=False, archive=archive)
            held = [archive.entry(site.base + path) for path in ("/part.csv", "/later.csv")]
            bodies = [archive.record(entry.url).body for entry in held if entry is not None]
    assert not any(bodies)


def test_a_page_that_is_not_whole_leaves_a_trace(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n"
    routes = {
        "/": page("/short", "/long", "/whole"),
        "/short": lambda exchange: exchange.raw(head + b"<a href=/good.csv>"),
        "/long": lambda exchange: exchange.answer(body=b"<p>" + b"long " * 999),
        "/whole": page(),
    }
    with scripted(routes) as site:
        crawl_into(tmp_path / "run", site.start, robots=False, max_page_bytes=1000)
    missing = dict(rows(tmp_path / "run", "SELECT url, missing FROM pages WHERE missing IS NOT NULL"))
    assert missing == {site.base + "/short": "it broke off", site.base + "/long": "the rest was not read"}
    report = write_report(tmp_path / "run").read_text()
    assert "it broke off" in report
    assert "the rest was not read" in report


@pytest.mark.parametrize("name", ["/a.csv", "/a.csv.gz"])
def test_what_was_packed_for_the_way_is_unpacked(tmp_path: Path, name: str) -> None:
    held = CSV if name == "/a.csv" else PACKED
    sent = gzip.compress(held, mtime=0)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(sent), sent)
    with scripted({"/": page(name), name: lambda exchange: exchange.raw(head + chunks)}) as site:
        crawl_into(tmp_path / "run", site.start, robots=False)
    assert (tmp_path / "run" / "files" / name.strip("/")).read_bytes() == held


@pytest.mark.parametrize("twice", [False, True])
def test_a_file_of_gzip_is_kept_as_it_is_called(tmp_path: Path, *, twice: bool) -> None:
    sent = gzip.compress(PACKED, mtime=0) if twice else PACKED
    routes = {"/": page("/a.csv.gz"), "/a.csv.gz": packed(sent)}
    with scripted(routes) as site:
        crawl_into(tmp_path / "run", site.start, robots=False)
    assert (tmp_path / "run" / "files" / "a.csv.gz").read_bytes() == PACKED
