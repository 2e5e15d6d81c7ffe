"""The relevant pages of a run that looked for pages: by host, by type, and the pages themselves."""

from __future__ import annotations

import json
from collections import Counter
from sqlite3 import Connection, Row

from coati.reporting.charts import bar
from coati.reporting.run_facts import RunFacts
from coati.reporting.safe_html import Html, Part, element, joined, web_link
from coati.reporting.tables import Column, TableCell, counted, table
from coati.units import format_count

_PAGES_SHOWN = 200
_HOSTS_SHOWN = 100
_TYPES_SHOWN = 30
# Types are counted on this many pages; more would tell the same.
_PAGES_COUNTED = 20_000

_PAGES = """
SELECT requests.url, requests.host, pages.title, pages.facts FROM requests
JOIN pages ON pages.request = requests.id WHERE requests.new_target AND pages.relevant
ORDER BY requests.observed_event LIMIT ?
"""
_HOSTS = "SELECT * FROM host_totals ORDER BY targets DESC, requests = 0, requests, host LIMIT ?"


def relevant_pages(connection: Connection, facts: RunFacts) -> Html:
    """Show the hosts that gave most, what the pages are about, and the first of them."""
    rows = connection.execute(_PAGES, (_PAGES_COUNTED,)).fetchall()
    if not rows:
        none = element("p", "No page met the goal. The next steps below say what may help.")
        return element("section", element("h2", "The pages"), none, id="files")
    types, syntaxes = _counted(rows)
    hosts = connection.execute(_HOSTS, (_HOSTS_SHOWN,)).fetchall()
    statements = joined(
        "What they say is in the table ",
        element("code", "statements"),
        " of run.sqlite and in ",
        element("a", "pages.jsonl", href="pages.jsonl"),
        ", if they were read in full.",
    )
    return element(
        "section",
        element("h2", "The pages"),
        element("p", statements, class_="note"),
        element("h3", "By host"),
        _hosts_table(hosts),
        *(_counts("By type of schema.org", "Type", types) if types else ()),
        *_counts("By syntax", "Syntax", syntaxes),
        element("h3", _pages_title(facts.totals.relevant_pages)),
        _pages_table(rows[:_PAGES_SHOWN]),
        id="files",
    )


def _pages_title(pages: int) -> str:
    if pages <= _PAGES_SHOWN:
        return "One by one"
    return f"The first {format_count(_PAGES_SHOWN)} of {format_count(pages, 'page')}"


def _counted(rows: list[Row]) -> tuple[Counter[str], Counter[str]]:
    """Count on how many pages each type and each syntax stands."""
    types: Counter[str] = Counter()
    syntaxes: Counter[str] = Counter()
    for row in rows:
        markup = (json.loads(row["facts"]) if row["facts"] else {}).get("markup") or {}
        types.update(markup.get("types", ()))
        syntaxes.update(markup.get("statements", {}).keys())
    return types, syntaxes


def _counts(title: str, name: str, counts: Counter[str]) -> list[Html]:
    most = max(counts.values(), default=1)
    columns = (Column(name), Column("Pages", numeric=True), Column(""))
    cells = [(what, counted(pages), bar(pages, most)) for what, pages in counts.most_common(_TYPES_SHOWN)]
    return [element("h3", title), table(columns, cells, f"Pages {title.lower()}")] if cells else []


def _hosts_table(rows: list[Row]) -> Html:
    columns = [
        Column("Host"),
        Column("Relevant", numeric=True),
        Column("Pages", numeric=True),
        Column("Requests", numeric=True),
    ]
    cells: list[list[TableCell | Part]] = [
        [
            row["host"],
            counted(row["targets"]),
            counted(row["pages"]),
            counted(row["requests"]),
        ]
        for row in rows
    ]
    # An empty column would only raise a question.
    if any(row["ended"] for row in rows):
        columns.append(Column("No longer requested because", wide=True))
        cells = [[*line, row["ended"] or ""] for line, row in zip(cells, rows, strict=True)]
    return table(columns, cells, "Hosts")


def _pages_table(rows: list[Row]) -> Html:
    columns = (Column("Page", wide=True), Column("Host"))
    cells = [(web_link(row["url"], row["title"] or row["url"], 90), row["host"]) for row in rows]
    return table(columns, cells, "Relevant pages")
