"""Longer delays and pauses that hosts asked for or made necessary; a resumed run keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from sqlite3 import Connection

from coati.pacing.host_pace import HostPause
from coati.times import from_iso, to_iso

_KEEP = """
INSERT INTO hosts (host, delay_seconds, rests_until) VALUES (?, ?, ?)
ON CONFLICT (host) DO UPDATE SET delay_seconds = excluded.delay_seconds, rests_until = excluded.rests_until
"""

_END = """
INSERT INTO hosts (host, ended) VALUES (?, ?) ON CONFLICT (host) DO UPDATE SET ended = excluded.ended
"""

# Somebody may ask to be left alone for longer than there are dates.
_LAST_TIME = 253_402_300_799.0


class HostPauses:
    """The pauses of one run's hosts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def keep(self, pauses: Mapping[str, HostPause]) -> None:
        """Keep what is new of hosts; call it within a transaction."""
        rows = [(host, pause.delay_seconds, _written(pause.rests_until)) for host, pause in pauses.items()]
        self._connection.executemany(_KEEP, rows)

    def end(self, reasons: Mapping[str, str]) -> None:
        """Keep why hosts got no more requests, in place of what earlier sessions said."""
        self._connection.execute("UPDATE hosts SET ended = NULL")
        self._connection.executemany(_END, reasons.items())

    def known(self) -> dict[str, HostPause]:
        """Return what was kept."""
        rows = self._connection.execute("SELECT host, delay_seconds, rests_until FROM hosts")
        return {
            host: HostPause(delay, None if until is None else from_iso(until)) for host, delay, until in rows
        }


def _written(until: float | None) -> str | None:
    return None if until is None else to_iso(min(until, _LAST_TIME))
