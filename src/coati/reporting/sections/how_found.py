"""How the files were found: files against requests, the volume beside it, and the pages with most files."""

from __future__ import annotations

from sqlite3 import Connection, Row

from coati.reporting.charts import Axes, Line, Mark, bar, line_chart
from coati.reporting.curve import Curve, read_curve
from coati.reporting.run_facts import RunFacts, RunStage
from coati.reporting.safe_html import Html, element, joined, shortened, web_link
from coati.reporting.tables import Column, counted, table
from coati.runs.found_by import FoundBy, found_by
from coati.units import format_bytes, format_count, format_share

_PAGES_SHOWN = 15
# Start URLs and links: nothing to tell apart.
_USUAL_WAYS = 2
_PAGES = """
SELECT found_on, count(*) AS files FROM targets
WHERE found_on IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, min(request) LIMIT ?
"""


def how_found(connection: Connection, facts: RunFacts) -> Html:
    """Draw the curves, say in words what they show, and name the pages to remember."""
    curve = read_curve(connection, facts.totals)
    parts = [element("h2", "How they were found" if facts.totals.targets else "How it went")]
    if not facts.totals.requests:
        answer = "There is no response yet." if facts.stage is RunStage.RUNNING else "There was no response."
        return element("section", *parts, element("p", answer), id="found")
    parts.append(element("p", _in_words(curve, facts)))
    if facts.totals.targets:
        parts.append(_figures(curve, facts))
    ways = found_by(connection)
    if len(ways) > _USUAL_WAYS:
        parts += [element("h3", "What led to them"), ways_table(ways)]
    pages = connection.execute(_PAGES, (_PAGES_SHOWN,)).fetchall()
    if pages:
        parts += [element("h3", "Pages with most files"), _pages_table(pages, facts)]
    return element("section", *parts, id="found")


def _figures(curve: Curve, facts: RunFacts) -> Html:
    found = element(
        "figure",
        _found_chart(curve, facts.target_noun),
        element("figcaption", _found_words(facts.target_noun)),
    )
    volume = element(
        "figure", _volume_chart(curve, facts.target_noun), element("figcaption", _volume_words(facts))
    )
    return element("div", found, volume, class_="figures")


def _in_words(curve: Curve, facts: RunFacts) -> str:
    totals = facts.totals
    if curve.most is None:
        return f"No {facts.target_noun} was found in {format_count(totals.requests, 'request')}."
    spent = format_share(curve.most.requests, totals.requests)
    return (
        f"90 % of the total ({format_count(curve.most.targets, facts.target_noun)}"
        f" of {format_count(totals.targets)}) was found after"
        f" {format_count(curve.most.requests, 'request')}, {spent} of all requests."
    )


def _found_words(noun: str) -> str:
    steep = f"A steep line means that nearly every request found a {noun}."
    return f"{noun.capitalize()}s found against requests made. {steep}"


def _found_chart(curve: Curve, noun: str) -> Html:
    points = [(point.requests, point.targets) for point in curve.points]
    mark = None
    if curve.most is not None:
        text = f"90 % after {format_count(curve.most.requests, 'request')}"
        mark = Mark(curve.most.requests, curve.most.targets, text)
    title = f"{noun.capitalize()}s found against requests made"
    axes = Axes(title, "requests", f"{noun}s found")
    return line_chart(axes, [Line(f"{noun}s", "found", points)], mark)


def _volume_chart(curve: Curve, noun: str) -> Html:
    lines = [
        Line(f"{noun}s", "found", [(point.requests, point.target_bytes) for point in curve.points]),
        Line("the rest", "rest", [(point.requests, point.other_bytes) for point in curve.points]),
    ]
    axes = Axes("Bytes received against requests made", "requests", "received", y_text=_round_size)
    return line_chart(axes, lines)


def _volume_words(facts: RunFacts) -> Html:
    totals = facts.totals
    return joined(
        f"Bytes received. {format_bytes(totals.target_bytes)} of {format_bytes(totals.bytes)} were"
        f" {facts.target_noun}s"
        f" ({format_share(totals.target_bytes, totals.bytes)}); the rest was the cost of finding them."
    )


def _pages_table(rows: list[Row], facts: RunFacts) -> Html:
    most = rows[0]["files"]
    columns = (Column("Page", wide=True), Column("Files", numeric=True), Column(""))
    cells = [
        (
            web_link(row["found_on"], facts.on_site(row["found_on"]), 90),
            counted(row["files"]),
            bar(row["files"], most),
        )
        for row in rows
    ]
    return table(columns, cells, "Pages with most links to files")


def ways_table(ways: list[FoundBy], *, files: bool = True) -> Html:
    """Tell what each way cost and, where files were looked for, what it brought."""
    columns = (
        Column("Found by"),
        *((Column("Files", numeric=True), Column("")) if files else ()),
        Column("Requests", numeric=True),
        Column("Pages among them", numeric=True),
        Column("Failed", numeric=True),
    )
    most = max((1, *(way.targets for way in ways)))
    cells = [
        (
            shortened(way.way, 60),
            *((counted(way.targets), bar(way.targets, most)) if files else ()),
            counted(way.requests),
            counted(way.pages),
            counted(way.failures),
        )
        for way in ways
        if way.requests
    ]
    return table(columns, cells, f"Ways by which {'files' if files else 'pages'} were found")


def _round_size(value: float) -> str:
    return format_bytes(value).replace(".0 ", " ")
