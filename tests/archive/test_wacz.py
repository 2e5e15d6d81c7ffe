import json
import random
import zipfile
from pathlib import Path

import pytest

from coati.archive.record import Record
from coati.archive.sources.layouts import open_source
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.archive.sources.wacz import is_zip, read_wacz
from coati.archive.sources.warc_files import WarcFiles
from coati.errors import ArchiveError
from tests.archive.samples import Reports, no_progress
from tests.archive.warcs import packed, response

ROOT = "http://example.test/"
WARC = packed([response(f"{ROOT}{number}", b"<p>" + bytes(300)) for number in range(5)])


def make(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def opened(path: Path, options: SourceOptions) -> WarcFiles:
    _, source = open_source([path], "wacz", options)
    assert isinstance(source, WarcFiles)
    return source


def read(path: Path) -> tuple[list[Record], list[DamagedPart]]:
    reports = Reports()
    return list(opened(path, SourceOptions()).records(reports, no_progress)), reports.all


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_warc_files_inside_are_read(tmp_path: Path, compression: int) -> None:
    more = packed([response(f"{ROOT}more")])
    members = {"datapackage.json": b"{}", "archive/b.warc.gz": more, "archive/a.warc.gz": WARC}
    path = make(tmp_path / "a.wacz", members | {"indexes/index.cdx.gz": WARC[:50]}, compression)
    records, damaged = read(path)
    assert [record.entry.url for record in records] == [
        *(f"{ROOT}{number}" for number in range(5)),
        f"{ROOT}more",
    ]
    assert not damaged


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"datapackage.json": json.dumps({"mainPageUrl": f"{ROOT}main"}).encode()}, f"{ROOT}main"),
        (
            {
                "datapackage.json": b"{}",
                "pages/pages.jsonl": b'{"format": "json-pages-1.0"}\n{"url": "http://example.test/first"}\n',
            },
            f"{ROOT}first",
        ),
        ({"datapackage.json": b"[" * 100_000, "pages/pages.jsonl": b'\xff\n{"url": 5}\n'}, f"{ROOT}0"),
        ({}, f"{ROOT}0"),
    ],
)
def test_the_start_is_what_the_collection_says(
    tmp_path: Path, members: dict[str, bytes], expected: str
) -> None:
    path = make(tmp_path / "a.wacz", {"archive/a.warc.gz": WARC} | members)
    assert opened(path, SourceOptions()).meta().start_url == expected
    assert opened(path, SourceOptions(start_url=f"{ROOT}mine")).meta().start_url == f"{ROOT}mine"


def test_a_zip_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="not a WACZ"):
        read_wacz(make(tmp_path / "a.zip", {"a.txt": b"x"}))


def test_a_zip_file_that_was_cut_off_is_searched_for_records(tmp_path: Path) -> None:
    path = make(tmp_path / "a.wacz", {"pages/pages.jsonl": b"x" * 500, "archive/a.warc.gz": WARC})
    octets = path.read_bytes()
    path.write_bytes(octets[: octets.index(WARC) + len(WARC) - 5])
    records, damaged = read(path)
    assert [record.entry.url for record in records] == [f"{ROOT}{number}" for number in range(4)]
    assert "its directory cannot be read" in damaged[0].reason
    assert len(damaged) >= 2


def test_damage_inside_costs_the_record_that_it_touches(tmp_path: Path) -> None:
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        damaged_warc = bytearray(WARC)
        damaged_warc[len(WARC) // 2] ^= 0xFF
        path = make(tmp_path / "a.wacz", {"archive/a.warc.gz": bytes(damaged_warc)}, compression)
        records, damaged = read(path)
        assert len(records) == 4
        assert len(damaged) == 1
        assert "archive/a.warc.gz, byte" in damaged[0].where


def test_a_member_that_does_not_unpack_gives_its_beginning(tmp_path: Path) -> None:
    chance = random.Random(1)
    large = packed([response(f"{ROOT}{number}", chance.randbytes(1000)) for number in range(250)])
    path = make(tmp_path / "a.wacz", {"archive/a.warc.gz": large}, zipfile.ZIP_DEFLATED)
    octets = bytearray(path.read_bytes())
    octets[len(octets) // 2 : len(octets) // 2 + 5000] = chance.randbytes(5000)
    path.write_bytes(octets)
    records, damaged = read(path)
    assert 0 < len(records) < 250
    assert damaged


def test_another_compression_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "a.wacz", {"archive/a.warc.gz": WARC}, zipfile.ZIP_BZIP2)
    with pytest.raises(ArchiveError, match="compressed in a way"):
        read_wacz(path)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "a.wacz", {"archive/a.warc": bytes(20_000_000)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(ArchiveError, match="would unpack to 20000000 bytes"):
        read_wacz(path)


def test_a_size_that_lies_is_believed_no_further_than_it_goes(tmp_path: Path) -> None:
    path = make(tmp_path / "a.wacz", {"archive/a.warc.gz": WARC}, zipfile.ZIP_DEFLATED)
    octets = path.read_bytes()
    true, small = len(WARC).to_bytes(4, "little"), (100).to_bytes(4, "little")
    assert octets.count(true) == 2
    path.write_bytes(octets.replace(true, small))
    records, damaged = read(path)
    assert not records
    assert damaged


def test_names_that_lead_elsewhere_reach_no_path(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "deeper"
    place.mkdir(parents=True)
    path = make(place / "a.wacz", {"../../archive/evil.warc.gz": WARC}, zipfile.ZIP_DEFLATED)
    records, _ = read(path)
    assert len(records) == 5
    assert [found.name for found in tmp_path.rglob("*")] == ["deep", "deeper", "a.wacz"]


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "a.wacz", {"archive/a.warc.gz": WARC})
    octets = bytearray(path.read_bytes())
    octets[octets.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(octets)
    with pytest.raises(ArchiveError, match="is encrypted"):
        read_wacz(path)


def test_a_zip_file_is_known_by_its_beginning(tmp_path: Path) -> None:
    assert is_zip(make(tmp_path / "a", {"x": b""}))
    (tmp_path / "b").write_bytes(b"PK")
    assert not is_zip(tmp_path / "b")
