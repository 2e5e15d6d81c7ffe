"""The table ``sessions``: when a run was worked on, and why each session stopped."""

from __future__ import annotations

from sqlite3 import Connection

from coati.stop_reasons import StopReason
from coati.times import from_iso, to_iso
from coati.version import __version__

# A session that was killed ended with the last thing that it recorded.
_END_OLD = """
UPDATE sessions SET stop_reason = ?, ended_at = max(started_at, coalesce(
    (SELECT max(finished_at) FROM requests), (SELECT max(chosen_at) FROM requests), started_at))
WHERE ended_at IS NULL
"""


class Session:
    """The session that begins now; make it within a transaction."""

    def __init__(self, connection: Connection, now: float) -> None:
        self._connection = connection
        connection.execute(_END_OLD, (StopReason.KILLED,))
        spans = connection.execute("SELECT started_at, ended_at FROM sessions")
        self.seconds_before = sum(from_iso(end) - from_iso(start) for start, end in spans)
        begin = "INSERT INTO sessions (started_at, coati) VALUES (?, ?)"
        self._id = connection.execute(begin, (to_iso(now), __version__)).lastrowid

    def end(self, at: float, stop_reason: str | None) -> None:
        """Note when and why it ended, within a transaction; the first call counts."""
        self._connection.execute(
            "UPDATE sessions SET ended_at = ?, stop_reason = ? WHERE id = ? AND ended_at IS NULL",
            (to_iso(at), stop_reason, self._id),
        )
