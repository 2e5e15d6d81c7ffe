"""What failed, and what was skipped and why."""

from __future__ import annotations

from sqlite3 import Connection

from coati.reporting.error_words import error_words
from coati.reporting.safe_html import Html, element, shortened, web_link
from coati.reporting.skip_meanings import meaning_of
from coati.reporting.tables import Column, counted, table
from coati.units import format_count

_MAX_KINDS = 25
_EXAMPLES = 2

_ERRORS = """
SELECT coalesce(status, 0) AS status, coalesce(reason, '') AS reason, count(*) AS times, min(url) AS url
FROM requests WHERE kind = 'failure' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ?
"""
_DEFERRED = "SELECT count(DISTINCT url) FROM requests WHERE kind = 'deferred'"
_INCOMPLETE = """
SELECT missing, count(*) AS times, min(url) AS url FROM pages WHERE missing IS NOT NULL
GROUP BY 1 ORDER BY 2 DESC, 1
"""
_UNREACHED = "SELECT url, reason FROM deferred"
_LISTED = 25
_SKIPS = "SELECT reason, urls FROM skip_counts ORDER BY urls DESC, reason"
_SKIP_EXAMPLES = "SELECT url FROM skipped WHERE reason = ? ORDER BY id LIMIT ?"


def problems(connection: Connection) -> Html:
    """Show failures, then what was not requested."""
    return element(
        "section",
        element("h2", "What failed, and what was skipped"),
        element("h3", "Failures"),
        _errors(connection),
        _incomplete(connection),
        _outages(connection),
        element("h3", "Skipped"),
        _skips(connection),
        id="problems",
    )


def _errors(connection: Connection) -> Html | None:
    rows = connection.execute(_ERRORS, (_MAX_KINDS,)).fetchall()
    if not rows:
        # What never responded is told below.
        (met,) = connection.execute(_DEFERRED).fetchone()
        return element("p", "No request failed.") if not met else None
    columns = (Column("What"), Column("Times", numeric=True), Column("For example", wide=True))
    cells = [
        (
            shortened(error_words(row["status"], row["reason"]), 90),
            counted(row["times"]),
            web_link(row["url"], limit=90),
        )
        for row in rows
    ]
    return table(columns, cells, "Failures by reason")


def _incomplete(connection: Connection) -> Html | None:
    """Say which pages were not read whole, since links may be missing."""
    rows = connection.execute(_INCOMPLETE).fetchall()
    if not rows:
        return None
    columns = (
        Column("Incomplete pages"),
        Column("Times", numeric=True),
        Column("For example", wide=True),
    )
    cells = [(row["missing"], counted(row["times"]), web_link(row["url"], limit=90)) for row in rows]
    return table(columns, cells, "Pages that were not read to the end, so that links may be missing")


def _outages(connection: Connection) -> Html | None:
    """Say what could not be reached at first, and list what is still to be retried."""
    (met,) = connection.execute(_DEFERRED).fetchone()
    if not met:
        return None
    rows = connection.execute(_UNREACHED).fetchall()
    urls = format_count(met, "URL")
    words = f"{urls} could not be reached at first and {'was' if met == 1 else 'were'} requested again."
    if rows:
        words += f" {format_count(len(rows))} of them did not respond yet: resume the run to retry."
    listed = [element("li", web_link(row["url"], limit=90), f" ({row['reason']})") for row in rows[:_LISTED]]
    return element("div", element("p", words), element("ul", *listed) if listed else None)


def _skips(connection: Connection) -> Html:
    rows = connection.execute(_SKIPS).fetchall()
    if not rows:
        return element("p", "Nothing was skipped.")
    columns = (
        Column("Why", wide=True),
        Column("Addresses", numeric=True),
        Column("For example", wide=True),
    )
    cells = []
    for row in rows:
        urls = connection.execute(_SKIP_EXAMPLES, (row["reason"], _EXAMPLES))
        examples = [element("li", web_link(url, limit=80)) for (url,) in urls]
        cells.append((
            _why(row["reason"]),
            counted(row["urls"]),
            element("ul", *examples, class_="examples"),
        ))  # fmt: skip
    return table(columns, cells, "What was skipped, by reason")


def _why(reason: str) -> Html:
    words = meaning_of(reason)
    return element("span", element("b", shortened(reason, 60)), f": {words}" if words else None)
