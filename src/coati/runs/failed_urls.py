"""URLs that failed in a run, to be requested again by a strategy of their own.

The strategy of the run has learnt that these URLs fail, and the past cannot be rewritten: so a second one, of
the same kind, begins at them. What it begins at follows from the log, so that it can be restored.
"""

from __future__ import annotations

from sqlite3 import Connection

from coati.runs.skip_reasons import SkipReason

_RETRY = "retry "

_NAMES = "SELECT strategy, min(chosen_event) FROM requests WHERE strategy LIKE ? GROUP BY 1 ORDER BY 2"
# What does not exist comes last: of all failures it is the likeliest to stay one.
_FAILED = """
SELECT url FROM requests AS last
WHERE observed_event < ?1 AND (kind = 'failure' OR (kind = 'refused' AND reason = ?2))
AND NOT EXISTS (
    SELECT 1 FROM requests AS again
    WHERE again.url = last.url AND again.chosen_event > last.chosen_event AND again.chosen_event < ?1
) ORDER BY status IN (404, 410), id
"""
_NO_END = (1 << 63) - 1


def is_retry(strategy: str) -> bool:
    """Tell whether a strategy of a log retries what was broken, by its name."""
    return strategy.startswith(_RETRY)


def retries(connection: Connection) -> list[tuple[str, list[str]]]:
    """Return the names of those that were begun, and what each began at, in order."""
    names = connection.execute(_NAMES, (_RETRY + "%",)).fetchall()
    return [(name, failed(connection, begun)) for name, begun in names]


def next_retry(connection: Connection) -> tuple[str, list[str]]:
    """Return the name of a new one, and what it would begin at."""
    return f"{_RETRY}{len(retries(connection)) + 1}", failed(connection)


def failed(connection: Connection, before_event: int = _NO_END) -> list[str]:
    """List the URLs whose last answer was that they are broken, as it stood before an event."""
    return [url for (url,) in connection.execute(_FAILED, (before_event, SkipReason.HOST_FAILING.value))]
