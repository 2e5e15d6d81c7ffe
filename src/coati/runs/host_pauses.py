"""What hosts asked for or made necessary: a longer delay, a rest. A run that goes on keeps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coati.runs.times import from_iso, to_iso

if TYPE_CHECKING:
    from sqlite3 import Connection

_KEEP_DELAY = """
INSERT INTO hosts (host, delay_seconds) VALUES (?, ?)
ON CONFLICT (host) DO UPDATE SET delay_seconds = excluded.delay_seconds
"""
_KEEP_REST = """
INSERT INTO hosts (host, rests_until) VALUES (?, ?)
ON CONFLICT (host) DO UPDATE SET rests_until = excluded.rests_until
"""


class HostPause(NamedTuple):
    """The seconds between two requests to a host, and until when it must not be asked at all."""

    delay_seconds: float | None = None
    rests_until: float | None = None


class HostPauses:
    """The pauses of one run's hosts; the two that keep are called within a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def keep_delay(self, host: str, seconds: float | None) -> None:
        """Keep a delay; None: the usual one again."""
        self._connection.execute(_KEEP_DELAY, (host, seconds))

    def keep_rest(self, host: str, until: float) -> None:
        """Keep until when a host rests, in seconds since the epoch."""
        self._connection.execute(_KEEP_REST, (host, to_iso(until)))

    def known(self) -> dict[str, HostPause]:
        """Give what was kept."""
        rows = self._connection.execute("SELECT host, delay_seconds, rests_until FROM hosts")
        return {
            host: HostPause(delay, None if until is None else from_iso(until)) for host, delay, until in rows
        }
