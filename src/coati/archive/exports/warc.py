"""Export as one WARC file, for tools that take no folder of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from coati.archive.archive import Archive
from coati.errors import UsageError


def export_warc(archive: Archive, path: Path) -> int:
    """Join the volumes of an archive in one new file; returns its size in bytes.

    All captures are in it, those of one URL at several moments too.
    """
    if path.exists():
        raise UsageError(f"{path} already exists")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as joined:
            for volume in archive.volume_paths():
                with volume.open("rb") as file:
                    shutil.copyfileobj(file, joined)
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return path.stat().st_size
