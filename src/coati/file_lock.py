"""One writer at a time: a lock that the kernel releases when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FileHeldError(OSError):
    """Another process holds the lock; ``holder`` is its id, where the file says it."""

    def __init__(self, holder: int | None) -> None:
        super().__init__("another process holds the lock")
        self.holder = holder


class FileLock:
    """Held from construction to `release`. The file stays; only the kernel's lock on it means anything.

    ``names_holder``: the file is made where it is missing, and says who holds it. Raises `FileHeldError`.
    """

    def __init__(self, path: Path, *, names_holder: bool = False) -> None:
        flags = os.O_RDWR | os.O_CREAT if names_holder else os.O_RDONLY
        self._descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip() if names_holder else ""
            os.close(self._descriptor)
            raise FileHeldError(int(holder) if holder.isdecimal() else None) from error
        if names_holder:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._descriptor)


def is_held(path: Path) -> bool:
    """Tell whether a process holds the lock; one that was killed holds it no more."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
