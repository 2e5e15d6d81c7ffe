"""A site of ten URLs whose every measure can be worked out by hand.

/  ->  /a /b /gone /old       /a  ->  /a1.csv /a2.csv /       /old  redirects to /a
                              /b  ->  /b1.csv /style /c       /gone answers 404
"""

from __future__ import annotations

from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.web.media import PRESETS, TargetTypes

START = "http://tiny.test/"


def page(path: str, *links: str, size_bytes: int) -> Record:
    body = "".join(f"<p><a href='{link}'>{link}</a></p>" for link in links).encode().ljust(size_bytes)
    assert len(body) == size_bytes
    return Record(Entry(START + path, 200, "text/html; charset=utf-8", size_bytes), (), body)


def file(path: str, media_type: str, size_bytes: int) -> Record:
    return Record(Entry(START + path, 200, media_type, size_bytes))


RECORDS = (
    page("", "/a", "/b", "/gone", "/old", "/a", "/pic.png", "http://other.test/", size_bytes=300),
    page("a", "/a1.csv", "/a2.csv", "/", size_bytes=200),
    page("b", "/b1.csv", "/style", "/c", size_bytes=400),
    page("c", size_bytes=100),
    file("a1.csv", "text/csv", 100),
    file("a2.csv", "text/csv", 200),
    file("b1.csv", "text/csv; header=present", 700),
    file("style", "text/css", 1000),
    Record(Entry(START + "old", 301, "", 0, location=START + "a")),
    Record(Entry(START + "gone", 404, "text/html", 50), (), b"x" * 50),
)
TOTAL_URLS = 10
TOTAL_TARGETS = 3
TARGET_BYTES = 1000
# The page of an error does not count, as its size is not what anybody came for.
OTHER_BYTES = 300 + 200 + 400 + 100 + 1000


def make(folder: Path, name: str = "tiny", types: TargetTypes | None = PRESETS["data"]) -> Path:
    with Archive.create(folder, ArchiveMeta(name, START, types)) as archive:
        for record in RECORDS:
            archive.add(record)
    return folder
