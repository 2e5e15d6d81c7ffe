"""Import a source into an archive, all or nothing.

The archive is built beside its place and moved there when it is whole, so an import that fails or is
interrupted leaves nothing that could be taken for the site.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from coati.archive.archive import Archive, holds_nothing
from coati.archive.description import FILE_NAME, lock_archive
from coati.archive.kinds import kind_of
from coati.archive.record import ArchiveMeta, Record
from coati.archive.sources.source import DamagedPart, ProgressCallback, Report, SiteSource
from coati.errors import ArchiveError, UsageError
from coati.machine_errors import writing_to
from coati.model import Kind
from coati.readers.formats import format_of

# How far the clock of a crawler may be ahead of ours.
_CLOCK_ERROR_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to import, and what to call on the way; ``now`` is the time: no capture can be later."""

    keep_target_bodies: bool = True
    overwrite: bool = False
    report: Report = lambda _damaged: None
    progress: ProgressCallback = lambda _done, _total: None
    now: float = math.inf


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import brought.

    ``captures`` counts what is kept: each URL as often as it was captured. ``repeated`` counts captures that
    were there already, with the same time and body, and ``undated`` those whose time is unknown, because
    none was given or it lies in the future. ``has_start`` says whether the start URL is there.
    """

    records: int
    captures: int
    repeated: int
    undated: int
    damaged: int
    has_start: bool


def import_source(source: SiteSource, destination: Path, how: ImportOptions) -> ImportSummary:
    """Read a source into a new archive; raise `ArchiveError` where nothing in it is readable."""
    _check_place(destination, overwrite=how.overwrite)
    meta = source.meta()
    partial = destination.with_name(destination.name + ".partial")
    _clear(partial)
    try:
        with writing_to(destination):
            summary = _build(source, partial, meta, how)
        _move(partial, destination)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return summary


def _build(source: SiteSource, folder: Path, meta: ArchiveMeta, how: ImportOptions) -> ImportSummary:
    damages = _Count(how.report)
    repeated = undated = 0
    with Archive.create(folder, meta) as archive:
        with archive.bulk():
            for found in source.records(damages, how.progress):
                record = _dated(found, how.now)
                if not how.keep_target_bodies:
                    record = _without_body(record, meta)
                undated += record.entry.fetched_at is None
                if _is_held(archive, record):
                    repeated += 1
                else:
                    archive.add(record)
        kept, captures = len(archive), archive.count_captures()
        has_start = archive.entry(meta.start_url) is not None
    if not kept:
        first = f"; the first damage: {damages.first}" if damages.first else ""
        raise ArchiveError(f"there is no readable record in the source{first}")
    return ImportSummary(kept, captures, repeated, undated, damages.count, has_start)


class _Count:
    """Counts what is reported, and passes it on."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.count = 0
        self.first: DamagedPart | None = None

    def __call__(self, damaged: DamagedPart) -> None:
        self.count += 1
        self.first = self.first or damaged
        self._report(damaged)


def _dated(record: Record, now: float) -> Record:
    """Take a time that cannot be for an unknown one: no clock but a wrong one wrote it."""
    if record.entry.moment > now + _CLOCK_ERROR_SECONDS:
        return replace(record, entry=replace(record.entry, fetched_at=None))
    return record


def _is_held(archive: Archive, record: Record) -> bool:
    """Tell whether the same capture came before, as where files overlap."""
    return record.entry.fetched_at is not None and archive.holds(record)


def _without_body(record: Record, meta: ArchiveMeta) -> Record:
    entry = record.entry
    if record.body is None or kind_of(entry, meta.types) is not Kind.TARGET:
        return record
    # A sitemap or a feed is small, and as a start URL it lists links.
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
    if not partial.exists() or holds_nothing(partial):
        return
    if not (partial / FILE_NAME).is_file():
        raise UsageError(f"{partial} is in the way; Coati would build the archive there")
    lock_archive(partial).release()
    shutil.rmtree(partial)


def _move(partial: Path, destination: Path) -> None:
    if not (destination / FILE_NAME).is_file():
        partial.rename(destination)
        return
    # A name that nothing else has: SITE.old may be a copy that the user keeps.
    old = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", suffix=".replaced", dir=destination.parent))
    kept = destination.rename(old / destination.name)
    try:
        partial.rename(destination)
    except BaseException:
        # Not even an interruption takes an archive away without another in its place.
        if not destination.exists():
            kept.rename(destination)
            old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)
