"""The pages of a run as one WARC file: each record a gzip member of its own, appended and never changed.

A response stands behind its request, and both are written together.

The database says where each record stands, and is written after the record. So a process that dies between
the two leaves a tail that nobody knows; it is cut off when the run is opened again. After a power cut it may
be the other way round, since the two files reach the disk at different times: then the last records are
checked, and those that did not make it are struck from the database.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from coati.archive.gzip_members import member_length
from coati.archive.record import Entry, Record
from coati.archive.warc_record import write_member, write_warcinfo
from coati.runs.fetched import Fetched


class PagePlace(NamedTuple):
    """Where a record stands in the file."""

    offset: int
    length: int


class PageWarc:
    """Appends records of the same form as an archive's. A new file begins with a ``warcinfo`` record."""

    def __init__(self, path: Path, software: str) -> None:
        path.parent.mkdir(exist_ok=True)
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._end = os.fstat(self._descriptor).st_size
        self._synced = 0
        self._software = software

    @property
    def end(self) -> int:
        """How many bytes the file has."""
        return self._end

    @property
    def synced(self) -> int:
        """How many of them are known to be on the disk."""
        return self._synced

    def cut(self, end: int) -> None:
        """Drop what stands after ``end``."""
        if end < self._end:
            os.ftruncate(self._descriptor, end)
            self._end = end

    def holds(self, place: PagePlace, after: int) -> bool:
        """Tell whether a whole record stands at a place, and only whole ones between ``after`` and there."""
        offset = after
        with self._path.open("rb") as file:
            try:
                while offset < place.offset:
                    offset += member_length(file, offset)
                return offset == place.offset and member_length(file, offset) == place.length
            except ValueError:
                return False

    def append(self, fetched: Fetched, status: int, body: bytes) -> tuple[PagePlace, str]:
        """Write a response; return its place and its body's SHA-256. A full disk changes nothing."""
        if self._end == 0:
            self._write(write_warcinfo({"software": self._software, "format": "WARC File Format 1.1"}))
        media_type = fetched.header("content-type")
        entry = Entry(fetched.request.url, status, media_type, len(body), fetched_at=fetched.started_at)
        member = write_member(Record(entry, fetched.headers, body, fetched.sent))
        start, length = self._write(member.request + member.data)
        ahead = len(member.request)
        return PagePlace(start + ahead, length - ahead), member.body_digest

    def sync(self) -> None:
        """Wait until everything is on the disk; another thread may append meanwhile."""
        end = self._end
        if self._synced != end:
            os.fsync(self._descriptor)
            self._synced = max(self._synced, end)

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, member: bytes) -> PagePlace:
        place = PagePlace(self._end, len(member))
        at = 0
        try:
            while at < len(member):
                at += os.pwrite(self._descriptor, member[at:] if at else member, self._end + at)
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(member)
        return place
