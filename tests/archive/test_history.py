"""Archives that hold a URL at several moments."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from coati.archive.archive import Archive
from coati.archive.description import FILE_NAME as DESCRIPTION
from coati.archive.exports.warc import export_warc
from coati.archive.importing import ImportOptions, import_source
from coati.archive.index import FILE_NAME as INDEX
from coati.archive.link_cache import LinkCache
from coati.archive.record import Entry, Record
from coati.archive.recovery import rebuild_index
from coati.archive.sources.layouts import open_source
from coati.archive.sources.source import SourceOptions
from coati.errors import ArchiveError, NotArchivedError
from tests.archive.samples import META, SITE, make, page, volume

ROOT = "http://example.test/"
OLD, SAME, NEW = (page(ROOT, text, moment) for text, moment in (("old", 10.0), ("old", 20.0), ("new", 30.0)))
GONE = Record(Entry(f"{ROOT}a.html", 404, "text/html", 4, fetched_at=40.0), body=b"gone")
BUSY = Record(Entry(ROOT, 503, "text/html", 4, fetched_at=50.0), body=b"busy")
HISTORY = (NEW, *SITE[1:], OLD, GONE, BUSY, SAME)


def view(folder: Path) -> tuple[object, ...]:
    """Return everything that an archive answers at any moment."""
    with Archive.open(folder) as archive:
        urls = [entry.url for entry in archive.entries()]
        moments = [None, 9.0, 10.0, 19.0, 20.0, 30.0, 39.0, 40.0, 60.0]
        answers = [
            archive.record(url, moment)
            for url in sorted(urls)
            for moment in moments
            if archive.entry(url, moment) is not None
        ]
        return sorted(urls), answers, archive.digest(), archive.count_captures(), archive.span()


def test_a_url_is_answered_as_it_was_at_a_time(tmp_path: Path) -> None:
    with Archive.open(make(tmp_path / "a", HISTORY)) as archive:
        assert len(archive) == len(SITE)
        assert archive.count_captures() == len(HISTORY)
        assert archive.span() == (10.0, SITE[1].entry.fetched_at)
        assert [entry.moment for entry in archive.captures(ROOT)] == [10.0, 20.0, 30.0, 50.0]
        assert archive.entry(ROOT, 9.9) is None
        with pytest.raises(NotArchivedError):
            archive.body(ROOT, 9.9)
        assert archive.record(ROOT, 10.0) == OLD
        assert archive.record(ROOT, 29.9) == SAME
        # An outage does not hide the page, neither then nor now.
        assert archive.body(ROOT, 60.0) == archive.body(ROOT) == NEW.body
        archive.check(ROOT)
        archive.check(ROOT, 20.0)


def test_a_capture_of_the_future_is_not_yet_there(tmp_path: Path) -> None:
    future = page(ROOT, "future", 4_000_000_000.0)
    with Archive.open(make(tmp_path / "a", (*HISTORY, future))) as archive:
        assert archive.body(ROOT, 2_000_000_000.0) == NEW.body
        assert archive.body(ROOT) == future.body
        assert archive.span() == (10.0, 4_000_000_000.0)


def test_a_capture_that_is_added_late_does_not_become_the_newest(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a", META) as archive:
        for record in (NEW, OLD):
            archive.add(record)
        assert archive.body(ROOT) == NEW.body
        archive.add(replace(OLD, entry=replace(OLD.entry, fetched_at=None)))
        assert archive.body(ROOT) == NEW.body
        assert archive.entry(ROOT, 5.0) is not None


def test_the_index_can_be_built_again_with_its_history(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", HISTORY)
    before = view(folder)
    assert rebuild_index(folder).records == len(SITE)
    assert view(folder) == before


def test_what_a_crash_left_unindexed_is_indexed_with_its_references(tmp_path: Path) -> None:
    whole = make(tmp_path / "a", HISTORY)
    cut = make(tmp_path / "b", HISTORY)
    with closing(sqlite3.connect(cut / INDEX)) as index:
        (offset,) = index.execute("SELECT offset FROM records ORDER BY id LIMIT 1 OFFSET 7").fetchone()
        index.execute("DELETE FROM records WHERE offset >= ?", (offset,))
        index.execute("DELETE FROM facts")
        index.execute("UPDATE volumes SET indexed_bytes = ?", (offset,))
        index.commit()
    Archive.open(cut, writable=True).close()
    assert view(cut) == view(whole)


def test_a_body_that_is_there_is_not_stored_again(tmp_path: Path) -> None:
    body = page(ROOT, "x" * 100_000).body
    assert body is not None
    records = [
        Record(Entry(ROOT, 200, "text/html", len(body), fetched_at=moment), (("X-Visit", f"{moment}"),), body)
        for moment in (1.0, 2.0, 3.0)
    ]
    folder = make(tmp_path / "a", records)
    with volume(folder).open("rb") as file:
        kinds = [
            (record.rec_type, record.rec_headers.get_header("WARC-Refers-To-Date"))
            for record in ArchiveIterator(file)
        ]
    first = "1970-01-01T00:00:01Z"
    assert kinds == [("warcinfo", None), ("response", None), ("revisit", first), ("revisit", first)]
    with Archive.open(folder) as archive:
        assert [archive.record(ROOT, moment).headers[0][1] for moment in (1.0, 2.0, 3.0)] == [
            "1.0",
            "2.0",
            "3.0",
        ]
        assert all(archive.body(ROOT, moment) == body for moment in (1.0, 2.0, 3.0))
        assert [error for _, error in archive.check_all()] == [None] * 3


def test_a_reference_to_a_lost_body_is_damage(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", [*SITE[1:], OLD, SAME])
    with closing(sqlite3.connect(folder / INDEX)) as index:
        ((offset, length),) = index.execute(
            "SELECT offset, length FROM records WHERE url = ? AND refers = 0", (ROOT,)
        ).fetchall()
    octets = bytearray(volume(folder).read_bytes())
    octets[offset + length // 2] ^= 0xFF
    volume(folder).write_bytes(octets)
    with Archive.open(folder) as archive:
        assert sum(error is not None for _, error in archive.check_all()) == 2
    rebuilt = rebuild_index(folder)
    assert (rebuilt.records, len(rebuilt.damages)) == (len(SITE) - 1, 2)


def test_a_history_survives_an_export_and_an_import(tmp_path: Path) -> None:
    # Fetches without an answer are no captures for other tools.
    records = [record for record in HISTORY if record.entry.status]
    folder = make(tmp_path / "a", records)
    with Archive.open(folder) as archive:
        export_warc(archive, tmp_path / "a.warc.gz")
    _, source = open_source([tmp_path / "a.warc.gz"], "auto", SourceOptions(start_url=ROOT))
    summary = import_source(source, tmp_path / "b", ImportOptions())
    assert (summary.captures, summary.damaged) == (len(records), 0)
    assert view(tmp_path / "b")[2:] == view(folder)[2:]


def test_the_digest_depends_on_the_times_of_a_history_only(tmp_path: Path) -> None:
    def digest(name: str, *records: Record) -> str:
        with Archive.open(make(tmp_path / name, records)) as archive:
            return archive.digest()

    later = replace(OLD, entry=replace(OLD.entry, fetched_at=11.0))
    assert digest("a", OLD) == digest("b", later)
    history = digest("c", OLD, NEW)
    assert history == digest("d", NEW, OLD)
    assert len({history, digest("e", later, NEW), digest("f", NEW), digest("g", OLD, SAME, NEW)}) == 4


def test_links_are_kept_for_each_capture(tmp_path: Path) -> None:
    def linking(to: str, moment: float) -> Record:
        return page(ROOT, f'<a href="{to}">x</a>', moment)

    folder = make(tmp_path / "a", [linking("/b", 2.0), linking("/a", 1.0), linking("/c", 3.0), *SITE[1:]])
    with Archive.open(folder) as archive:
        for cache in (LinkCache.of(archive), LinkCache.of(archive)):
            ends = [
                [cache.url_names[number] for number in cache.link_urls(numbers)]
                for numbers in (
                    cache.older_link_numbers(ROOT, 1.0),
                    cache.older_link_numbers(ROOT, 2.0),
                    cache.link_numbers(ROOT),
                )
            ]
            assert ends == [[f"{ROOT}a"], [f"{ROOT}b"], [f"{ROOT}c"]]
            assert [url for url, _ in cache.pages()].count(ROOT) == 1
            assert not len(cache.older_link_numbers(ROOT, 3.0))


def older_format(folder: Path) -> Path:
    """Turn an archive back into one of the first format."""
    text = (folder / DESCRIPTION).read_text(encoding="utf-8").replace("format = 2", "format = 1")
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")
    with closing(sqlite3.connect(folder / INDEX)) as index:
        index.executescript("""
            DROP INDEX records_by_url;
            DROP INDEX older_by_body;
            DROP INDEX older_by_time;
            ALTER TABLE records DROP COLUMN current;
            ALTER TABLE records DROP COLUMN refers;
            ALTER TABLE records RENAME TO newer;
            CREATE TABLE records (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, status INTEGER NOT NULL,
                media_type TEXT NOT NULL, size_bytes INTEGER NOT NULL, kind TEXT, location TEXT NOT NULL,
                fetched_at REAL, volume INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
                body_bytes INTEGER, body_digest TEXT NOT NULL);
            INSERT INTO records SELECT * FROM newer;
            DROP TABLE newer;
            PRAGMA user_version = 1;
        """)
    return folder


def test_an_archive_of_the_older_format_is_read_and_written(tmp_path: Path) -> None:
    folder = older_format(make(tmp_path / "a"))
    before = view(folder)
    assert before == view(make(tmp_path / "b"))
    with Archive.open(folder, writable=True) as archive:
        archive.add(page(ROOT, "later", 2_000_000_000.0))
        assert len(archive.captures(ROOT)) == 2
    with Archive.open(folder) as archive:
        assert archive.record(ROOT, 1_900_000_000.0) == SITE[0]
    assert "format = 2" in (folder / DESCRIPTION).read_text(encoding="utf-8")
    with closing(sqlite3.connect(folder / INDEX)) as index:
        assert index.execute("PRAGMA user_version").fetchone() == (2,)


def test_an_older_index_that_is_damaged_says_how_to_rebuild_it(tmp_path: Path) -> None:
    folder = older_format(make(tmp_path / "a"))
    with closing(sqlite3.connect(folder / INDEX)) as index:
        index.execute("DROP TABLE records")
        index.commit()
    with pytest.raises(ArchiveError, match="coati archive reindex"):
        Archive.open(folder, writable=True)
