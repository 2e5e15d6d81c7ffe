"""A site on disk that can be replayed: WARC files for the records, an index to find them.

The bytes of a record are handed to the operating system before its row in the index is, so a crash
loses no record that `Archive.add` returned for: what the index does not know yet is indexed when the
archive is next opened for writing, and an unfinished end is cut off. The WARC files alone are
enough to build the index again (`reindex`).

An archive may hold a URL at several moments: a history. Each look-up takes a time (``as_of``) and returns the
newest capture that is not later; without one, the newest of all. An answer that may pass, such as an outage,
does not count beside one that lasts (`coati.archive.record.Entry.passing`).
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from coati.archive import index, recovery, volumes, warc_record
from coati.archive.description import FILE_NAME as DESCRIPTION
from coati.archive.description import lock_archive, read_description, upgrade_description, write_description
from coati.archive.index import Index, IndexRow
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.volumes import RecordPlace, Volumes
from coati.errors import CorruptRecordError, NotArchivedError, UsageError
from coati.file_lock import FileLock
from coati.version import __version__

# A replay requests most URLs, and the same ones again for each strategy and seed. So after some
# look-ups a reader takes the whole index into memory, if it has no more rows than this: reading them in
# order is three times as fast as one by one, and they take 0.7 kB each.
_MAX_ROWS_KEPT = 1 << 17
_LOOK_UPS_BEFORE_ALL = 1000


class StoredCapture(NamedTuple):
    """A capture and the place of its record; ``refers``: another capture of the URL holds its body."""

    entry: Entry
    place: RecordPlace
    body_digest: str
    refers: bool


class Archive:
    """One site; make it with `create` or `open`, and close it or use it in a ``with`` block.

    An archive has one writer at a time and any number of readers. A reader sees what was there when
    it opened the archive, and perhaps more.
    """

    def __init__(
        self, folder: Path, meta: ArchiveMeta, rows: Index, records: Volumes, lock: FileLock | None
    ) -> None:
        self.folder = folder
        self.meta = meta
        self._index = rows
        self._volumes = records
        self._lock = lock
        self._kept: dict[str, IndexRow] = {}
        # All captures of URLs that were read as of a time before their newest one.
        self._histories: dict[str, Sequence[IndexRow]] = {}
        self._look_ups = 0
        self._all_kept = False

    @classmethod
    def create(cls, folder: Path, meta: ArchiveMeta) -> Archive:
        """Begin an archive in a folder that is new or empty, open for writing."""
        if folder.exists() and not holds_nothing(folder):
            raise UsageError(f"{folder} already exists and is not an empty folder")
        (folder / volumes.FOLDER_NAME).mkdir(parents=True, exist_ok=True)
        for begun in folder.glob(index.FILE_NAME + "*"):
            begun.unlink()
        # The description comes last: a folder that has one is an archive.
        rows = Index.create(folder / index.FILE_NAME)
        write_description(folder, meta)
        lock = lock_archive(folder)
        return cls(folder, meta, rows, _volumes(folder, meta), lock)

    @classmethod
    def open(cls, folder: Path, *, writable: bool = False) -> Archive:
        """Open an archive; raise `ArchiveError` that says what is wrong where that cannot be.

        ``writable`` also puts right what a crash left behind.
        """
        meta = read_description(folder)
        lock = lock_archive(folder) if writable else None
        try:
            if writable:
                upgrade_description(folder, meta)
            rows = Index.open(folder / index.FILE_NAME, writable=writable)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        archive = cls(folder, meta, rows, _volumes(folder, meta), lock)
        if lock is not None:
            try:
                archive._recover()
            except BaseException:
                rows.close()
                lock.release()
                raise
        return archive

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Count the URLs."""
        return len(self._index)

    def close(self) -> None:
        """Close all files; what was added is on the disk afterwards."""
        self._volumes.close()
        if self._lock is None:
            self._index.close()
            return
        if self._index.fact("digest") is None:
            self._index.keep_fact("digest", self._work_out_digest())
        self._index.close(written=True)
        self._lock.release()

    def entry(self, url: str, as_of: float | None = None) -> Entry | None:
        """Look a URL up in the index; None where nothing is archived of it."""
        row = self._find(url, as_of)
        return None if row is None else row.entry

    def entries(self) -> Iterator[Entry]:
        """Return the newest capture of every URL, in the order in which they were (last) added."""
        for row in self._index.rows():
            yield row.entry

    def captures(self, url: str) -> list[Entry]:
        """List what is held of a URL, oldest first."""
        return [row.entry for row in self._history(url)]

    def holds(self, record: Record) -> bool:
        """Tell whether the same capture is there: of the same time, with the same body."""
        digest = "" if record.body is None else hashlib.sha256(record.body).hexdigest()
        return self._index.holds(record.entry, digest)

    def older_entries(self) -> Iterator[Entry]:
        """Return all captures but the newest of each URL, by URL and time; none where there is no history."""
        for row in self._index.older():
            yield row.entry

    def held(self) -> Iterator[StoredCapture]:
        """Yield all captures with their places in the WARC files."""
        for row in chain(self._index.rows(), self._index.older()):
            holder = self._index.holder(row.entry.url, row.body_digest) if row.body_digest else None
            refers = holder is not None and holder.place != row.place
            yield StoredCapture(row.entry, row.place, row.body_digest, refers)

    def count_captures(self) -> int:
        """Count what is held: each URL as often as it was captured."""
        return self._index.count_captures()

    def span(self) -> tuple[float, float] | None:
        """Return when the first and the last capture was made; None where no time is known."""
        return self._index.span()

    def moments(self) -> list[float]:
        """Return every time at which something was captured, in order."""
        known = (entry.fetched_at for entry in chain(self.entries(), self.older_entries()))
        return sorted({moment for moment in known if moment is not None})

    def bodies(self) -> int:
        """Count the URLs that have their body, and do not just say how large it was."""
        return self._index.count_bodies()

    def volume_paths(self) -> list[Path]:
        """List the WARC files, oldest first."""
        return [self._volumes.path(name) for name in self._volumes.names()]

    def body(self, url: str, as_of: float | None = None) -> bytes:
        """Return the decoded body of a URL.

        Raises `NotArchivedError` where there is no record or its body was left out, and
        `CorruptRecordError` where it cannot be read.
        """
        row = self._need(url, as_of)
        if row.body_bytes is None:
            raise NotArchivedError(f"the body of {url} was left out of the archive {self.folder}")
        return self._body(row, row.body_bytes)

    def record(self, url: str, as_of: float | None = None) -> Record:
        """Return everything that is archived of a URL; raises as `body` does."""
        return self._read(self._need(url, as_of)).record

    def check(self, url: str, as_of: float | None = None) -> None:
        """Read a record against its digest and its row; raise `CorruptRecordError`."""
        self._check(self._need(url, as_of))

    def check_all(self) -> Iterator[tuple[Entry, CorruptRecordError | None]]:
        """Check every capture, and say what is wrong with it."""
        for row in chain(self._index.rows(), self._index.older()):
            try:
                self._check(row)
            except CorruptRecordError as error:
                yield row.entry, error
            else:
                yield row.entry, None

    def add(self, record: Record) -> None:
        """Append a capture; the others of its URL stay. A body that one of them holds is not stored again."""
        if self._lock is None:
            raise UsageError(f"the archive {self.folder} is not open for writing")
        holder = self._holder_of_same(record)
        member = warc_record.write_member(record, holder)
        place = self._volumes.append(member.data, before=member.request)
        row = IndexRow(member.entry, place, member.body_bytes, member.body_digest)
        self._index.add(row, refers=holder is not None)

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Add many records faster: readers see them all together, at the end."""
        with self._index.bulk():
            yield

    def digest(self) -> str:
        """Name the content: equal for archives that answer every request in the same way."""
        return self._index.fact("digest") or self._work_out_digest()

    def _work_out_digest(self) -> str:
        total = hashlib.sha256()
        for row in self._index.rows(by_url=True):
            total.update(json.dumps((row.entry.url, *_digest_fields(row))).encode() + b"\n")
        # Where a URL has a history, the answer depends on the time too.
        for url, rows in groupby(self._index.older(), key=lambda row: row.entry.url):
            for row in (*rows, self._need(url)):
                total.update(json.dumps((url, row.entry.fetched_at, *_digest_fields(row))).encode() + b"\n")
        return total.hexdigest()

    def _find(self, url: str, as_of: float | None = None) -> IndexRow | None:
        row = self._kept.get(url)
        if row is None and not self._all_kept:
            row = self._look_up(url)
        if as_of is None or row is None or row.entry.moment <= as_of:
            return row
        return _latest(self._history(url), as_of)

    def _history(self, url: str) -> Sequence[IndexRow]:
        """Return all captures of a URL, oldest first; readers keep them."""
        rows = self._histories.get(url)
        if rows is None:
            rows = self._index.captures(url)
            if self._lock is None:
                if len(self._histories) >= _MAX_ROWS_KEPT:
                    self._histories.clear()
                self._histories[url] = rows
        return rows

    def _look_up(self, url: str) -> IndexRow | None:
        if self._lock is not None:
            return self._index.find(url)
        self._look_ups += 1
        if self._look_ups == _LOOK_UPS_BEFORE_ALL and len(self) <= _MAX_ROWS_KEPT:
            self._kept = {row.entry.url: row for row in self._index.rows()}
            self._all_kept = True
            return self._kept.get(url)
        row = self._index.find(url)
        if len(self._kept) >= _MAX_ROWS_KEPT:
            self._kept.clear()
        if row is not None:
            self._kept[url] = row
        return row

    def _need(self, url: str, as_of: float | None = None) -> IndexRow:
        row = self._find(url, as_of)
        if row is None:
            raise NotArchivedError(f"{url} is not in the archive {self.folder}")
        return row

    def _check(self, row: IndexRow) -> None:
        reading = self._read(row)
        body = reading.record.body
        digest = "" if body is None else hashlib.sha256(body).hexdigest()
        if not digest == row.body_digest == reading.digest_claimed:
            raise self._corrupt(row, "its body does not match its digest")
        if reading.record.entry != row.entry:
            raise self._corrupt(row, "it does not say what the index says")

    def _holder_of_same(self, record: Record) -> Entry | None:
        """Return a capture of the same URL that holds the same body; None where it has to be written."""
        url = record.entry.url
        if not record.body or not record.entry.status or self._index.find(url) is None:
            return None
        holder = self._index.holder(url, hashlib.sha256(record.body).hexdigest())
        return None if holder is None else holder.entry

    def _body(self, row: IndexRow, body_bytes: int) -> bytes:
        try:
            body = warc_record.read_body(self._member(row), body_bytes)
            if body is None:
                body = warc_record.read_body(self._member(self._holder(row)), body_bytes)
        except ValueError as error:
            raise self._corrupt(row, error) from error
        if body is None:
            raise self._corrupt(row, "the body that it refers to is lost")
        return body

    def _holder(self, row: IndexRow) -> IndexRow:
        """Return the capture whose record holds the body of another."""
        holder = self._index.holder(row.entry.url, row.body_digest)
        if holder is None:
            raise self._corrupt(row, "the body that it refers to is lost")
        return holder

    def _read(self, row: IndexRow) -> warc_record.StoredRecord:
        try:
            reading = warc_record.read_member(self._member(row))
        except ValueError as error:
            raise self._corrupt(row, error) from error
        if reading is None:
            raise self._corrupt(row, "it is a record of another type")
        if reading.refers and row.body_bytes is not None:
            body = self._body(row, row.body_bytes)
            reading = reading._replace(record=replace(reading.record, body=body))
        return reading

    def _member(self, row: IndexRow) -> bytes:
        try:
            member = self._volumes.read(row.place)
        except OSError as error:
            raise self._corrupt(row, error) from error
        if len(member) != row.place.length:
            raise self._corrupt(row, "the file ends before it")
        return member

    def _corrupt(self, row: IndexRow, reason: object) -> CorruptRecordError:
        path = self._volumes.path(row.place.volume)
        return CorruptRecordError(
            f"{path}: the record of {row.entry.url} at byte {row.place.offset} cannot be read: {reason}"
        )

    def _recover(self) -> None:
        """Index what was written before a crash, and continue in the last volume if it is sound."""
        sound = ""
        for name in self._volumes.names():
            known = self._index.indexed_bytes(name)
            size = self._volumes.size(name)
            if size > known:
                recovery.index_volume(self._index, self._volumes, name)
            sound = name if size >= known else ""
        if sound:
            self._volumes.continue_in(sound)


def _digest_fields(row: IndexRow) -> tuple[object, ...]:
    """Return what a capture answers, without its URL and time."""
    entry = row.entry
    kind = None if entry.kind is None else entry.kind.value
    return (entry.status, entry.media_type, entry.size_bytes, kind, entry.location, row.body_digest)


def _latest(rows: Sequence[IndexRow], as_of: float) -> IndexRow | None:
    """Return the newest of some captures that is not later than a time; one that lasts, if there is one.

    They are in the order of time: a history has hundreds per page, and is read at each of their moments.
    """
    known = bisect_right(rows, as_of, key=lambda row: row.entry.moment)
    lasting = (rows[place] for place in range(known - 1, -1, -1) if not rows[place].entry.passing)
    return next(lasting, rows[known - 1] if known else None)


def _volumes(folder: Path, meta: ArchiveMeta) -> Volumes:
    info = {
        "software": f"coati/{__version__}",
        "format": "WARC File Format 1.1",
        "isPartOf": meta.name,
        "description": f"records of {meta.start_url}",
    }
    return Volumes(folder / volumes.FOLDER_NAME, info, volumes.MAX_VOLUME_BYTES)


def holds_nothing(folder: Path) -> bool:
    """Tell whether a folder holds nothing, or what a process leaves that was killed while it began one."""
    if not folder.is_dir():
        return False
    begun = (volumes.FOLDER_NAME, DESCRIPTION + ".new")
    names = {entry.name for entry in folder.iterdir()}
    left = {name for name in names if name not in begun and not name.startswith(index.FILE_NAME)}
    records = folder / volumes.FOLDER_NAME
    return not left and not (records.is_dir() and any(records.iterdir()))
