"""How a search for repositories went: repositories verified against requests made."""

from __future__ import annotations

from sqlite3 import Connection

from coati.reporting.charts import Axes, Line, line_chart
from coati.reporting.run_facts import RunFacts
from coati.reporting.safe_html import Html, element
from coati.reporting.sections.how_found import ways_table
from coati.runs.found_by import START_URLS, found_by
from coati.units import format_count

_DECIDED = "SELECT decided_at FROM repositories WHERE rank IS NOT NULL ORDER BY decided_at"
# What a search requests without a link: where checks begin, and what the user accepts or rejects.
_UNLINKED = "home pages, and what you judged"
_CAPTION = "Repositories found against requests made, queries included. A flat part found nothing new."


def search_curve(connection: Connection, facts: RunFacts) -> Html:
    """Draw the curve, and say by which ways pages were reached."""
    decided = [at for (at,) in connection.execute(_DECIDED)]
    requests = facts.totals.requests
    points = [(0, 0), *((at, number) for number, at in enumerate(decided, 1)), (requests, len(decided))]
    axes = Axes("Repositories against requests made", "requests", "repositories")
    chart = line_chart(axes, [Line("repositories", "found", points)])
    ways = [way._replace(way=_UNLINKED) if way.way == START_URLS else way for way in found_by(connection)]
    parts = [
        element("h2", "How it went"),
        element("p", _in_words(decided, requests)),
        element("figure", chart, element("figcaption", _CAPTION)),
        element("h3", "What led to them"),
        ways_table(ways, files=False),
    ]
    return element("section", *parts, id="found")


def _in_words(decided: list[int], requests: int) -> str:
    made = format_count(requests, "request")
    if not decided:
        return f"No repository was verified in {made}."
    found = format_count(len(decided), "repository was", "repositories were")
    return f"{found} verified in {made}, the last one after {format_count(decided[-1], 'request')}."
