"""A host that asked for a longer pause than a run waits: until when, and how to wait."""

from __future__ import annotations

import math
from sqlite3 import Connection

from coati.times import format_moment, from_iso

_RESTING = """
SELECT host, rests_until, ended_at FROM hosts, (SELECT max(ended_at) AS ended_at FROM sessions)
WHERE rests_until > ended_at ORDER BY rests_until DESC, host LIMIT 1
"""
_HOUR = 3600.0


def long_pause(connection: Connection) -> str | None:
    """Say until when the run's host wants no requests; None if it wants them, or the pause is short."""
    row = connection.execute(_RESTING).fetchone()
    if row is None:
        return None
    host, until, ended_at = row
    seconds = from_iso(until) - from_iso(ended_at)
    if seconds < _HOUR / 60:
        return None
    return (
        f"{host} asks for no requests before {format_moment(until)}. Run the same command then, or let the"
        f" run wait: --limits max_retry_after_seconds={math.ceil(seconds / _HOUR)}h."
    )
