"""Whether the files of a run are still what was fetched: each is read against its hash."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coati.runs.reader import RunReader

_FILES = """
SELECT name, size_bytes, sha256, (SELECT url FROM targets WHERE file = name ORDER BY request LIMIT 1)
FROM files ORDER BY name
"""
_PIECE_BYTES = 1 << 20


class FileState(StrEnum):
    """What has become of a file."""

    WHOLE = "whole"
    MISSING = "missing"
    CHANGED = "changed"
    UNREADABLE = "unreadable"


class CheckedFile(NamedTuple):
    """A file of a run, and the URL that it was first fetched from."""

    name: str
    url: str
    state: FileState


def checked_files(reader: RunReader) -> Iterator[CheckedFile]:
    """Read every file of a run against its hash, in the order of names."""
    for name, size_bytes, sha256, url in reader.connection.execute(_FILES):
        yield CheckedFile(name, url or "", _state(reader.layout.files / name, size_bytes, sha256))


def _state(path: Path, size_bytes: int, sha256: str) -> FileState:
    try:
        if not path.is_file():
            return FileState.MISSING
        if path.stat().st_size != size_bytes:
            return FileState.CHANGED
        found = hashlib.sha256()
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                found.update(piece)
    except OSError:
        return FileState.UNREADABLE
    return FileState.WHOLE if found.hexdigest() == sha256 else FileState.CHANGED
