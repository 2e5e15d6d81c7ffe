"""Sources that were made to do harm, or that somebody named by mistake."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import resource
import struct
import tracemalloc
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coati.archive.archive import Archive
from coati.archive.importing import ImportOptions, import_source
from coati.archive.sources import static_folder
from coati.archive.sources.layouts import open_source
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.archive.sources.static_folder import StaticFolder
from coati.archive.sources.wacz import read_wacz
from coati.errors import ArchiveError, UsageError, WriteError
from coati.jobs.archives import import_archive
from tests.archive.warcs import packed, response
from tests.counted_calls import count_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE, OTHER = response("http://a.test/"), response("http://a.test/b.html", b"<p>b</p>")


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    path = tmp_path / "site.warc.gz"
    path.write_bytes(packed([PAGE, OTHER]))
    return path


@pytest.mark.parametrize("name", ["pipe", "pipe.warc.gz"])
@pytest.mark.parametrize("layout", ["auto", "warc", "wacz", "folder"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str, layout: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        open_source([tmp_path / name], layout, SourceOptions())


@pytest.mark.usefixtures("warc")
def test_only_the_files_of_a_folder_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.warc.gz")
    (tmp_path / "folder.warc.gz").mkdir()
    imported = import_archive(tmp_path, tmp_path / "archive", layout="warc")
    assert imported.imported.records == 2


def test_links_that_lead_in_ever_more_ways_to_the_same_folders_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_folder, "_MAX_LINKED", 50)
    for number in range(40):
        folder = tmp_path / f"{number:02}"
        folder.mkdir()
        (folder / "page.html").write_text("<p>")
        for name in ("a", "b") if number < 39 else ():
            (folder / name).symlink_to(f"../{number + 1:02}")
    damaged: list[DamagedPart] = []
    records = list(StaticFolder(tmp_path, SourceOptions()).records(damaged.append, lambda *_: None))
    assert len(records) == 40 + 50
    assert "more than 50 folders" in {damage.reason for damage in damaged}.pop()


def test_links_within_a_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "a.csv").write_text("a")
    (tmp_path / "latest").symlink_to("v1")
    folder = StaticFolder(tmp_path, SourceOptions(start_url="http://a.test/"))
    urls = [record.entry.url for record in folder.records(lambda _: None, lambda *_: None)]
    assert urls == ["http://a.test/latest/a.csv", "http://a.test/v1/a.csv"]


def test_an_archive_within_the_folder_that_it_is_made_of_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>")
    with pytest.raises(UsageError, match="lies in the folder that is imported"):
        import_archive(tmp_path, tmp_path / "archive")
    assert os.listdir(tmp_path) == ["index.html"]  # noqa: PTH208 - nothing else at all


def zipped(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_names_in_a_zip_file_that_are_not_text_cost_the_directory_alone(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.wacz", {"archive/é.warc.gz": packed([PAGE, OTHER])})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    imported = import_archive(path, tmp_path / "archive", layout="wacz")
    assert imported.imported.records == 2
    assert "directory cannot be read" in imported.damaged[0].reason


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.wacz", {"a.warc.gz": packed([PAGE])})
    whole = path.read_bytes()
    end = whole.rindex(b"PK\5\6")
    (begin,) = struct.unpack_from("<I", whole, end + 16)
    entry = whole[begin:end]
    trailer = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 900, 900, 900 * len(entry), begin, 0)
    path.write_bytes(whole[:begin] + 900 * entry + trailer)
    with pytest.raises(ArchiveError, match="overlap"):
        read_wacz(path)


def test_a_description_that_does_not_unpack_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "a.wacz", {"a.warc.gz": packed([PAGE]), "datapackage.json": b"{}"})

    def fail(*_: object) -> None:
        raise lzma.LZMAError("Corrupt input data")

    monkeypatch.setattr(zipfile.ZipFile, "open", fail)
    assert read_wacz(path).start_url is None


def test_very_many_captures_of_one_moment_cost_no_more_than_others(tmp_path: Path) -> None:
    def calls(captures: int) -> int:
        path = tmp_path / f"{captures}.warc.gz"
        path.write_bytes(packed(response("http://a.test/", b"<p>%d" % number) for number in range(captures)))
        place = tmp_path / f"archive-{captures}"
        source = open_source([path], "auto", SourceOptions())[1]
        calls = count_calls(lambda: import_source(source, place, ImportOptions()))
        with Archive.open(place) as archive:
            assert archive.count_captures() == captures
        return calls

    assert calls(400) < 5 * calls(100)


def test_the_same_capture_twice_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    changed = response("http://a.test/", b"<p>later, of the same second</p>")
    path.write_bytes(packed([PAGE, changed, PAGE, changed, OTHER]))
    imported = import_archive(path, tmp_path / "archive").imported
    assert (imported.captures, imported.repeated) == (3, 2)


def test_replacing_an_archive_leaves_what_else_is_there(tmp_path: Path, warc: Path) -> None:
    import_archive(warc, tmp_path / "site")
    (tmp_path / "site.old").mkdir()
    (tmp_path / "site.old" / "mine").write_text("a copy that I keep")
    import_archive(warc, tmp_path / "site", overwrite=True)
    assert (tmp_path / "site.old" / "mine").read_text() == "a copy that I keep"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["site", "site.old", "site.warc.gz"]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let writing fail as on a full disk, and as a quota does it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [2_000, 30_000, 60_000])
def test_a_full_disk_is_reported_with_the_place_and_leaves_nothing(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.warc.gz"
    bodies = (os.urandom(3_000) for _ in range(30))
    path.write_bytes(packed(response(f"http://a.test/{n}", body) for n, body in enumerate(bodies)))
    place = tmp_path / "site"
    with no_file_larger_than(size), pytest.raises(WriteError, match=re.escape(str(place))):
        import_archive(path, place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.warc.gz"]


def test_no_room_for_what_is_unpacked_is_reported_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = os.urandom(100_000)
    path = zipped(
        tmp_path / "a.wacz", {"a.warc": PAGE + response("http://a.test/b", body)}, zipfile.ZIP_DEFLATED
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with no_file_larger_than(50_000), pytest.raises(WriteError, match=re.escape(str(tmp_path))):
        import_archive(path, tmp_path / "site")


SNAPSHOTS = {
    "times.tsv": "0\t2020-01-01T00:00:00Z\n",
    "pages.tsv": "0\tsite\tname\thttp://a.test/\n",
    "links.tsv.gz": "0\t0\t0\thttp://a.test/1\tone\n",
    "events.tsv.gz": "0\t0\t+0\t-\n",
}


@pytest.mark.parametrize(
    ("table", "content", "complaint"),
    [
        ("times.tsv", "0\tyesterday\n", "has an invalid time"),
        ("times.tsv", "0\t0001-01-01T00:00:00+23:59\n0\t\n", "has an invalid time"),
        ("times.tsv", "x\t2020-01-01T00:00:00Z\n", "where numbers belong"),
        ("pages.tsv", f"{'9' * 5000}\tsite\tname\thttp://a.test/\n", "where numbers belong"),
        ("events.tsv.gz", "0\tx\t+0\t-\n", "where numbers belong"),
        ("events.tsv.gz", "0\t-1\t+0\t-\n", "where numbers belong"),
        ("events.tsv.gz", "0\t0\t+0,zero\t-\n", "where numbers belong"),
        ("events.tsv.gz", f"0\t0\t+{'9' * 5000}\t-\n", "where numbers belong"),
        ("fails.tsv.gz", "0\tx\t500\n", "where numbers belong"),
    ],
)
def test_a_damaged_table_is_reported(tmp_path: Path, table: str, content: str, complaint: str) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, text in {**SNAPSHOTS, table: content}.items():
        data = text.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    with pytest.raises(ArchiveError, match=complaint):
        import_archive(folder, tmp_path / "archive")


def test_further_columns_and_lines_in_any_order_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    events = "0\t0\t+0\t-\tmore\n1\t0\t+1\t-\n0\t0\t+2\t-\n"
    links = "".join(f"{n}\t0\t0\thttp://a.test/{n}\ttitle\n" for n in range(3))
    times = "0\t2020-01-01T00:00:00Z\n1\t2020-01-02T00:00:00Z\n"
    tables = SNAPSHOTS | {"events.tsv.gz": events, "links.tsv.gz": links, "times.tsv": times}
    for name, text in tables.items():
        (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    import_archive(folder, tmp_path / "archive")
    with Archive.open(tmp_path / "archive") as archive:
        assert archive.body("http://a.test/").count(b"<a ") == 3


@pytest.mark.parametrize("packed_once_more", [False, True])
def test_a_large_body_is_held_in_memory_once(tmp_path: Path, *, packed_once_more: bool) -> None:
    size = 16 << 20
    body = bytes(size)
    page = response("http://a.test/", gzip.compress(body), Content_Encoding="gzip")
    path = tmp_path / "a.warc.gz"
    path.write_bytes(packed([page if packed_once_more else response("http://a.test/", body)]))
    del body, page
    tracemalloc.start()
    try:
        import_archive(path, tmp_path / "archive")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < most < 1.5 * size
