"""A log of a run opened for reading, wherever it is: beside a crawl that writes it, or on a read-only medium.

A crawl that ends leaves one file. One that was killed leaves a second one beside it with its last events, and
SQLite puts these together by writing. Where it may not, that is done in a copy. A log of the former
version is migrated in a copy, too.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import ExitStack
from pathlib import Path

from coati.runs.schema import migrate

# What SQLite says where it would have to write to be able to read; the lower byte of an extended code.
_NEEDS_WRITING = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})
_PRIMARY_CODE = 0xFF


def connect_to_read(database: Path, closing: ExitStack) -> sqlite3.Connection:
    """Open a database without changing it; ``closing`` closes it, and removes a copy that was needed."""
    try:
        return _connected(database, "mode=ro", closing)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & _PRIMARY_CODE not in _NEEDS_WRITING or not database.is_file():
            raise
    return _connected(_copied(database, closing), "mode=rw", closing)


def migrated_copy(connection: sqlite3.Connection, closing: ExitStack) -> sqlite3.Connection:
    """Copy a log of the former version and bring the copy to ours; ``closing`` removes it."""
    folder = closing.enter_context(tempfile.TemporaryDirectory(prefix="coati-read-"))
    copy = sqlite3.connect(Path(folder) / "run.sqlite", isolation_level=None)
    closing.callback(copy.close)
    # Nobody needs the copy after a power cut.
    copy.execute("PRAGMA synchronous = OFF")
    connection.backup(copy)
    migrate(copy)
    return copy


def connect_immutable(database: Path, closing: ExitStack) -> sqlite3.Connection:
    """Open a database that nobody writes meanwhile, which spares SQLite's locks."""
    return _connected(database, "mode=ro&immutable=1", closing)


def _connected(database: Path, options: str, closing: ExitStack) -> sqlite3.Connection:
    uri = f"{database.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    closing.callback(connection.close)
    # Nothing is opened before the first query.
    connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    return connection


def _copied(database: Path, closing: ExitStack) -> Path:
    folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="coati-read-")))
    for suffix in ("", "-wal", "-journal"):
        part = database.with_name(database.name + suffix)
        if part.exists():
            shutil.copyfile(part, folder / part.name)
    return folder / database.name
