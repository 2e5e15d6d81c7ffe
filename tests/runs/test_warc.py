"""The pages of a run, as other tools read them, and after every kind of end."""

import errno
import gzip
import os
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

from coati.model import NO_LINKS, Method, Page, Request
from coati.runs.fetched import Fetched
from coati.runs.layout import Layout
from coati.runs.page_warc import PageWarc
from coati.runs.store import RunStore
from tests.runs.synthetic import HTML, START, Loop, Site, abandon, new_store, rows

SITE = Site(5, 60)


def responses(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file:
        return {
            record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        }


def page(url: str, headers: tuple[tuple[str, str], ...] = HTML) -> Fetched:
    return Fetched(Request(0, Method.GET, url), Page(200, 9, NO_LINKS), 0.25, 0.5, headers=headers)


def test_other_tools_read_it(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        loop = Loop(store, SITE, "bfs", 2)
        loop.steps()
        bodies = {request.url: SITE.answer(request).body for request in loop.sent}
        pages = {url: bodies[url] for (url,) in rows(store, "SELECT url FROM pages")}
    assert len(pages) > 10
    assert responses(Layout(tmp_path).warc) == pages
    with Layout(tmp_path).warc.open("rb") as file:
        records = FastIterator(file, record_types=WarcRecordType.response)
        assert {record.headers["WARC-Target-URI"]: record.reader.read() for record in records} == pages


def test_headers_are_those_of_the_body_that_is_kept(tmp_path: Path) -> None:
    warc = PageWarc(tmp_path / "warc" / "x.warc.gz", "coati test")
    nasty = (
        *HTML,
        ("Content-Length", "5"),
        ("X-Split", "a\r\nEvil: 1"),
        ("Bad name", "x"),
        ("Big", "x" * 300_000),
    )
    warc.append(page(START, nasty), 200, b"<p>hello")
    warc.close()
    with (tmp_path / "warc" / "x.warc.gz").open("rb") as file:
        info, record = ((r.rec_type, r.rec_headers, r.http_headers) for r in ArchiveIterator(file))
    assert info[0] == "warcinfo"
    assert record[1].get_header("WARC-Date") == "1970-01-01T00:00:00.250000Z"
    headers = record[2].headers
    assert headers == [
        ("Content-Type", "text/html; charset=utf-8"),
        ("X-Crawl-Content-Encoding", "gzip"),
        ("X-Crawl-Content-Length", "5"),
        ("X-Split", "a  Evil: 1"),
        ("Content-Length", "8"),
    ]


def test_the_database_says_where_each_page_stands(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        Loop(store, SITE, "bfs", 2).steps()
        places = rows(store, "SELECT url, warc_offset, warc_length FROM pages")
    data = Layout(tmp_path).warc.read_bytes()
    for url, offset, length in places:
        record = gzip.decompress(data[offset : offset + length])
        assert f"WARC-Target-URI: {url}\r\n".encode() in record


@pytest.mark.parametrize("tail", [b"\x1f\x8b\x08\x00torn", b"\0" * 5000])
def test_a_torn_tail_is_cut_off(tmp_path: Path, tail: bytes) -> None:
    with new_store(tmp_path) as store:
        Loop(store, SITE, "bfs", 2).steps(20)
    path = Layout(tmp_path).warc
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    with RunStore.open(tmp_path, 2000.0) as store:
        assert store.messages == []
        assert path.read_bytes() == whole
        Loop(store, SITE, "bfs", 2).steps()
        pages = {url for (url,) in rows(store, "SELECT url FROM pages")}
    assert set(responses(path)) == pages


def test_each_page_stands_behind_what_was_asked(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        Loop(store, SITE, "bfs", 2).steps()
        pages = [url for (url,) in rows(store, "SELECT url FROM pages ORDER BY warc_offset")]
    with Layout(tmp_path).warc.open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers, record.http_headers)
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, *_ in records] == ["warcinfo", *["request", "response"] * len(pages)]
    for (_, asked, sent), (_, answered, _), url in zip(records[1::2], records[2::2], pages, strict=True):
        assert asked.get_header("WARC-Concurrent-To") == answered.get_header("WARC-Record-ID")
        assert asked.get_header("WARC-Date") == answered.get_header("WARC-Date")
        assert {one.get_header("WARC-Target-URI") for one in (asked, answered)} == {url}
        assert (sent.protocol, sent.statusline) == ("GET", f"/{url.removeprefix(START)} HTTP/1.1")
        assert sent.headers == [("Host", START.split("/")[2]), ("User-Agent", "Coati/test")]


@pytest.mark.parametrize("damage", ["cut", "zeros", "request", "gone"])
def test_pages_that_a_power_cut_took_are_struck(tmp_path: Path, damage: str) -> None:
    store = new_store(tmp_path)
    Loop(store, SITE, "bfs", 2).steps(20)
    ((before, offset),) = rows(store, "SELECT count(*), max(warc_offset) FROM pages")
    *_, (ahead,), _ = rows(store, "SELECT warc_offset + warc_length FROM pages ORDER BY warc_offset")
    # As if nothing had been waited for.
    rows(store, "UPDATE about SET value = '0' WHERE name = 'warc_synced'")
    abandon(store)
    path = Layout(tmp_path).warc
    data = path.read_bytes()
    lost = {"cut": data[: offset + 7], "zeros": data[:offset] + bytes(len(data) - offset), "gone": b""}
    # The page is there and what was asked is not: no reader would get to the page.
    lost["request"] = data[:ahead] + bytes(offset - ahead) + data[offset:]
    path.write_bytes(lost[damage])
    with RunStore.open(tmp_path, 3000.0) as store:
        missing = before if damage == "gone" else 1
        assert store.messages[0].startswith(f"{missing} pages are missing from the WARC file")
        Loop(store, SITE, "bfs", 2).steps()
        kept = {url for (url,) in rows(store, "SELECT url FROM pages WHERE warc_offset IS NOT NULL")}
        assert len(kept) == store.totals.by_kind["page"] - missing
    assert set(responses(path)) == kept


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warc = PageWarc(tmp_path / "warc" / "x.warc.gz", "coati test")
    warc.append(page(START), 200, b"<p>first")
    whole = (tmp_path / "warc" / "x.warc.gz").read_bytes()
    pwrite = os.pwrite

    def half(descriptor: int, data: bytes, offset: int) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(descriptor, data[: len(data) // 2], offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", half)
        with pytest.raises(OSError, match="No space"):
            warc.append(page(START), 200, b"<p>second" * 100)
    assert (tmp_path / "warc" / "x.warc.gz").read_bytes() == whole
    warc.append(page(START + "x"), 200, b"<p>third")
    warc.close()
    assert list(responses(tmp_path / "warc" / "x.warc.gz")) == [START, START + "x"]
