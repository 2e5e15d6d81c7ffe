"""Small archives and sources that the tests of this folder are made of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.source import DamagedPart
from coati.model import Kind
from coati.web.media import PRESETS

META = ArchiveMeta("example", "http://example.test/", PRESETS["data"], "made up", "CC0")


SENT = (("User-Agent", "Coati/test"),)


def page(url: str, text: str = "", fetched_at: float | None = 1_700_000_000.25) -> Record:
    body = f"<!doctype html><title>{url}</title>{text}".encode()
    entry = Entry(url, 200, "text/html; charset=utf-8", len(body), fetched_at=fetched_at)
    return Record(entry, (("Content-Type", "text/html; charset=utf-8"), ("X-Served-By", "a")), body, SENT)


def target(url: str, body: bytes | None = b"a,b\n1,2\n", size_bytes: int = 8) -> Record:
    return Record(Entry(url, 200, "text/csv", size_bytes, Kind.TARGET), body=body)


def redirect(url: str, location: str) -> Record:
    return Record(Entry(url, 301, "", 0, location=location), (("Location", location),), b"")


def failure(url: str) -> Record:
    return Record(Entry(url, 0, "", 0, Kind.BROKEN))


SITE = (
    page("http://example.test/", '<a href="/a.html">a</a> <a href="/gone">gone</a>'),
    page("http://example.test/a.html", '<a href="/data.csv">data</a> <a href="http://other.test/">o</a>'),
    target("http://example.test/data.csv"),
    target("http://example.test/large.csv", body=None, size_bytes=10_000_000),
    redirect("http://example.test/old", "http://example.test/a.html"),
    failure("http://example.test/down"),
)


def make(folder: Path, records: Iterable[Record] = SITE, meta: ArchiveMeta = META) -> Path:
    with Archive.create(folder, meta) as archive:
        for record in records:
            archive.add(record)
    return folder


def volume(folder: Path, number: int = 1) -> Path:
    return folder / "warc" / f"coati-{number:05}.warc.gz"


class Reports:
    """Keeps what a source reports."""

    def __init__(self) -> None:
        self.all: list[DamagedPart] = []

    def __call__(self, damaged: DamagedPart) -> None:
        self.all.append(damaged)


def no_progress(_done: int, _total: int) -> None:
    pass
