"""One writer a run: a lock that the kernel releases when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from coati.runs.errors import RunLockedError

if TYPE_CHECKING:
    from pathlib import Path


class WriterLock:
    """Held from construction to `release`. The file stays; only the kernel's lock on it means anything."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise RunLockedError(
                f"{path.parent.parent} is being written by {who}; wait for it, or choose another folder"
            ) from error
        # For the message above only.
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._descriptor)
