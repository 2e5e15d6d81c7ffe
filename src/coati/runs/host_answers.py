"""Which hosts answered a run, and which URLs met an outage: decides when these are retried."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import NamedTuple

from coati.model import Deferred, Method
from coati.runs.outcome_rows import OutcomeRow, from_row
from coati.times import from_iso

_FIRST_DEFERRED = "SELECT min(observed_event) FROM requests WHERE kind = 'deferred'"
# Of a group, SQLite gives the row with the highest id.
_HEARD = """
SELECT finished_at, method, url, kind, status, size_bytes, charged, deferred_until, max(id) FROM requests
WHERE observed_event < ? AND kind NOT IN ('deferred', 'refused')
  AND NOT (kind = 'failure' AND status = 0) GROUP BY host
"""
_SINCE = """
SELECT finished_at, method, url, kind, status, size_bytes, charged, deferred_until FROM requests
WHERE observed_event >= ? AND kind != 'refused' ORDER BY observed_event
"""
_NO_EVENT = (1 << 63) - 1


class HostAnswer(NamedTuple):
    """What came of a request; ``until`` is when one that was deferred is to be retried."""

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
    (first,) = connection.execute(_FIRST_DEFERRED).fetchone()
    first = _NO_EVENT if first is None else first
    for row in connection.execute(_HEARD, (first,)):
        yield _answer(*row[:-1])
    for row in connection.execute(_SINCE, (first,)):
        yield _answer(*row)


def _answer(  # noqa: PLR0913, PLR0917 - the columns of a row
    at: str, method: str, url: str, kind: str, status: int | None, size: int, charged: int, until: str | None
) -> HostAnswer:
    outcome = from_row(OutcomeRow(kind, status, size, deferred_until=until), [])
    when = outcome.until if isinstance(outcome, Deferred) else 0.0
    return HostAnswer(from_iso(at), Method(method), url, kind, status or 0, size, charged, when)
