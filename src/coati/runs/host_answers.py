"""Which hosts answered a run, and which URLs met an outage: what decides when these are asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coati.model import Deferred, Kind, Method
from coati.runs.outcomes import DEFERRED, REFUSED, OutcomeRow, from_row
from coati.runs.times import from_iso

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

_FIRST_DEFERRED = "SELECT min(observed_event) FROM requests WHERE kind = ?"
# Of a group, SQLite gives the URL of the row with the highest id.
_HEARD = """
SELECT url, max(id) FROM requests
WHERE observed_event < ? AND kind NOT IN (?, ?) AND NOT (kind = 'broken' AND status = 0) GROUP BY host
"""
_SINCE = """
SELECT finished_at, method, url, kind, status, size_bytes, charged, deferred_until FROM requests
WHERE observed_event >= ? AND kind != ? ORDER BY observed_event
"""
_NO_EVENT = (1 << 63) - 1


class HostAnswer(NamedTuple):
    """What came of a request; ``until`` is when one that was deferred is to be asked again."""

    at: float
    method: Method
    url: str
    kind: str
    status: int
    size_bytes: int
    charged: int
    until: float = 0.0


def host_answers(connection: Connection) -> Iterator[HostAnswer]:
    """Go through what matters for outages: of each host an answer, and all since the first outage."""
    (first,) = connection.execute(_FIRST_DEFERRED, (DEFERRED,)).fetchone()
    first = _NO_EVENT if first is None else first
    for url, _ in connection.execute(_HEARD, (first, DEFERRED, REFUSED)):
        yield HostAnswer(0.0, Method.GET, url, Kind.OTHER, 200, 0, 1)
    for at, method, url, kind, status, size, charged, until in connection.execute(_SINCE, (first, REFUSED)):
        outcome = from_row(OutcomeRow(kind, status, size, deferred_until=until), [])
        when = outcome.until if isinstance(outcome, Deferred) else 0.0
        yield HostAnswer(from_iso(at), Method(method), url, kind, status or 0, size, charged, when)
