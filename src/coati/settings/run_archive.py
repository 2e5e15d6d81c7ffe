"""The archive that a run stores its responses in (``--archive``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.archive.archive import Archive
from coati.archive.description import FILE_NAME
from coati.archive.record import ArchiveMeta
from coati.machine_errors import writing_to
from coati.web.media import parse_types

if TYPE_CHECKING:
    from pathlib import Path

    from coati.settings.run_settings import RunSettings


def writable_archive(folder: Path, settings: RunSettings, name: str, origin: str) -> Archive:
    """Open the archive in a folder for writing; one that is not there yet is made, under a name."""
    with writing_to(folder):
        if (folder / FILE_NAME).is_file():
            return Archive.open(folder, writable=True)
        types = parse_types(settings.types)
        return Archive.create(folder, ArchiveMeta(name, settings.url, types=types, origin=origin))
