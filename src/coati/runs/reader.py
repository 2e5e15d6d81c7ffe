"""Reading a run folder without touching it: for reports and tables, also while it is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Self

from coati.runs.errors import RunError
from coati.runs.layout import Layout, require_run
from coati.runs.read_only import connect_immutable, connect_to_read, migrated_copy
from coati.runs.schema import is_former, require_version
from coati.runs.settings_file import read_settings
from coati.runs.totals import Totals, read_totals
from coati.stop_reasons import text_for
from coati.times import from_iso

_CURVE = """
SELECT sum(charged) OVER log, sum(new_target) OVER log, sum(size_bytes) OVER log,
       CASE WHEN kind IN ('deferred', 'refused') THEN NULL ELSE score END
FROM requests WHERE observed_event IS NOT NULL
WINDOW log AS (ORDER BY observed_event)
"""
_SKIPS = "SELECT reason, urls FROM skip_counts ORDER BY urls DESC, reason"
_SESSIONS = "SELECT started_at, ended_at, stop_reason, coati FROM sessions ORDER BY id"


class RunPoint(NamedTuple):
    """Where a run stood after one observation; ``score`` is what was promised for that one."""

    requests: int
    targets: int
    bytes: int
    score: float | None


class SessionRow(NamedTuple):
    """One stretch of work on a run; ``ended_at`` is None while it runs, or after a kill."""

    started_at: str
    ended_at: str | None
    stop_reason: str | None
    coati: str

    @property
    def seconds(self) -> float:
        """How long it took; 0 where its end is not known."""
        return 0.0 if self.ended_at is None else from_iso(self.ended_at) - from_iso(self.started_at)


class RunReader:
    """A run folder, read-only. ``connection`` is for questions of one's own; rows have column names.

    ``immutable``: this version wrote the log, and nobody writes it meanwhile. That spares SQLite's locks.
    """

    def __init__(self, folder: Path, *, immutable: bool = False) -> None:
        require_run(folder)
        self.layout = Layout(folder)
        connect = connect_immutable if immutable else connect_to_read
        with ExitStack() as closing:
            try:
                self.connection = connect(self.layout.database, closing)
                if not immutable and is_former(self.connection):
                    self.connection = migrated_copy(self.connection, closing)
                if not immutable:
                    require_version(self.connection, self.layout.database)
            except (sqlite3.Error, OSError) as error:
                raise RunError(f"the database in {folder} cannot be read: {error}") from error
            self._closing = closing.pop_all()
        self.connection.row_factory = sqlite3.Row

    @property
    def open_file(self) -> Path:
        """The file that is read: the log, or a copy of it where SQLite needed one."""
        return Path(self.connection.execute("PRAGMA database_list").fetchone()["file"])

    @property
    def settings(self) -> dict[str, Any]:
        return read_settings(self.layout.settings)

    def totals(self) -> Totals:
        return read_totals(self.connection)

    def curve(self) -> Iterator[RunPoint]:
        """Return what was reached after each observation, in order."""
        return (RunPoint(*row) for row in self.connection.execute(_CURVE))

    def skip_counts(self) -> dict[str, int]:
        """Count the URLs that were not fetched by reason, the most frequent first."""
        return dict(tuple(row) for row in self.connection.execute(_SKIPS))

    def sessions(self) -> list[SessionRow]:
        return [
            SessionRow(began, ended, text_for(reason).brief if reason else None, coati)
            for began, ended, reason, coati in self.connection.execute(_SESSIONS)
        ]

    def close(self) -> None:
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self.close()
        if isinstance(error, sqlite3.Error):
            # What is damaged may lie deep in the file, and is met by whoever reads it.
            raise RunError(f"the database in {self.layout.folder} cannot be read: {error}") from error
