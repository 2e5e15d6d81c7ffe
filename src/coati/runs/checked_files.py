"""Whether the files of a run are unchanged: each is compared with its hash, and restored if damaged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from coati.runs.durable import write_whole
from coati.runs.errors import RunWriteError
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
    sha256: str
    state: FileState


def checked_files(reader: RunReader) -> Iterator[CheckedFile]:
    """Read every file of a run against its hash, in the order of names."""
    for name, size_bytes, sha256, url in reader.connection.execute(_FILES):
        yield CheckedFile(name, url or "", sha256, _state(reader.layout.files / name, size_bytes, sha256))


def restore_file(files: Path, file: CheckedFile, body: bytes | Path) -> bool:
    """Put a body in the place of a damaged file; False if it is not what was fetched then.

    A folder that somebody put there stays: who knows what it holds. Raises `RunWriteError` where the disk
    does not take it. The caller holds the lock of the run.
    """
    if (files / file.name).is_dir() or sha256_of(_pieces(body)) != file.sha256:
        return False
    try:
        write_whole(files / file.name, _pieces(body))
    except OSError as error:
        raise RunWriteError(f"{files / file.name} could not be written: {error}") from error
    return True


def sha256_of(pieces: Iterable[bytes]) -> str:
    """Return the hash of some bytes in pieces."""
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()


def _pieces(body: bytes | Path) -> Iterator[bytes]:
    if isinstance(body, bytes):
        yield body
        return
    with body.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _state(path: Path, size_bytes: int, sha256: str) -> FileState:
    try:
        if not path.is_file():
            return FileState.MISSING
        if path.stat().st_size != size_bytes:
            return FileState.CHANGED
        return FileState.WHOLE if sha256_of(_pieces(path)) == sha256 else FileState.CHANGED
    except OSError:
        return FileState.UNREADABLE
