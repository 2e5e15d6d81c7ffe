"""Reading WARC volumes of ours without an index: after a crash, and to build the index again.

A member is decompressed from its first byte to its own end, so its length is known exactly and its
check sum has been compared. Where that fails, the next gzip signature is tried: damage costs the
members that it touches and no more.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from coati.archive.description import lock_archive, read_description
from coati.archive.gzip_members import SIGNATURE, find, member_length
from coati.archive.index import FILE_NAME, Index, IndexRow
from coati.archive.record import Record
from coati.archive.volumes import FOLDER_NAME, MAX_VOLUME_BYTES, RecordPlace, Volumes
from coati.archive.warc_record import read_member


class FoundRecord(NamedTuple):
    """A whole member; ``record`` is None for one that is not a response (such as ``warcinfo``).

    ``refers`` says that another capture of the URL holds the body with this digest.
    """

    offset: int
    length: int
    record: Record | None
    body_digest: str
    refers: bool = False


class Damage(NamedTuple):
    """Bytes that are not a whole member. ``reaches_end``: nothing readable comes after them."""

    offset: int
    length: int
    reason: str
    reaches_end: bool


def scan_volume(path: Path, start: int = 0) -> Iterator[FoundRecord | Damage]:
    """Read the members of a volume from byte ``start`` on, which must be where one begins."""
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        offset = start
        while offset < size:
            try:
                found = _member_at(file, offset)
            except ValueError as error:
                resumed = _next_member(file, offset + 1)
                end = size if resumed is None else resumed
                yield Damage(offset, end - offset, str(error), reaches_end=resumed is None)
                offset = end
            else:
                yield found
                offset += found.length


def _member_at(file: BinaryIO, offset: int) -> FoundRecord:
    length = member_length(file, offset)
    file.seek(offset)
    reading = read_member(file.read(length))
    if reading is None:
        return FoundRecord(offset, length, None, "")
    if reading.refers:
        return FoundRecord(offset, length, reading.record, reading.digest_claimed, refers=True)
    body = reading.record.body
    digest = "" if body is None else hashlib.sha256(body).hexdigest()
    return FoundRecord(offset, length, reading.record, digest)


def _next_member(file: BinaryIO, start: int) -> int | None:
    """Find the next whole member."""
    offset = find(file, SIGNATURE, start)
    while offset is not None:
        try:
            _member_at(file, offset)
        except ValueError:
            offset = find(file, SIGNATURE, offset + 1)
        else:
            break
    return offset


def index_volume(rows: Index, volumes: Volumes, name: str) -> list[Damage]:
    """Index what the index does not know yet of a volume; cut off an unfinished end.

    Returns the damaged places, the unfinished end among them.
    """
    damages = []
    with rows.bulk():
        for found in scan_volume(volumes.path(name), rows.indexed_bytes(name)):
            if isinstance(found, FoundRecord):
                row = _row(rows, name, found)
                if row is None:
                    rows.mark(name, found.offset + found.length)
                else:
                    rows.add(row, refers=found.refers)
                if row is None and found.refers:
                    lost = "the body that it refers to is lost"
                    damages.append(Damage(found.offset, found.length, lost, reaches_end=False))
            else:
                damages.append(found)
                if found.reaches_end:
                    volumes.cut(name, found.offset)
    return damages


class Rebuilt(NamedTuple):
    """What came of building an index again; ``damages`` by volume."""

    records: int
    damages: list[tuple[str, Damage]]


def rebuild_index(folder: Path) -> Rebuilt:
    """Build the index of an archive from its WARC files alone, and put it in the old one's place."""
    read_description(folder)
    lock = lock_archive(folder)
    draft = folder / (FILE_NAME + ".new")
    try:
        _remove(draft)
        rebuilt = _index_again(Volumes(folder / FOLDER_NAME, {}, MAX_VOLUME_BYTES), draft)
        _remove_logs(folder / FILE_NAME)
        draft.replace(folder / FILE_NAME)
        return rebuilt
    finally:
        _remove(draft)
        lock.release()


def _index_again(volumes: Volumes, draft: Path) -> Rebuilt:
    rows = Index.create(draft)
    try:
        damages = [(name, damage) for name in volumes.names() for damage in index_volume(rows, volumes, name)]
        rebuilt = Rebuilt(len(rows), damages)
    except BaseException:
        rows.close()
        raise
    rows.close(written=True)
    return rebuilt


def _remove(index: Path) -> None:
    index.unlink(missing_ok=True)
    _remove_logs(index)


def _remove_logs(index: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)


def _row(rows: Index, volume: str, found: FoundRecord) -> IndexRow | None:
    """Return the row of a member; None where there is nothing to index, or no longer."""
    record = found.record
    if record is None:
        return None
    body_bytes = None if record.body is None else len(record.body)
    if found.refers:
        holder = rows.holder(record.entry.url, found.body_digest)
        if holder is None:
            return None
        body_bytes = holder.body_bytes
    return IndexRow(
        record.entry, RecordPlace(volume, found.offset, found.length), body_bytes, found.body_digest
    )
