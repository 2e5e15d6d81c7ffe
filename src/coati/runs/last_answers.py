"""The last outcomes of a run, for components that count along and need not know all of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from coati.runs.log import Purpose, RunLog

# Two per request. This many are read in well under a second.
_EVENTS = 20_000

_ANSWERS = """
SELECT requests.id, requests.url, requests.kind = 'target' OR coalesce(pages.relevant, 0), links.url
FROM requests LEFT JOIN links ON links.page = requests.id LEFT JOIN pages ON pages.request = requests.id
WHERE requests.observed_event > max(?, 0) AND requests.method = 'GET' AND requests.purpose != ?
  AND requests.kind IN ('page', 'target', 'other', 'redirect', 'failure')
ORDER BY requests.observed_event, links.id
"""


class PastAnswer(NamedTuple):
    """An answer to a GET; ``links`` are those that were new to the run then."""

    url: str
    is_target: bool
    links: list[str]


def last_answers(log: RunLog) -> Iterator[PastAnswer]:
    """Return the answers of the last events, the first of each URL, in the order of observation."""
    rows = log.connection.execute(_ANSWERS, (log.last_event - _EVENTS, Purpose.VISIT))
    for (_, url, wanted), group in groupby(rows, key=lambda row: row[:3]):
        yield PastAnswer(url, bool(wanted), [link for *_, link in group if link is not None])
