"""Write files so that they are complete or absent, whatever happens to the process or the power."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Put a file in place of the old one; a reader sees the old one or the new one, never a part."""
    draft = path.with_name(path.name + ".new")
    write_synced(draft, chunks)
    draft.replace(path)
    sync_folder(path.parent)


def write_json_lines(path: Path, objects: Iterable[Mapping[str, object]]) -> None:
    """Put a file with one JSON object per line in place of the old one."""
    lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
    # Half a pair of surrogates, as in the name of a file that is not UTF-8, becomes an escape of JSON.
    write_whole(path, (line.encode(errors="backslashreplace") for line in lines))


def write_synced(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file and wait for the disk; what was written of it is removed if that fails."""
    try:
        with path.open("wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        # On a full disk the part would only be in the way.
        with suppress(OSError):
            path.unlink()
        raise


def append_lines(path: Path, lines: bytes) -> None:
    """Append whole lines and wait for the disk; half a line that a power cut left is ended first."""
    with path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            lines = lines if file.read(1) == b"\n" else b"\n" + lines
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def sync_file(path: Path) -> None:
    """Wait until a file's bytes are on the disk."""
    _sync(path, os.O_RDONLY)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
