"""Export as one WARC file, for tools that take no folder of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.exports.new_file import new_file


def export_warc(archive: Archive, path: Path) -> int:
    """Join the volumes of an archive in one new file; return its size in bytes.

    All captures are in it, those of one URL at several moments too.
    """
    with new_file(path) as partial, partial.open("wb") as joined:
        for volume in archive.volume_paths():
            with volume.open("rb") as file:
                shutil.copyfileobj(file, joined)
    return path.stat().st_size
