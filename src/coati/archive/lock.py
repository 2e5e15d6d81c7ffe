"""One writer at a time: two would cut off each other's ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from coati.archive.description import FILE_NAME
from coati.errors import ArchiveError


class WriteLock:
    """The right to write an archive; it goes with the process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            raise ArchiveError(f"the archive {folder} is open for writing elsewhere") from error

    def release(self) -> None:
        os.close(self._descriptor)
