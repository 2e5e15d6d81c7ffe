"""The repositories that a search found: the evidence for each, how it was found, and which action paid."""

from __future__ import annotations

from collections import defaultdict
from sqlite3 import Connection, Row

from coati.reporting.charts import Axes, Line, bar, line_chart
from coati.reporting.found_repositories import all_sites, has_repositories
from coati.reporting.safe_html import Html, breakable, element, joined, shortened, web_link
from coati.reporting.tables import Column, TableCell, counted, table
from coati.reporting.unread_sites import sites_never_read
from coati.units import format_count
from coati.web.queries import Ability, parse_query
from coati.web.urls import is_query

_SITES_SHOWN = 500
_TREES_SHOWN = 200
_PAGES_SHOWN = 100
_MOST_POINTS = 400
_STYLES = ("found", "rest", "third", "fourth")

_ARMS = """
SELECT requests.arm, groups.label, reward FROM requests JOIN groups ON groups.arm = requests.arm
WHERE reward IS NOT NULL AND requests.arm < 4 AND host NOT LIKE 'search://%' ORDER BY observed_event
"""
_PAGES = "SELECT * FROM dataset_pages ORDER BY rank LIMIT ?"


def repositories(connection: Connection) -> tuple[Html, ...]:
    """Show what was found; nothing where the run is not a search."""
    if not has_repositories(connection):
        return ()
    sites = all_sites(connection)
    verified = [row for row in sites if row["rank"] is not None]
    others = [row for row in sites if row["rank"] is None]
    parts = [element("h2", "The repositories")]
    if not sites:
        parts.append(element("p", "No page looked like a data repository."))
    if verified:
        parts.append(element("p", _BEST_FIRST))
        parts.append(_table(verified[:_SITES_SHOWN], "Verified repositories"))
        parts += [element("h3", "How each was reached"), _tree(verified[:_TREES_SHOWN])]
    parts += _dataset_pages(connection)
    parts += _arms(connection)
    if others:
        parts += [element("h3", "Checked, and not verified"), _table(others[:_SITES_SHOWN], "Other sites")]
    parts += _never_read(connection)
    return (element("section", *parts, id="repositories"),)


_BEST_FIRST = (
    "Sites with enough different data files, those that match the topic best first. Topic is how many of your"
    " words a site has, in any form, or of words that often occur with them. Common words, such as “data”,"
    " count less than others."
)


_BEST_PAGES = (
    "Pages that link to data files, the best for the topic first. Fit is how well a page's words match yours"
    " and those that pages of verified sites share (BM25); it only compares pages of this search."
)


def _never_read(connection: Connection) -> list[Html]:
    """List the sites that let no page be read: one of them may be a repository."""
    sites = sites_never_read(connection)
    if not sites:
        return []
    columns = (Column("Site", wide=True), Column("Not read", wide=True))
    rows = [(shortened(site, 90), shortened(why, 160)) for site, why in list(sites.items())[:_SITES_SHOWN]]
    title = "Sites that could not be read"
    return [element("h3", title), table(columns, rows, title)]


def _table(rows: list[Row], name: str) -> Html:
    most = max(row["files"] for row in rows)
    columns = (
        Column("Site", wide=True),
        Column("Topic", numeric=True),
        Column("Data files", numeric=True),
        Column(""),
        Column("Pages checked", numeric=True),
        Column("Formats"),
        Column("Found by", wide=True),
    )
    return table(columns, [_row(row, most) for row in rows], name)


def _row(row: Row, most: int) -> tuple[TableCell | Html | str, ...]:
    title = shortened(row["title"], 90)
    place = row["rank"] or ""
    name = joined(
        f"{place}. " if place else "",
        web_link(row["url"], row["site"]),
        element("br"),
        element("small", title) if title else None,
        element("small", f"terms: {shortened(row['terms'], 90)}") if row["terms"] else None,
    )
    judged = "accepted by you" if row["rank"] else "rejected by you"
    how = judged if row["by_user"] else f"{row['action']}: {row['query']}"
    marked = (
        f"; {format_count(row['marked_pages'], 'page')} with dataset markup" if row["marked_pages"] else ""
    )
    software = f"; {row['software']}" if row["software"] else ""
    return (
        TableCell(name, row["rank"] or row["site"]),
        _topic(row),
        counted(row["files"]),
        bar(row["files"], most),
        counted(row["pages_fetched"]),
        shortened(row["formats"], 60) or "-",
        breakable(f"{shortened(how, 120)}{marked}{software}"),
    )


def _topic(row: Row) -> TableCell:
    # Earlier versions did not write it.
    topic = row["topic"] if "topic" in row.keys() else 0.0  # noqa: SIM118 - a row looks through its values
    return TableCell(f"{topic:.0%}", topic)


def _tree(rows: list[Row]) -> Html:
    """Draw the steps from queries to repositories as nested lists; equal beginnings are drawn once."""
    branches: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for row in rows:
        steps = tuple(row["trail"].splitlines())
        for depth, step in enumerate(steps):
            branches[steps[:depth]][step] = None
    ends = {row["url"]: row["rank"] for row in rows}
    return _branch(branches, (), ends)


def _branch(
    branches: dict[tuple[str, ...], dict[str, None]], above: tuple[str, ...], ends: dict[str, int]
) -> Html:
    items = []
    for step in branches[above]:
        below = (*above, step)
        number = f" — repository {ends[step]}" if step in ends else ""
        deeper = _branch(branches, below, ends) if branches.get(below) else None
        items.append(element("li", _step(step), number, deeper))
    return element("ul", *items, class_="tree")


def _step(step: str) -> Html:
    if not is_query(step):
        return web_link(step, None, 90)
    query = parse_query(step)
    text = {
        Ability.KEYWORDS: f"“{query.text}”",
        Ability.RELATED: f"pages like {query.text}",
        Ability.BACKLINKS: f"pages that link to {query.text}",
    }[query.ability]
    page = f", page {query.page}" if query.page > 1 else ""
    return element("span", f"{query.engine}: {shortened(text, 110)}{page}")


def _dataset_pages(connection: Connection) -> list[Html]:
    rows = connection.execute(_PAGES, (_PAGES_SHOWN,)).fetchall()
    if not rows:
        return []
    columns = (Column("Page", wide=True), Column("Data files", numeric=True), Column("Fit", numeric=True))
    cells = [
        (
            joined(
                web_link(row["url"], None, 90), element("br"), element("small", shortened(row["title"], 90))
            ),
            counted(row["files"]),
            TableCell(f"{row['score']:.1f}", row["score"]),
        )
        for row in rows
    ]
    what = element("p", _BEST_PAGES)
    return [element("h3", "Pages with data"), what, table(columns, cells, "Pages that link to data files")]


def _arms(connection: Connection) -> list[Html]:
    """Draw for each action how many of the pages that it found looked like a repository's."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in connection.execute(_ARMS):
        line = points.setdefault(row["label"], [(0.0, 0.0)])
        found, good = line[-1]
        line.append((found + 1, good + (row["reward"] > 0)))
    if not points:
        return []
    lines = [
        Line(label, style, _thinned(line))
        for (label, line), style in zip(points.items(), _STYLES, strict=False)
    ]
    axes = Axes("What each action found", "pages found", "that looked like a repository")
    caption = "A steeper line means that an action finds more, so it is chosen more often."
    chart = element("figure", line_chart(axes, lines, legend=True), element("figcaption", caption))
    return [element("h3", "Which action found most"), chart]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    step = len(points) // _MOST_POINTS + 1
    return [*points[::step], points[-1]]
