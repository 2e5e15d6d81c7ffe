import ast
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from coati.archive.archive import Archive
from coati.archive.exports.sb_kit import KitExport, export_kit, table_name
from coati.archive.exports.warc import export_warc
from coati.archive.importing import ImportOptions, import_source
from coati.archive.record import Entry, Record
from coati.archive.sources.source import SourceOptions
from coati.archive.sources.warc_files import WarcFiles, warc_on_disk
from coati.errors import UsageError
from coati.model import Kind
from tests.archive.samples import META, SITE, make, no_progress, page, volume

ROOT = "http://example.test/"


def export(folder: Path, out: Path) -> KitExport:
    with Archive.open(folder) as archive:
        return export_kit(archive, out, no_progress)


def rows(path: Path, table: str) -> dict[str, tuple[str, dict[bytes, list[bytes]], str, int]]:
    """Read a table as the kit does: names unquoted, headers as a Python literal."""
    with closing(sqlite3.connect(path)) as database:
        query = f"SELECT url, http_response, headers, body, content_length FROM {table}"  # noqa: S608
        return {
            url: (status, ast.literal_eval(headers), body, length)
            for url, status, headers, body, length in database.execute(query)
        }


def test_an_archive_becomes_a_site_of_the_kit(tmp_path: Path) -> None:
    exported = export(make(tmp_path / "a"), tmp_path / "kit")
    assert exported.file == tmp_path / "kit" / "example.db"
    assert (exported.table, exported.records, exported.left_out) == ("example", 5, 1)
    got = rows(exported.file, "example")
    assert got[ROOT] == (
        "200",
        {b"Content-Type": [b"text/html"]},
        (SITE[0].body or b"").decode(),
        SITE[0].entry.size_bytes,
    )
    assert got[f"{ROOT}data.csv"] == ("200", {b"Content-Type": [b"text/csv"]}, "", 8)
    assert got[f"{ROOT}large.csv"][3] == 10_000_000
    status, headers, _, _ = got[f"{ROOT}old"]
    assert (status, headers[b"Location"]) == ("301", [b"http://example.test/a.html"])
    # What failed is absent: that is how the kit knows.
    assert f"{ROOT}down" not in got
    with closing(sqlite3.connect(tmp_path / "kit" / "site_names_to_urls.db")) as sites:
        query = "SELECT start_url FROM site_names_to_urls WHERE site_name LIKE 'example'"
        assert sites.execute(query).fetchall() == [(ROOT,)]


def test_the_table_is_made_as_the_kit_makes_it(tmp_path: Path) -> None:
    exported = export(make(tmp_path / "a"), tmp_path / "kit")
    with closing(sqlite3.connect(exported.file)) as database:
        columns = [tuple(row[1:]) for row in database.execute("PRAGMA table_info(example)")]
    assert [(name, kind) for name, kind, *_ in columns] == [
        ("url", "TEXT"),
        ("http_response", "TEXT"),
        ("headers", "TEXT"),
        ("body", "TEXT"),
        ("content_length", "INTEGER"),
    ]


def test_the_kit_sees_each_record_as_what_the_archive_says_it_is(tmp_path: Path) -> None:
    def record(name: str, media_type: str, kind: Kind) -> Record:
        return Record(Entry(ROOT + name, 200, media_type, 1, kind), body=b"x")

    records = [
        record("1", "application/x-netcdf", Kind.TARGET),
        record("2", "application/x-netcdf", Kind.TARGET),
        record("3", "text/csv; charset=utf-8", Kind.TARGET),
        record("4", "text/plain", Kind.OTHER),
        record("5", "text/html", Kind.OTHER),
        record("6", "image/png", Kind.OTHER),
        record("7", "", Kind.PAGE),
    ]
    folder = make(tmp_path / "a", records, replace(META, types=None))
    exported = export(folder, tmp_path / "kit")
    got = rows(exported.file, exported.table)
    types = [got[ROOT + str(number)][1][b"Content-Type"][0].decode() for number in range(1, 8)]
    assert types == [
        "application/pdf", "application/pdf", "text/csv", "application/x-not-a-target",
        "application/x-not-a-target", "image/png", "text/html",
    ]  # fmt: skip
    assert exported.stand_ins["application/x-netcdf", "application/pdf"] == 2


def test_pages_are_text_whatever_they_are_written_in(tmp_path: Path) -> None:
    entry = Entry(ROOT, 200, "text/html; charset=latin1", 4)
    exported = export(make(tmp_path / "a", [Record(entry, body=b"caf\xe9\0")]), tmp_path / "kit")
    assert rows(exported.file, exported.table)[ROOT][2] == "café\0"


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_exported(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", [page(ROOT), page(f"{ROOT}2")])
    octets = bytearray(volume(folder).read_bytes())
    octets[-60] ^= 0xFF
    volume(folder).write_bytes(octets)
    exported = export(folder, tmp_path / "kit")
    assert exported.records == 2
    (message,) = exported.damaged
    assert f"{ROOT}2" in message


def test_sites_stand_beside_each_other_and_are_not_replaced(tmp_path: Path) -> None:
    for name in ("one", "two"):
        export(make(tmp_path / name, meta=replace(META, name=name)), tmp_path / "kit")
    with closing(sqlite3.connect(tmp_path / "kit" / "site_names_to_urls.db")) as sites:
        assert {name for _, name in sites.execute("SELECT * FROM site_names_to_urls")} == {"one", "two"}
    with pytest.raises(UsageError, match="already exists"):
        export(tmp_path / "one", tmp_path / "kit")


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("edwards", "edwards"),
        ("Data.Example-org", "data_example_org"),
        ("", "site_"),
        ("1a", "site_1a"),
        ("order", "site_order"),
    ],
)
def test_table_names_can_stand_in_a_query_unquoted(name: str, table: str) -> None:
    assert table_name(name) == table
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE {table} (x)")


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with Archive.open(make(tmp_path / "a")) as archive, pytest.raises(KeyboardInterrupt):
        export_kit(archive, tmp_path / "kit", interrupt)
    assert not list((tmp_path / "kit").iterdir())


def test_one_warc_file_holds_everything(tmp_path: Path) -> None:
    out = tmp_path / "out" / "site.warc.gz"
    with Archive.open(make(tmp_path / "a")) as archive:
        assert export_warc(archive, out) == out.stat().st_size
        with pytest.raises(UsageError, match="already exists"):
            export_warc(archive, out)
    with out.open("rb") as file:
        types = [record.rec_type for record in ArchiveIterator(file, check_digests="raise")]
    assert types == ["warcinfo", *["request", "response"] * 2, *["response"] * 3, "metadata"]


def test_an_archive_survives_the_way_through_one_warc_file(tmp_path: Path) -> None:
    meta = replace(META, types=None)
    folder = make(tmp_path / "a", SITE[:-1], meta)
    with Archive.open(folder) as archive:
        digest = archive.digest()
        export_warc(archive, tmp_path / "a.warc.gz")
    source = WarcFiles([warc_on_disk(tmp_path / "a.warc.gz")], SourceOptions())
    import_source(source, tmp_path / "b", ImportOptions())
    with Archive.open(tmp_path / "b") as archive:
        assert archive.digest() == digest
