import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from coati.archive.record import Record
from coati.archive.sources import replica
from coati.archive.sources.replica import Replica
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.errors import ArchiveError
from coati.model import Kind
from coati.web.media import PRESETS
from tests.archive.samples import Reports, no_progress

SITE = {"name": "small", "start_url": "http://small.test/", "origin": "made up", "license": "CC0", "urls": 5}
TABLE = [
    "http://small.test/\t200\ttext/html\t6\thtml\t\t000000.html",
    "http://small.test/a b.html\t200\ttext/html\t999\thtml\t\t000001.html",
    "http://small.test/x.csv\t200\ttext/csv\t1234567\ttarget\t\t",
    "http://small.test/old\t301\t\t0\tredirect\thttp://small.test/\t",
    "http://small.test/gone\t404\t\t0\tbroken\t\t",
]
BODIES = {"000000.html": b"<p>one", "000001.html": b"<p>two"}


def tar(bodies: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as file:
        for name, body in bodies.items():
            member = tarfile.TarInfo(name)
            member.size = len(body)
            file.addfile(member, io.BytesIO(body))
    return buffer.getvalue()


def make(
    folder: Path,
    site: object = SITE,
    table: list[str] = TABLE,
    bodies: dict[str, bytes] = BODIES,
) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "site.json").write_text(json.dumps(site))
    (folder / "urls.tsv.gz").write_bytes(gzip.compress("".join(line + "\n" for line in table).encode()))
    (folder / "bodies.tar.xz").write_bytes(tar(bodies))
    return folder


def read(folder: Path) -> tuple[list[Record], list[DamagedPart]]:
    reports = Reports()
    return list(Replica(folder, SourceOptions()).records(reports, no_progress)), reports.all


def test_the_table_and_the_bodies_become_records(tmp_path: Path) -> None:
    records, damaged = read(make(tmp_path))
    assert not damaged
    assert [record.entry.url for record in records] == [
        "http://small.test/",
        "http://small.test/a%20b.html",
        "http://small.test/x.csv",
        "http://small.test/old",
        "http://small.test/gone",
    ]
    assert [record.entry.kind for record in records] == [
        Kind.PAGE, Kind.PAGE, Kind.TARGET, Kind.REDIRECT, Kind.BROKEN,
    ]  # fmt: skip
    assert [record.body for record in records] == [b"<p>one", b"<p>two", None, None, None]
    # The table is the truth: a stub may stand in for a page of another size.
    assert records[1].entry.size_bytes == 999
    assert records[2].entry.size_bytes == 1234567
    assert records[3].entry.location == "http://small.test/"


def test_the_description_needs_no_types_and_names_what_replicas_leave_out(tmp_path: Path) -> None:
    meta = Replica(make(tmp_path), SourceOptions()).meta()
    assert (meta.name, meta.start_url, meta.origin, meta.licence) == (
        "small", "http://small.test/", "made up", "CC0",
    )  # fmt: skip
    assert meta.types is None
    assert {"css", "js", "woff2", "m4v"} <= meta.blocked_extensions
    assert "pdf" not in meta.blocked_extensions
    assert len(meta.blocked_extensions) == 34


def test_wishes_go_first(tmp_path: Path) -> None:
    meta = Replica(make(tmp_path), SourceOptions("other", "http://small.test/a", PRESETS["tables"])).meta()
    assert (meta.name, meta.start_url, meta.types) == ("other", "http://small.test/a", PRESETS["tables"])


@pytest.mark.parametrize(
    "site",
    [{}, {"name": "x"}, [], "x", {"name": "x", "start_url": "mailto:x"}, {"name": 1, "start_url": None}],
)
def test_a_bad_description_is_a_clear_error(tmp_path: Path, site: object) -> None:
    with pytest.raises(ArchiveError, match=r"site\.json"):
        Replica(make(tmp_path, site), SourceOptions()).meta()


def test_bodies_in_another_order_and_shared_ones_are_found(tmp_path: Path) -> None:
    table = [*TABLE, "http://small.test/same\t200\ttext/html\t6\thtml\t\t000000.html"]
    bodies = {"unused.html": b"x", "000001.html": b"<p>two", "000000.html": b"<p>one"}
    records, damaged = read(make(tmp_path, table=table, bodies=bodies))
    assert not damaged
    assert [records[number].body for number in (0, 1, 5)] == [b"<p>one", b"<p>two", b"<p>one"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("http://small.test/x", "1 columns instead of 7"),
        ("not a url\t200\ttext/html\t6\thtml\t\t", "not a URL"),
        ("http://small.test/x\tok\ttext/html\t6\thtml\t\t", "ok"),
        ("http://small.test/x\t2000\ttext/html\t6\thtml\t\t", "out of range"),
        ("http://small.test/x\t200\ttext/html\t-6\thtml\t\t", "out of range"),
        ("http://small.test/x\t200\ttext/html\t6\tpage\t\t", "page"),
        ("http://small.test/x\t301\t\t0\tredirect\tmailto:x\t", "location"),
    ],
)
def test_a_bad_line_is_reported_and_the_others_are_used(tmp_path: Path, line: str, said: str) -> None:
    records, (damaged,) = read(make(tmp_path, table=[TABLE[0], line, *TABLE[1:]]))
    assert len(records) == len(TABLE)
    assert damaged.where == "urls.tsv.gz, line 2"
    assert said in damaged.reason


def test_a_missing_body_is_reported_and_the_size_is_kept(tmp_path: Path) -> None:
    records, (damaged,) = read(make(tmp_path, bodies={"000000.html": b"<p>one"}))
    assert len(records) == len(TABLE)
    assert records[1].body is None
    assert "000001.html is not there" in damaged.reason
    assert damaged.url == "http://small.test/a%20b.html"


@pytest.mark.parametrize("name", ["urls.tsv.gz", "bodies.tar.xz"])
def test_a_file_that_was_cut_off_gives_what_is_readable(tmp_path: Path, name: str) -> None:
    pages = [f"http://small.test/{number}\t200\ttext/html\t9\thtml\t\t{number}.html" for number in range(500)]
    bodies = {
        f"{number}.html": bytes(f"{number:0500}" + "é" * (number % 97), "utf-8") for number in range(500)
    }
    path = make(tmp_path, table=pages, bodies=bodies) / name
    octets = path.read_bytes()
    path.write_bytes(octets[: len(octets) * 2 // 3])
    records, damaged = read(tmp_path)
    assert damaged
    assert "the rest is unreadable" in damaged[0].reason
    if name == "urls.tsv.gz":
        assert 0 < len(records) < 500
        assert damaged[0].where.startswith("urls.tsv.gz, after line ")
    else:
        assert len(records) == 500
        assert len(damaged) == 1 + sum(record.body is None for record in records)


def test_a_folder_without_bodies_still_has_a_table(tmp_path: Path) -> None:
    (make(tmp_path) / "bodies.tar.xz").unlink()
    records, damaged = read(tmp_path)
    assert len(records) == len(TABLE)
    assert len(damaged) == 3


def test_names_in_the_tar_file_reach_no_path(tmp_path: Path) -> None:
    table = ["http://small.test/\t200\ttext/html\t6\thtml\t\t../../evil.html"]
    records, damaged = read(make(tmp_path / "a", table=table, bodies={"../../evil.html": b"x"}))
    assert records[0].body == b"x"
    assert not damaged
    assert not list(tmp_path.rglob("evil*"))


def test_links_and_devices_in_the_tar_file_are_not_bodies(tmp_path: Path) -> None:
    folder = make(tmp_path)
    with tarfile.open(folder / "bodies.tar.xz", "w:xz") as file:
        member = tarfile.TarInfo("000000.html")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(member)
    records, damaged = read(folder)
    assert records[0].body is None
    assert "it is not a file, or too large" in damaged[0].reason


def test_a_body_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "MAX_BODY_BYTES", 1000)
    monkeypatch.setattr(replica, "_SKIP_BYTES", 20_000)
    bodies = {"000000.html": bytes(200_000), "000001.html": b"<p>two"}
    records, damaged = read(make(tmp_path, bodies=bodies))
    assert [records[number].body for number in (0, 1)] == [None, b"<p>two"]
    assert len(damaged) == 2


def test_a_header_of_gigabytes_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "MAX_BODY_BYTES", 1000)
    monkeypatch.setattr(replica, "_SKIP_BYTES", 20_000)
    folder = make(tmp_path)
    with tarfile.open(folder / "bodies.tar.xz", "w:xz", format=tarfile.PAX_FORMAT) as file:
        member = tarfile.TarInfo("000000.html")
        member.pax_headers = {"comment": "x" * 1_000_000}
        file.addfile(member)
    _, damaged = read(folder)
    assert "a header in the tar file is too large" in damaged[0].reason
