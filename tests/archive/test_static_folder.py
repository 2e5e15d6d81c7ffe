import os
from pathlib import Path

import pytest

from coati.archive.record import Record
from coati.archive.sources import static_folder
from coati.archive.sources.file_types import media_type_of
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.archive.sources.static_folder import StaticFolder
from tests.archive.samples import Reports, no_progress


def make(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def read(folder: Path, options: SourceOptions | None = None) -> tuple[dict[str, Record], list[DamagedPart]]:
    reports = Reports()
    source = StaticFolder(folder, options or SourceOptions())
    return {record.entry.url: record for record in source.records(reports, no_progress)}, reports.all


def test_files_are_what_a_static_server_shows(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "My Site",
        {
            "index.html": b"<p>home",
            "data/a b.csv": b"a,b\n",
            "docs/index.html": b"<p>docs",
            "docs/ü.html": b"<p>",
        },
    )
    records, damaged = read(folder)
    root = "http://my-site.test/"
    assert not damaged
    assert records.keys() == {
        root,
        f"{root}index.html",
        f"{root}data/a%20b.csv",
        f"{root}docs",
        f"{root}docs/",
        f"{root}docs/index.html",
        f"{root}docs/%C3%BC.html",
    }
    assert records[root].body == records[f"{root}index.html"].body == b"<p>home"
    assert records[f"{root}data/a%20b.csv"].entry.media_type == "text/csv"
    moved = records[f"{root}docs"].entry
    assert (moved.status, moved.location) == (301, f"{root}docs/")


@pytest.mark.parametrize("start", ["https://real.test/deep/", "https://real.test/deep/home.html?x=/y"])
def test_the_folder_stands_where_the_start_url_says(tmp_path: Path, start: str) -> None:
    records, _ = read(make(tmp_path, {"home.html": b"<p>", "a/b.csv": b""}), SourceOptions(start_url=start))
    assert records.keys() == {"https://real.test/deep/home.html", "https://real.test/deep/a/b.csv"}


def test_the_description_has_defaults_and_takes_wishes(tmp_path: Path) -> None:
    folder = make(tmp_path / "site", {"index.html": b""})
    meta = StaticFolder(folder, SourceOptions()).meta()
    assert (meta.name, meta.start_url) == ("site", "http://site.test/")
    assert StaticFolder(folder, SourceOptions(name="Ünïcode!")).meta().start_url == "http://n-code.test/"


def test_hidden_files_are_left_out_but_for_well_known(tmp_path: Path) -> None:
    files = {".git/config": b"", ".htaccess": b"", ".well-known/security.txt": b"", "a.html": b""}
    records, _ = read(make(tmp_path / "s", files))
    assert records.keys() == {"http://s.test/a.html", "http://s.test/.well-known/security.txt"}


def test_links_are_followed_inside_the_folder_only(tmp_path: Path) -> None:
    make(tmp_path, {"secret.txt": b"secret", "s/real/a.html": b"<p>"})
    folder = tmp_path / "s"
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to("..")
    (folder / "self").symlink_to(".")
    (folder / "nowhere").symlink_to("missing")
    (folder / "loop").symlink_to("loop")
    (folder / "again").symlink_to("real")
    (folder / "real" / "parent").symlink_to("..")
    records, damaged = read(folder)
    assert records.keys() == {"http://s.test/real/a.html", "http://s.test/again/a.html"}
    assert {Path(report.where).name for report in damaged} == {
        "out.txt", "up", "self", "nowhere", "loop", "parent",
    }  # fmt: skip


def test_what_is_not_a_file_is_not_opened(tmp_path: Path) -> None:
    make(tmp_path / "s", {"a.html": b"<p>"})
    os.mkfifo(tmp_path / "s" / "pipe")
    records, _ = read(tmp_path / "s")
    assert records.keys() == {"http://s.test/a.html"}


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "s", {"a.html": b"<p>", "b.html": b"<p>"})
    opened = Path.open

    def refuse(path: Path, mode: str) -> object:
        if path.name == "a.html":
            raise PermissionError(13, "Permission denied")
        return opened(path, mode)

    monkeypatch.setattr(Path, "open", refuse)
    records, (damaged,) = read(tmp_path / "s")
    assert records.keys() == {"http://s.test/b.html"}
    assert "Permission denied" in damaged.reason


def test_names_that_are_not_text_have_an_address(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / os.fsdecode(b"caf\xe9.html")).write_bytes(b"<p>")
    records, _ = read(tmp_path / "s")
    assert records.keys() == {"http://s.test/caf%E9.html"}


def test_a_body_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_folder, "MAX_BODY_BYTES", 1000)
    records, _ = read(make(tmp_path / "s", {"a.csv": bytes(5000)}))
    record = records["http://s.test/a.csv"]
    assert (record.body, record.entry.size_bytes) == (None, 5000)


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.html", b"", "text/html"),
        ("A.HTM", b"", "text/html"),
        ("a.xhtml", b"", "application/xhtml+xml"),
        ("a.csv", b"", "text/csv"),
        ("a.XLSX", b"", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("a.csv.gz", b"", "application/gzip"),
        ("a.tar.xz", b"", "application/x-xz"),
        ("a.pdf", b"", "application/pdf"),
        ("a.json", b"", "application/json"),
        ("a.xml", b"", "application/xml"),
        ("a.png", b"", "image/png"),
        ("a.css", b"", "text/css"),
        ("about", b"  <!DOCTYPE html><p>", "text/html"),
        ("LICENSE", b"You may", "text/plain"),
        ("blob", b"\x00\x01", "application/octet-stream"),
        ("a.unheard-of", b"\x00\x01", "application/octet-stream"),
    ],
)
def test_media_types(name: str, head: bytes, expected: str) -> None:
    assert media_type_of(name, head) == expected
