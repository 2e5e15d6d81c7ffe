"""From a source to an archive, all or nothing.

The archive is built beside its place and moved there when it is whole, so an import that fails or is
interrupted leaves nothing that could be taken for the site.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.description import FILE_NAME
from coati.archive.kinds import kind_of
from coati.archive.lock import WriteLock
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.source import Damaged, Progress, Report, Source
from coati.errors import ArchiveError, UsageError
from coati.model import Kind
from coati.readers.formats import format_of

_PARTIAL = 206


@dataclass(frozen=True, slots=True)
class Importing:
    """How to import, and whom to tell how it goes."""

    keep_target_bodies: bool = True
    overwrite: bool = False
    report: Report = lambda _damaged: None
    progress: Progress = lambda _done, _total: None


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import brought.

    ``replaced`` counts records that gave way to another one of their URL; ``has_start`` tells
    whether the start URL is among those that are left.
    """

    records: int
    replaced: int
    damaged: int
    has_start: bool


def import_source(source: Source, destination: Path, how: Importing) -> ImportSummary:
    """Read a source into a new archive; raises `ArchiveError` where nothing in it is readable."""
    _check_place(destination, overwrite=how.overwrite)
    meta = source.meta()
    partial = destination.with_name(destination.name + ".partial")
    _clear(partial)
    try:
        summary = _build(source, partial, meta, how)
        _move(partial, destination)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return summary


def _build(source: Source, folder: Path, meta: ArchiveMeta, how: Importing) -> ImportSummary:
    damages = _Count(how.report)
    added = 0
    with Archive.create(folder, meta) as archive:
        with archive.bulk():
            for record in source.records(damages, how.progress):
                added += 1
                if _counts(record.entry, archive.entry(record.entry.url)):
                    archive.add(record if how.keep_target_bodies else _without_body(record, meta))
        kept = len(archive)
        has_start = archive.entry(meta.start_url) is not None
    if not kept:
        first = f"; the first damage: {damages.first}" if damages.first else ""
        raise ArchiveError(f"there is no readable record in the source{first}")
    return ImportSummary(kept, added - kept, damages.count, has_start)


class _Count:
    """Counts what is reported, and passes it on."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.count = 0
        self.first: Damaged | None = None

    def __call__(self, damaged: Damaged) -> None:
        self.count += 1
        self.first = self.first or damaged
        self._report(damaged)


def _counts(new: Entry, old: Entry | None) -> bool:
    """Tell whether a later record replaces an earlier one: an error never replaces an answer."""
    return old is None or _worth(new.status) >= _worth(old.status)


def _worth(status: int) -> int:
    if status == _PARTIAL:
        return 1
    return 2 if 200 <= status < 400 else 0  # noqa: PLR2004 -- HTTP success and redirection


def _without_body(record: Record, meta: ArchiveMeta) -> Record:
    entry = record.entry
    if record.body is None or kind_of(entry, meta.types) is not Kind.TARGET:
        return record
    # A sitemap or a feed is small, and as a start address it lists links.
    lists = format_of(entry.url, entry.media_type, record.body, is_list=True, wanted=True) is not None
    return record if lists else replace(record, body=None)


def _check_place(destination: Path, *, overwrite: bool) -> None:
    if not destination.exists() or (destination.is_dir() and not any(destination.iterdir())):
        return
    if not (destination / FILE_NAME).is_file():
        raise UsageError(f"{destination} already exists and is not an archive")
    if not overwrite:
        raise UsageError(f"{destination} is already an archive; --overwrite replaces it")


def _clear(partial: Path) -> None:
    """Remove what an import left behind that was killed; nothing else."""
    if not partial.exists():
        return
    if not (partial / FILE_NAME).is_file():
        raise UsageError(f"{partial} is in the way; Coati would build the archive there")
    WriteLock(partial).release()
    shutil.rmtree(partial)


def _move(partial: Path, destination: Path) -> None:
    if not (destination / FILE_NAME).is_file():
        partial.rename(destination)
        return
    old = destination.with_name(destination.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    destination.rename(old)
    partial.rename(destination)
    shutil.rmtree(old, ignore_errors=True)
