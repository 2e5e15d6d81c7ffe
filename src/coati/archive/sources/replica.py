"""Replicas of sites for experiments: a table of URLs, and the bodies of the pages in a tar file.

    site.json        name, start_url, origin, license, and more that we do not need
    urls.tsv.gz      URL, status, media type, size, kind, location, name of the body; one line per URL
    bodies.tar.xz    the bodies that the table names

The table is the truth: its ``kind`` column labels each record, so the archive needs no target types.
Bodies come in the order of the table if the tar file was written so; one that is elsewhere is
laid aside on disk until its line comes.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tarfile
import tempfile
import zlib
from collections import Counter
from collections.abc import Container, Generator, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Self

from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.source import MAX_BODY_BYTES, DamagedPart, ProgressCallback, Report, SourceOptions
from coati.errors import ArchiveError
from coati.machine_errors import writing_to
from coati.model import Kind
from coati.web.urls import normalise

_SITE, _TABLE, _BODIES = "site.json", "urls.tsv.gz", "bodies.tar.xz"

# Replicas leave out the parts that pages are made of, style sheets and scripts included.
_BLOCKED = """
    png jpg jpeg gif svg bmp ico webp tif tiff css js mjs map woff woff2 ttf eot otf mp3 mp4 avi mov
    ogg ogv webm flv swf wav wmv mpg mpeg m4a m4v
"""
BLOCKED_EXTENSIONS = frozenset(_BLOCKED.split())

_MAX_SITE_BYTES = 1 << 20
_MAX_LINE_BYTES = 64 * 1024
_SKIP_BYTES = 1 << 20
_COLUMNS = 7
_HIGHEST_STATUS = 999
_MAX_SIZE_BYTES = 1 << 50


class Replica:
    """A folder in the replica layout (`coati.archive.sources.source.SiteSource`)."""

    def __init__(self, folder: Path, options: SourceOptions) -> None:
        self._folder = folder
        self._options = options

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether a path is a folder in this layout."""
        return (path / _SITE).is_file() and (path / _TABLE).is_file()

    def meta(self) -> ArchiveMeta:
        options = self._options
        path = self._folder / _SITE
        try:
            with path.open("rb") as file:
                site = json.loads(file.read(_MAX_SITE_BYTES))
            start_url = normalise(str(site["start_url"]))
            name = str(site["name"])
            origin, licence = str(site.get("origin", "")), str(site.get("license", ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArchiveError(f"{path} cannot be read: {error!r}") from error
        if start_url is None:
            raise ArchiveError(f"{path}: the start URL {site['start_url']!r} is not a URL")
        return ArchiveMeta(
            name=options.name or name,
            start_url=options.start_url or start_url,
            types=options.types,
            origin=origin,
            licence=licence,
            blocked_extensions=BLOCKED_EXTENSIONS,
        )

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        """Join the table with the bodies."""
        table = self._folder / _TABLE
        lines = list(_read_table(table, report))
        uses = Counter(line.body_name for line in lines if line.body_name)
        with _Bodies(self._folder / _BODIES, uses, report) as bodies:
            for number, line in enumerate(lines, start=1):
                body = bodies.take(line.body_name) if line.body_name else None
                if line.body_name and body is None:
                    report(DamagedPart(_BODIES, f"{line.body_name} is not there", line.entry.url))
                yield Record(line.entry, body=body)
                progress(number, len(lines))


class _Line(NamedTuple):
    entry: Entry
    body_name: str


def _read_table(path: Path, report: Report) -> Iterator[_Line]:
    number = 0
    try:
        with gzip.open(path, "rb") as file:
            while octets := file.readline(_MAX_LINE_BYTES):
                number += 1
                try:
                    yield _parse_line(octets)
                except ValueError as error:
                    report(DamagedPart(f"{path.name}, line {number}", str(error)))
    except (OSError, EOFError, zlib.error) as error:
        report(DamagedPart(f"{path.name}, after line {number}", f"the rest is unreadable: {error}"))


def _parse_line(octets: bytes) -> _Line:
    columns = octets.decode().rstrip("\r\n").split("\t")
    if len(columns) != _COLUMNS:
        raise ValueError(f"it has {len(columns)} columns instead of {_COLUMNS}")
    given_url, status, media_type, size, kind, given_location, body_name = columns
    url = normalise(given_url)
    if url is None:
        raise ValueError(f"{given_url[:200]!r} is not a URL")
    location = normalise(given_location) if given_location else ""
    if location is None:
        raise ValueError(f"the location {given_location[:200]!r} is not a URL")
    entry = Entry(
        url,
        _number(status, _HIGHEST_STATUS),
        media_type,
        _number(size, _MAX_SIZE_BYTES),
        Kind(kind),
        location,
    )
    return _Line(entry, body_name)


def _number(text: str, highest: int) -> int:
    number = int(text)
    if not 0 <= number <= highest:
        raise ValueError(f"{text} is out of range")
    return number


class _Bodies:
    """The bodies in a tar file, by name, read once from front to back.

    ``uses`` says how many lines of the table name each body.
    """

    def __init__(self, path: Path, uses: Counter[str], report: Report) -> None:
        self._uses = uses
        self._aside: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._members = _read_members(path, uses, report)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._members.close()
        self._aside.close()

    def take(self, name: str) -> bytes | None:
        """Return the body of this name; None where there is none, or it cannot be read."""
        self._uses[name] -= 1
        if name in self._places:
            start, length = self._places[name]
            self._aside.seek(start)
            return self._aside.read(length)
        for found, body in self._members:
            if self._uses[found] > 0:
                self._lay_aside(found, body)
            if found == name:
                return body
        return None

    def _lay_aside(self, name: str, body: bytes) -> None:
        self._places[name] = (self._aside.seek(0, io.SEEK_END), len(body))
        with writing_to(Path(tempfile.gettempdir())):
            self._aside.write(body)
            self._aside.flush()


def _read_members(path: Path, wanted: Container[str], report: Report) -> Generator[tuple[str, bytes]]:
    last = "its beginning"
    try:
        with lzma.open(path) as unpacked:
            metered = _Metered(unpacked)
            with tarfile.open(fileobj=metered, mode="r|") as tar:
                while (member := tar.next()) is not None:
                    # Else the tar file keeps each member that it ever read.
                    tar.members.clear()  # type: ignore[attr-defined]
                    metered.begin()
                    last = member.name
                    body = _member_body(tar, member, metered)
                    if last not in wanted:
                        continue
                    if body is None:
                        report(DamagedPart(f"{path.name}, {last}", "it is not a file, or too large"))
                    else:
                        yield last, body
                    metered.begin()
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        report(DamagedPart(f"{path.name}, after {last}", f"the rest is unreadable: {error}"))


def _member_body(tar: tarfile.TarFile, member: tarfile.TarInfo, metered: _Metered) -> bytes | None:
    file = tar.extractfile(member) if member.isreg() else None
    if file is None:
        return None
    body = file.read(MAX_BODY_BYTES)
    if len(body) == member.size:
        return body
    while file.read(_SKIP_BYTES):
        metered.begin()
    return None


class _Metered(io.RawIOBase):
    """A reader that gives a bounded number of bytes between two calls of `begin`.

    `tarfile` believes a header that announces a header of gigabytes, and would hold it in memory.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._left = 0
        self.begin()

    def begin(self) -> None:
        self._left = MAX_BODY_BYTES + _SKIP_BYTES

    def read(self, size: int = -1) -> bytes:
        octets = self._file.read(size)
        self._left -= len(octets)
        if self._left < 0:
            raise OSError("a header in the tar file is too large")
        return octets
