import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from coati.archive import archive as archive_module
from coati.archive import volumes
from coati.archive.archive import Archive
from coati.archive.index import FILE_NAME as INDEX
from coati.archive.record import ArchiveMeta, Record
from coati.archive.recovery import rebuild_index
from coati.errors import ArchiveError, CorruptRecordError, NotArchivedError, UsageError
from tests.archive.samples import META, SITE, make, page, volume


def contents(folder: Path) -> list[object]:
    with Archive.open(folder) as archive:
        return [archive.record(entry.url) for entry in archive.entries()]


def digest(folder: Path) -> str:
    with Archive.open(folder) as archive:
        return archive.digest()


def test_an_archive_gives_back_what_was_added_in_its_order(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    with Archive.open(folder) as archive:
        assert archive.folder == folder
        assert archive.meta == META
        assert len(archive) == len(SITE)
        assert [entry.url for entry in archive.entries()] == [record.entry.url for record in SITE]
        for record in SITE:
            assert archive.entry(record.entry.url) == record.entry
            assert archive.record(record.entry.url).body == record.body
            archive.check(record.entry.url)
        assert archive.body("http://example.test/data.csv") == b"a,b\n1,2\n"
        assert archive.bodies() == 4


def test_a_finished_archive_has_nothing_but_its_three_parts(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    assert sorted(path.name for path in folder.iterdir()) == ["archive.toml", INDEX, "warc"]


def test_unknown_urls_and_left_out_bodies_are_not_archived(tmp_path: Path) -> None:
    with Archive.open(make(tmp_path / "a")) as archive:
        assert archive.entry("http://example.test/nowhere") is None
        with pytest.raises(NotArchivedError, match="nowhere is not in the archive"):
            archive.body("http://example.test/nowhere")
        with pytest.raises(NotArchivedError, match=r"large\.csv was left out"):
            archive.body("http://example.test/large.csv")
        assert archive.record("http://example.test/large.csv").entry.size_bytes == 10_000_000


def test_of_two_records_of_a_url_the_last_counts_and_both_stay(tmp_path: Path) -> None:
    first, other, second = (page("http://example.test/", text) for text in ("one", "two", "three"))
    other = replace(other, entry=replace(other.entry, url="http://example.test/o"))
    folder = make(tmp_path / "a", [first, other, second])
    with Archive.open(folder) as archive:
        assert len(archive) == 2
        assert archive.body("http://example.test/") == second.body
        assert [entry.url for entry in archive.entries()] == ["http://example.test/o", "http://example.test/"]
    before = contents(folder)
    with volume(folder).open("rb") as file:
        kept = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(file)
        ]
    assert kept.count(("response", "http://example.test/")) == 2
    assert kept.count(("request", "http://example.test/")) == 2
    rebuild_index(folder)
    assert contents(folder) == before


def test_a_writer_reads_its_own_records(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a", META) as archive:
        assert archive.entry("http://example.test/") is None
        archive.add(page("http://example.test/", "one"))
        assert b"one" in archive.body("http://example.test/")
        archive.add(page("http://example.test/", "two"))
        assert b"two" in archive.body("http://example.test/")


def test_a_reader_sees_what_is_written_beside_it(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    with Archive.open(folder, writable=True) as writer:
        writer.add(page("http://example.test/new"))
        with Archive.open(folder) as reader:
            assert reader.entry("http://example.test/new") is not None


def test_all_urls_are_found_after_many_look_ups_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_LOOK_UPS_BEFORE_ALL", 3)
    with Archive.open(make(tmp_path / "a")) as archive:
        for _ in range(3):
            assert [archive.entry(record.entry.url) for record in SITE] == [record.entry for record in SITE]
            assert archive.entry("http://example.test/nowhere") is None


@pytest.mark.parametrize("content", ["file", "folder with a file"])
def test_a_new_archive_needs_a_new_or_empty_folder(tmp_path: Path, content: str) -> None:
    place = tmp_path / "a"
    if content == "file":
        place.write_text("x")
    else:
        place.mkdir()
        (place / "x").write_text("x")
    with pytest.raises(UsageError, match="already exists and is not an empty folder"):
        Archive.create(place, META)


def test_an_empty_folder_serves_for_a_new_archive(tmp_path: Path) -> None:
    assert len(contents(make(tmp_path))) == len(SITE)


def test_only_an_archive_that_is_open_for_writing_takes_records(tmp_path: Path) -> None:
    with (
        Archive.open(make(tmp_path / "a")) as archive,
        pytest.raises(UsageError, match="not open for writing"),
    ):
        archive.add(page("http://example.test/"))


def test_an_archive_has_one_writer_at_a_time(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    with (
        Archive.open(folder, writable=True),
        pytest.raises(ArchiveError, match="open for writing elsewhere"),
    ):
        Archive.open(folder, writable=True)
    Archive.open(folder, writable=True).close()


@pytest.mark.parametrize("damage", ["missing", "garbage", "other version", "empty"])
def test_an_index_that_cannot_be_used_says_how_to_rebuild_it(tmp_path: Path, damage: str) -> None:
    folder = make(tmp_path / "a")
    before = contents(folder)
    index = folder / INDEX
    if damage == "missing":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"garbage" * 1000)
    elif damage == "empty":
        index.write_bytes(b"")
    else:
        with index.open("r+b") as file:
            file.seek(60)  # SQLite's user_version
            file.write((99).to_bytes(4))
    for writable in (False, True):
        with pytest.raises(ArchiveError, match="coati archive reindex"):
            Archive.open(folder, writable=writable)
    assert rebuild_index(folder).records == len(SITE)
    assert contents(folder) == before


def test_the_digest_names_what_an_archive_answers(tmp_path: Path) -> None:
    def made_of(name: str, *records: Record) -> str:
        return digest(make(tmp_path / name, records))

    same = made_of("a", *SITE)
    assert made_of("b", *random.Random(1).sample(SITE, len(SITE))) == same
    assert made_of("c", *SITE[:-1]) != same
    assert made_of("d", *SITE[:-1], replace(SITE[-1], entry=replace(SITE[-1].entry, status=500))) != same
    assert made_of("e", page("http://example.test/", "other"), *SITE[1:]) != same
    # When something was fetched does not change what is answered.
    assert made_of("f", replace(SITE[0], entry=replace(SITE[0].entry, fetched_at=5.0)), *SITE[1:]) == same


def test_the_digest_follows_additions(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    first = digest(folder)
    with Archive.open(folder, writable=True) as archive:
        assert archive.digest() == first
        archive.add(page("http://example.test/new"))
        second = archive.digest()
        assert second != first
    assert digest(folder) == second
    rebuild_index(folder)
    assert digest(folder) == second


def test_records_continue_in_the_next_volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, "MAX_VOLUME_BYTES", 600)
    folder = make(tmp_path / "a")
    with Archive.open(folder) as archive:
        paths = archive.volume_paths()
    assert len(paths) > 2
    assert [path.name for path in paths] == sorted(path.name for path in paths)
    for path in paths:
        with path.open("rb") as file:
            assert next(iter(ArchiveIterator(file))).rec_type == "warcinfo"
    before = contents(folder)
    assert len(before) == len(SITE)
    rebuild_index(folder)
    assert contents(folder) == before


def test_an_archive_can_be_continued(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", SITE[:3])
    with Archive.open(folder, writable=True) as archive:
        for record in SITE[3:]:
            archive.add(record)
    assert contents(folder) == contents(make(tmp_path / "b"))
    assert [path.name for path in (folder / "warc").iterdir()] == ["coati-00001.warc.gz"]


def test_bulk_additions_made_before_an_error_are_kept(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "a", META) as archive:
        with suppress(RuntimeError), archive.bulk():
            archive.add(SITE[0])
            raise RuntimeError
        archive.add(SITE[1])
    assert len(contents(tmp_path / "a")) == 2


def test_a_damaged_record_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    octets = bytearray(volume(folder).read_bytes())
    with Archive.open(folder) as archive:
        place = archive._find("http://example.test/a.html").place  # type: ignore[union-attr]  # noqa: SLF001
    octets[place.offset + place.length // 2] ^= 0xFF
    volume(folder).write_bytes(octets)
    with Archive.open(folder) as archive:
        for read in (archive.body, archive.record, archive.check):
            with pytest.raises(CorruptRecordError) as caught:
                read("http://example.test/a.html")
            message = str(caught.value)
            assert "coati-00001.warc.gz" in message
            assert f"at byte {place.offset}" in message
            assert "http://example.test/a.html" in message
        assert archive.body("http://example.test/") == SITE[0].body
        assert archive.body("http://example.test/data.csv") == SITE[2].body


@pytest.mark.parametrize(
    ("change", "said"),
    [("body_digest = 'x'", "does not match its digest"), ("status = 500", "not say what the index says")],
)
def test_a_record_that_is_not_the_indexed_one_fails_its_check(tmp_path: Path, change: str, said: str) -> None:
    folder = make(tmp_path / "a")
    with closing(sqlite3.connect(folder / INDEX)) as index:
        index.execute(f"UPDATE records SET {change} WHERE url LIKE '%data.csv'")  # noqa: S608 -- from above
        index.commit()
    with Archive.open(folder) as archive:
        with pytest.raises(CorruptRecordError, match=said):
            archive.check("http://example.test/data.csv")
        archive.check("http://example.test/")


def test_a_volume_that_was_cut_off_or_is_gone_costs_its_records(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    path = volume(folder)
    os.truncate(path, path.stat().st_size - 10)
    with Archive.open(folder) as archive:
        assert archive.body("http://example.test/") == SITE[0].body
        with pytest.raises(CorruptRecordError, match="the file ends before it"):
            archive.record("http://example.test/down")
    path.unlink()
    with Archive.open(folder) as archive, pytest.raises(CorruptRecordError, match="No such file"):
        archive.body("http://example.test/")


def test_a_cut_off_volume_is_not_written_on(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    path = volume(folder)
    os.truncate(path, path.stat().st_size - 10)
    with Archive.open(folder, writable=True) as archive:
        archive.add(page("http://example.test/new"))
        assert archive.body("http://example.test/new")
    assert volume(folder, 2).exists()
    with Archive.open(folder) as archive:
        assert archive.body("http://example.test/new")
        with pytest.raises(CorruptRecordError):
            archive.record("http://example.test/down")


def test_a_read_only_archive_can_be_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert len(contents(folder)) == len(SITE)
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_what_was_written_but_not_indexed_is_indexed_on_opening(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", SITE[:2])
    index = (folder / INDEX).read_bytes()
    with Archive.open(folder, writable=True) as archive:
        for record in SITE[2:]:
            archive.add(record)
    (folder / INDEX).write_bytes(index)
    assert len(contents(folder)) == 2
    Archive.open(folder, writable=True).close()
    assert contents(folder) == contents(make(tmp_path / "b"))
    assert digest(folder) == digest(tmp_path / "b")


def test_a_volume_that_the_index_has_never_seen_is_indexed(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", SITE[:3])
    more = make(tmp_path / "b", SITE[3:])
    volume(more).rename(volume(folder, 2))
    Archive.open(folder, writable=True).close()
    assert contents(folder) == contents(make(tmp_path / "c"))
    assert digest(folder) == digest(tmp_path / "c")


def test_an_unfinished_end_is_cut_off_and_nothing_else(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    before = contents(folder)
    with volume(folder).open("ab") as file:
        file.write(b"\x1f\x8b\x08\x00half a member")
    with Archive.open(folder, writable=True) as archive:
        archive.add(page("http://example.test/new"))
    assert contents(folder)[:-1] == before
    rebuilt = rebuild_index(folder)
    assert rebuilt.records == len(SITE) + 1
    assert not rebuilt.damages


def test_a_full_disk_leaves_no_half_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def full(descriptor: int, octets: memoryview) -> int:
        write(descriptor, octets[:7])
        raise OSError(28, "No space left on device")

    with Archive.create(tmp_path / "a", META) as archive:
        archive.add(SITE[0])
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            archive.add(SITE[1])
        monkeypatch.setattr(os, "write", write)
        archive.add(SITE[2])
    assert [record.entry.url for record in contents(tmp_path / "a")] == [  # type: ignore[attr-defined]
        SITE[0].entry.url,
        SITE[2].entry.url,
    ]
    assert not rebuild_index(tmp_path / "a").damages


WRITER = """
import sys
from pathlib import Path
from coati.archive.archive import Archive
from tests.archive.samples import META, page
with Archive.create(Path(sys.argv[1]), META) as archive:
    for number in range(100_000):
        archive.add(page(f"http://example.test/{number}", "x" * 2000))
        print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_had_added(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    command = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(300)]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
    added = int([line for line in lines if line.endswith(b"\n")][-1]) + 1
    with Archive.open(folder) as archive:
        assert len(archive) >= added
    with Archive.open(folder, writable=True) as archive:
        assert len(archive) >= added
        for number in range(added):
            archive.check(f"http://example.test/{number}")
        archive.add(page("http://example.test/new"))
    assert not rebuild_index(folder).damages


@pytest.mark.parametrize(
    "left", [(), ("index.sqlite",), ("index.sqlite", "index.sqlite-journal", "archive.toml.new")]
)
def test_what_a_kill_at_the_very_beginning_leaves_is_begun_anew(
    tmp_path: Path, left: tuple[str, ...]
) -> None:
    folder = tmp_path / "archive"
    (folder / "warc").mkdir(parents=True)
    for name in left:
        (folder / name).write_bytes(b"")
    meta = ArchiveMeta(name="begun", start_url="http://example.org/", types=None)
    with Archive.create(folder, meta):
        assert (folder / "archive.toml").is_file()
    (folder / "archive.toml").unlink()
    (folder / "warc" / "0.warc.gz").write_bytes(b"records")
    with pytest.raises(UsageError, match="not an empty folder"):
        Archive.create(folder, meta)
