"""What the machine refuses, which is not a bug of ours: a full disk, a file that may not be read."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coati.errors import ArchiveError, ConfigError, WriteError

# No room, no room for this user, larger than a file may be.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED = _FULL | {
    errno.EACCES,
    errno.EBUSY,
    errno.EEXIST,
    errno.EIO,
    errno.EISDIR,
    errno.ELOOP,
    errno.EMFILE,
    errno.ENAMETOOLONG,
    errno.ENFILE,
    errno.ENODEV,
    errno.ENOENT,
    errno.ENOMEM,
    errno.ENOTDIR,
    errno.ENXIO,
    errno.EPERM,
    errno.EROFS,
    errno.ESTALE,
    errno.ETXTBSY,
}

# What SQLite says instead; the codes have further details in their higher bytes.
_NOT_WRITTEN = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
)
_DATABASE_REFUSED = _NOT_WRITTEN | {sqlite3.SQLITE_PERM, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_of_the_machine(error: OSError | sqlite3.Error) -> bool:
    """Tell whether an error comes from the state of the machine, so that a line says it all."""
    if isinstance(error, OSError):
        return error.errno in _REFUSED
    return _code(error) in _DATABASE_REFUSED


def is_full(error: OSError | sqlite3.Error) -> bool:
    """Tell whether there is no room left."""
    return error.errno in _FULL if isinstance(error, OSError) else _code(error) == sqlite3.SQLITE_FULL


def read_bounded(file: Path, most_bytes: int, what: str) -> bytes:
    """Read a file that a user named; raises `ConfigError` where it cannot be read or is too large for it."""
    try:
        with file.open("rb") as opened:
            content = opened.read(most_bytes + 1)
    except OSError as error:
        raise ConfigError(f"the {what} {file} cannot be read: {error.strerror or error}") from None
    if len(content) > most_bytes:
        raise ConfigError(f"{file} is too large for a {what}: {most_bytes >> 20} MiB at most")
    return content


def leave_closed_terminal() -> None:
    """Let what is still to be said go nowhere: a terminal that was closed takes no more, and would raise."""
    for stream in (1, 2):
        with suppress(OSError):  # who has no such stream has nothing to leave
            # A device; `isatty` is false for a terminal that is gone.
            if stat.S_ISCHR(os.fstat(stream).st_mode):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


@contextmanager
def writing_to(place: Path | str) -> Iterator[None]:
    """Name the place that cannot be written, where the error itself does not; raises `WriteError`."""
    try:
        yield
    except (OSError, sqlite3.Error, ArchiveError) as error:
        # An archive that is being written takes its own index for damaged where the disk has no room for it.
        first = _first_refusal(error)
        if first is None:
            raise
        what = "the disk is full" if is_full(first) else "it cannot be written"
        raise WriteError(f"{place}: {what} ({first})") from error


def _first_refusal(error: BaseException | None) -> OSError | sqlite3.Error | None:
    """Return the error that names the trouble: tidying up after it may have raised another one."""
    found: OSError | sqlite3.Error | None = None
    while error is not None:
        if isinstance(error, OSError) and is_full(error):
            found = error
        if isinstance(error, sqlite3.Error) and _code(error) in _NOT_WRITTEN:
            found = error
        error = error.__context__
    return found


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
