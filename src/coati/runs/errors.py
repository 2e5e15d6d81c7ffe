"""What can go wrong with a run folder.

CoatiError
└── RunError                 a run folder cannot be used
    ├── NoRunError             there is no run in this folder
    ├── RunLockedError         another process is writing this run
    ├── RunVersionError        the run was written by a version that this one cannot follow
    ├── RunMismatchError       the log was not made by this strategy with these settings
    └── RunWriteError          the disk is full or fails; what was counted is safe, the run can be resumed
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coati.errors import CoatiError
from coati.machine_errors import is_full


class RunError(CoatiError):
    """A run folder cannot be used; the message says which and why."""


class NoRunError(RunError):
    """The folder holds no run."""


class RunLockedError(RunError):
    """Another process is writing this run."""


class RunVersionError(RunError):
    """The run was written by a version of Coati that this one cannot follow."""


class RunMismatchError(RunError):
    """The log was not made by this strategy with these settings, so it cannot be restored."""


class RunWriteError(RunError):
    """Writing failed. Everything that was counted is on disk; the run can be resumed once there is room."""


@contextmanager
def explaining_errors(folder: Path) -> Iterator[None]:
    """Turn what a disk and a database raise into a `RunError` of one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise RunWriteError(_explanation(folder, error)) from error
    except sqlite3.DatabaseError as error:
        # What SQLite calls a plain error is a table that is not there: no trouble of the disk.
        damaged = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
        if isinstance(error, sqlite3.OperationalError) and not damaged:
            raise RunWriteError(_explanation(folder, error)) from error
        raise RunError(f"the database in {folder} cannot be used: {error}") from error


def _explanation(folder: Path, error: OSError | sqlite3.Error) -> str:
    full = is_full(error)
    what = "the disk is full" if full else "writing failed"
    todo = "make room" if full else "fix this"
    return (
        f"{what} ({error}) in {folder}. Everything that was counted is saved. To continue, {todo} and run"
        f" the same command again"
    )
