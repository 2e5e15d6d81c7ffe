"""The pages of a watch: how often each was visited, why, and what it had, from the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection, Row

from coati.strategies.revisits.file_checks import MISSES_UNTIL_GONE
from coati.strategies.revisits.scheduler import EXPECTED, EXPLORED, WHY
from coati.strategies.revisits.schedulers import SCHEDULERS
from coati.times import from_iso

_VISITS = """
WITH visits AS (
    SELECT url, arm, score, chosen_at, kind, status, reward,
           row_number() OVER (PARTITION BY url ORDER BY chosen_event DESC) AS place
    FROM requests WHERE arm IN (SELECT value FROM json_each(:reasons)) AND observed_event IS NOT NULL
    AND kind NOT IN ('deferred', 'refused') AND url NOT LIKE '%/robots.txt' {where}
)
SELECT url, count(*) AS visits, min(chosen_at) AS first_at, max(chosen_at) AS last_at,
       total(reward) AS new_links, sum(kind = 'unchanged') AS unchanged, sum(kind = 'failure') AS failed,
       sum(arm = :expected) AS expected, sum(arm = :explored) AS explored,
       max(CASE place WHEN 1 THEN arm END) AS last_arm, max(CASE place WHEN 1 THEN score END) AS last_score,
       sum(place <= :misses AND kind = 'failure' AND status IN (404, 410)) AS missed
FROM visits GROUP BY url ORDER BY new_links DESC, visits DESC, url LIMIT :most
"""


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """A page of a watch; ``every_seconds`` is the mean time between two visits.

    ``expected`` and ``explored`` count the visits that were made because something new was expected, and
    because the page had waited longest. ``why`` and ``score`` are those of the last visit. ``gone``: it was
    missing so often that it is not visited any more.
    """

    url: str
    visits: int
    last_at: str
    every_seconds: float | None
    new_links: int
    unchanged: int
    failed: int
    expected: int
    explored: int
    why: str
    score: float
    gone: bool = False


def is_watch_run(settings: Mapping[str, object]) -> bool:
    """Tell whether the settings of a run are those of a watch."""
    return settings.get("strategy") in SCHEDULERS


def watched_pages(connection: Connection, most: int) -> list[WatchedPage]:
    """Return the pages of a watch, those with most new links first."""
    return [_page(row) for row in connection.execute(_VISITS.format(where=""), _given(most=most))]


def watched_page(connection: Connection, url: str) -> WatchedPage | None:
    """Return one page of a watch; None if the watch does not have it."""
    rows = connection.execute(_VISITS.format(where="AND url = :url"), _given(most=1, url=url)).fetchall()
    return _page(rows[0]) if rows else None


def _given(**more: object) -> dict[str, object]:
    arms = {"reasons": json.dumps(list(WHY)), "expected": EXPECTED, "explored": EXPLORED}
    return {**arms, "misses": MISSES_UNTIL_GONE, **more}


def _page(row: Row) -> WatchedPage:
    between = from_iso(row["last_at"]) - from_iso(row["first_at"])
    return WatchedPage(
        url=row["url"],
        visits=row["visits"],
        last_at=row["last_at"],
        every_seconds=between / (row["visits"] - 1) if row["visits"] > 1 else None,
        new_links=round(row["new_links"]),
        unchanged=row["unchanged"],
        failed=row["failed"],
        expected=row["expected"],
        explored=row["explored"],
        why=WHY[row["last_arm"]],
        score=row["last_score"] or 0.0,
        gone=row["missed"] >= MISSES_UNTIL_GONE,
    )
