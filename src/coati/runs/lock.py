"""One writer per run."""

from __future__ import annotations

from coati.file_lock import FileHeldError, FileLock
from coati.runs.errors import RunLockedError, explaining_errors
from coati.runs.layout import Layout


def lock_run(layout: Layout) -> FileLock:
    """Take the right to write a run; raises `RunLockedError` where another process has it."""
    with explaining_errors(layout.folder):
        try:
            return FileLock(layout.lock, names_holder=True)
        except FileHeldError as error:
            who = "another process" if error.holder is None else f"process {error.holder}"
            raise RunLockedError(
                f"{layout.folder} is in use by {who}; wait for it, or choose another folder"
            ) from error
