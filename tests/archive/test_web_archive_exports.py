import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from coati.archive.archive import Archive
from coati.archive.exports import wacz
from coati.archive.exports.cdxj import export_cdxj, surt
from coati.archive.exports.wacz import export_wacz
from coati.archive.importing import ImportOptions, import_source
from coati.archive.sources.layouts import open_source
from coati.archive.sources.source import SourceOptions
from coati.errors import UsageError
from tests.archive.samples import SITE, make, no_progress, volume

ROOT = "http://example.test/"


def cdxj(folder: Path, out: Path) -> list[tuple[str, str, dict[str, str]]]:
    with Archive.open(folder) as archive:
        export_cdxj(archive, out)
    parts = [line.split(" ", 2) for line in out.read_text(encoding="utf-8").splitlines()]
    return [(key, moment, json.loads(fields)) for key, moment, fields in parts]


def with_history(folder: Path) -> Path:
    """Make an archive in which one page was captured twice and did not change."""
    make(folder)
    with Archive.open(folder, writable=True) as archive:
        first = archive.record(ROOT)
        archive.add(replace(first, entry=replace(first.entry, fetched_at=2_000_000_000.0)))
    return folder


# The keys that the Internet Archive's own library gives.
@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.example.org/a/B.csv?y=2&x=1", "org,example)/a/b.csv?x=1&y=2"),
        ("http://www3.example.org:8080/data", "org,example:8080)/data"),
        ("http://data.gov.example.org/Data%20Set.pdf", "org,example,gov,data)/data%20set.pdf"),
    ],
)
def test_keys_are_those_of_other_indexes(url: str, key: str) -> None:
    assert surt(url) == key


def test_each_capture_is_found_at_its_place(tmp_path: Path) -> None:
    folder = with_history(tmp_path / "a")
    lines = cdxj(folder, tmp_path / "index.cdxj")
    assert [line[:2] for line in lines] == sorted(line[:2] for line in lines)
    assert {fields["url"] for *_, fields in lines} == {
        record.entry.url for record in SITE if record.entry.status
    }
    for _, _, fields in lines:
        with volume(folder).open("rb") as file:
            file.seek(int(fields["offset"]))
            record = next(ArchiveIterator(file))
            assert record.rec_headers.get_header("WARC-Target-URI") == fields["url"]
            assert record.rec_type == ("revisit" if fields["mime"] == "warc/revisit" else "response")
    assert [fields["mime"] for *_, fields in lines if fields["url"] == ROOT] == ["text/html", "warc/revisit"]


def validate(path: Path) -> None:
    command = [sys.executable, "-m", "wacz", "validate", "-f", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wacz_is_valid_by_its_own_tool_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_history(tmp_path / "a")
    out = tmp_path / "a.wacz"
    monkeypatch.setattr(wacz, "_LINES_PER_BLOCK", 2)
    with Archive.open(folder) as archive:
        assert export_wacz(archive, out, no_progress) == out.stat().st_size
        before = {entry: archive.record(entry.url).body for entry in archive.entries() if entry.status}
    validate(out)
    _, source = open_source([out], "auto", SourceOptions())
    import_source(source, tmp_path / "b", ImportOptions())
    with Archive.open(tmp_path / "b") as again:
        assert {entry: again.record(entry.url).body for entry in again.entries()} == before
        assert len(again.captures(ROOT)) == 2
        assert again.meta.start_url == ROOT


def test_the_index_of_a_wacz_is_in_blocks_that_can_be_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wacz, "_LINES_PER_BLOCK", 2)
    folder = make(tmp_path / "a")
    with Archive.open(folder) as archive:
        export_wacz(archive, tmp_path / "a.wacz", no_progress)
    with zipfile.ZipFile(tmp_path / "a.wacz") as zipped:
        packed = zipped.read("indexes/index.cdx.gz")
        meta, *keys = zipped.read("indexes/index.idx").decode().splitlines()
        pages = [json.loads(line) for line in zipped.read("pages/pages.jsonl").splitlines()]
        assert {info.compress_type for info in zipped.infolist()} == {zipfile.ZIP_STORED}
    assert json.loads(meta.split(" ", 2)[2])["format"] == "cdxj-gzip-1.0"
    lines: Sequence[str] = gzip.decompress(packed).decode().splitlines()
    read = []
    for key in keys:
        place = json.loads(key.split(" ", 2)[2])
        block = gzip.decompress(packed[place["offset"] : place["offset"] + place["length"]]).decode()
        assert block.startswith(" ".join(key.split(" ", 2)[:2]))
        read += block.splitlines()
    assert read == lines
    assert len(keys) > 1
    assert pages[0]["format"] == "json-pages-1.0"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    with Archive.open(make(tmp_path / "a")) as archive:
        with pytest.raises(UsageError, match="already exists"):
            export_wacz(archive, tmp_path / "there", no_progress)
        with pytest.raises(UsageError, match="already exists"):
            export_cdxj(archive, tmp_path / "there")
