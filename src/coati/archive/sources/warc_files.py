"""WARC files of other tools: wget, Heritrix, Browsertrix, warcio and our own.

What is read: HTTP responses, resources with a URL, and revisits. Everything else (requests, metadata,
notes of the tools to themselves) is skipped, as is "not modified": it says nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from fastwarc.warc import WarcRecordType

from coati.archive.kinds import kind_of
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.captures import address_of, to_record
from coati.archive.sources.digests import has_payload
from coati.archive.sources.revisits import Revisits
from coati.archive.sources.source import DamagedPart, ProgressCallback, Report, SourceOptions, unreported
from coati.archive.sources.warc_stream import Capture, WarcFile, read_captures
from coati.errors import ArchiveError, UsageError
from coati.model import Kind
from coati.web.media import PRESETS
from coati.web.urls import path_of, site_of

_NOT_MODIFIED = 304

# How far we look for the page that a crawl began with: it is among the first records.
_MAX_LOOKED_AT = 2000


class WarcFiles:
    """One or several WARC files of one site (`coati.archive.sources.source.SiteSource`)."""

    def __init__(
        self,
        files: Sequence[WarcFile],
        options: SourceOptions,
        *,
        start_url: str | None = None,
        known_damage: Sequence[DamagedPart] = (),
    ) -> None:
        if not files:
            raise UsageError("no WARC file was given, or found in the folder")
        self._files = files
        self._options = options
        self._start_url = options.start_url or start_url
        self._known_damage = known_damage

    def meta(self) -> ArchiveMeta:
        options = self._options
        first = self._first_page()
        start_url = self._start_url or (first.url if first else None)
        if start_url is None:
            if not any(True for file in self._files for _ in read_captures(file, unreported)):
                raise ArchiveError(
                    f"{self._files[0].name} holds no response of a website: it is empty, or not a WARC file"
                )
            raise ArchiveError(
                f"{self._files[0].name}: no page among the first records; "
                "say with --start-url where the site begins"
            )
        names = [Path(file.name).name for file in self._files]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        labelled = first is not None and first.kind is not None
        return ArchiveMeta(
            name=options.name or site_of(start_url),
            start_url=start_url,
            types=options.types or (None if labelled else PRESETS["data"]),
            origin=f"{names[0]}{more}",
        )

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        """Return what the files hold; revisits come last, when their bodies have been found."""
        for damage in self._known_damage:
            report(damage)
        total = sum(file.size_bytes for file in self._files)
        before = 0
        revisits = Revisits()
        for file in self._files:
            for capture in read_captures(file, report):
                if capture.type == WarcRecordType.revisit:
                    revisits.add(file, capture)
                else:
                    yield from _converted(file, capture, report)
                progress(before + capture.offset, total)
            before += file.size_bytes
        yield from revisits.resolve(self._files, report)
        progress(total, total)

    def _first_page(self) -> Entry | None:
        captures = (capture for file in self._files for capture in _quietly(file))
        for entry in islice(captures, _MAX_LOOKED_AT):
            kind = kind_of(entry, None)
            if kind in {Kind.PAGE, Kind.REDIRECT} and path_of(entry.url) != "/robots.txt":
                return entry
        return None


def warc_on_disk(path: Path) -> WarcFile:
    """Name a WARC file in the file system."""
    return WarcFile(str(path), path.stat().st_size, lambda: path.open("rb"))


def _converted(file: WarcFile, capture: Capture, report: Report) -> Iterator[Record]:
    url = address_of(capture)
    if url is None or capture.status == _NOT_MODIFIED:
        return
    where = f"{file.name}, byte {capture.offset}"
    try:
        reading = to_record(capture, url)
    except ValueError as error:
        report(DamagedPart(where, str(error), url))
        return
    if not reading.whole:
        report(DamagedPart(where, "its body cannot be decoded to its end; the rest is kept", url))
    elif not _is_as_it_was(capture, reading.record):
        report(DamagedPart(where, "it is not what its digest says; it is kept as it is", url))
    yield reading.record


def _is_as_it_was(capture: Capture, record: Record) -> bool:
    """Tell whether the digests of a capture fit; that of its block leaves no doubt about what it is of."""
    if capture.is_block is not None:
        return capture.is_block
    return has_payload(capture.fields, capture.body, record.body)


def _quietly(file: WarcFile) -> Iterator[Entry]:
    for capture in read_captures(file, unreported):
        if capture.type != WarcRecordType.revisit:
            for record in _converted(file, capture, unreported):
                yield record.entry
