"""The WARC files of an archive: append a member, read one at its place.

A volume is closed at about a gigabyte and the next one begun, as other tools do it. Nothing that
was written is ever changed; only an unfinished end that a crash left is cut off.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from coati.archive.warc_record import write_warcinfo

FOLDER_NAME = "warc"

# Where the next volume is begun; tools for WARC files expect about this.
MAX_VOLUME_BYTES = 1_000_000_000

_CLOSED = -1
_VOLUME_NAME = re.compile(r"coati-(\d{5,})\.warc\.gz\Z")


class RecordPlace(NamedTuple):
    """The place of a member: its volume, its first byte, its length."""

    volume: str
    offset: int
    length: int


class Volumes:
    """The volumes in one folder; ``info`` goes into the first record of each new one."""

    def __init__(self, folder: Path, info: dict[str, str], max_volume_bytes: int) -> None:
        self.folder = folder
        self._info = info
        self._max_volume_bytes = max_volume_bytes
        self._descriptors: dict[str, int] = {}
        self._tail = _CLOSED
        self._tail_name = ""
        self._tail_bytes = 0

    def names(self) -> list[str]:
        """List the volumes in the order in which they were begun."""
        try:
            found = [entry.name for entry in os.scandir(self.folder) if entry.is_file()]
        except FileNotFoundError:
            return []
        numbered = [(int(match[1]), name) for name in found if (match := _VOLUME_NAME.match(name))]
        return [name for _, name in sorted(numbered)]

    def path(self, name: str) -> Path:
        return self.folder / name

    def size(self, name: str) -> int:
        """Return the bytes of a volume; 0 where it is gone."""
        try:
            return self.path(name).stat().st_size
        except FileNotFoundError:
            return 0

    def continue_in(self, name: str) -> None:
        """Append to this volume next, if it has room; it must end with a whole member."""
        self._tail = os.open(self.path(name), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._tail_name = name
        self._tail_bytes = self.size(name)

    def append(self, member: bytes, before: bytes = b"") -> RecordPlace:
        """Write a member and hand it to the operating system; it outlives a killed process.

        ``before`` is written with it, in the same volume; its place is never needed.
        """
        if self._tail == _CLOSED or self._tail_bytes >= self._max_volume_bytes:
            self._begin_volume()
        offset = self._tail_bytes + len(before)
        self._write(before + member)
        return RecordPlace(self._tail_name, offset, len(member))

    def cut(self, name: str, size: int) -> None:
        """Cut off everything after ``size`` bytes: the end of a member that was never finished."""
        os.truncate(self.path(name), size)

    def read(self, place: RecordPlace) -> bytes:
        """Return the bytes at a place; fewer where the volume has been cut off."""
        descriptor = self._descriptors.get(place.volume)
        if descriptor is None:
            descriptor = os.open(self.path(place.volume), os.O_RDONLY | os.O_CLOEXEC)
            self._descriptors[place.volume] = descriptor
        return os.pread(descriptor, place.length, place.offset)

    def close(self) -> None:
        """Close all files; what was appended is on the disk afterwards."""
        self._close_tail()
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()

    def _begin_volume(self) -> None:
        self._close_tail()
        names = self.names()
        last = _VOLUME_NAME.match(names[-1]) if names else None
        self._tail_name = f"coati-{int(last[1]) + 1 if last else 1:05}.warc.gz"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._tail = os.open(self.path(self._tail_name), flags, 0o666)
        self._tail_bytes = 0
        self._write(write_warcinfo({**self._info, "filename": self._tail_name}))

    def _write(self, member: bytes) -> None:
        rest = memoryview(member)
        try:
            while rest:
                rest = rest[os.write(self._tail, rest) :]
        except BaseException:
            # A full disk must not leave half a member in front of the next one.
            os.ftruncate(self._tail, self._tail_bytes)
            raise
        self._tail_bytes += len(member)

    def _close_tail(self) -> None:
        if self._tail != _CLOSED:
            os.fsync(self._tail)
            os.close(self._tail)
            self._tail = _CLOSED
