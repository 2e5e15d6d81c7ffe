"""Which groups of links led to files, and which did not."""

from __future__ import annotations

import json
from sqlite3 import Connection, Row
from typing import Any

from coati.reporting.safe_html import Html, breakable, element, shortened, web_link
from coati.reporting.tables import Column, TableCell, counted, table
from coati.units import format_count

_SHOWN = 15
_EXAMPLES = 3
_PATH_TOKENS = 3

_LOST_SHOWN = 5

_BEST = """
SELECT label, pulls, mean_reward, total_reward, targets, failures, example_links FROM groups
WHERE max(total_reward, targets) > 0 ORDER BY max(total_reward, targets) DESC, pulls, arm LIMIT ?
"""
_LOST = """
SELECT label, pulls, mean_reward, total_reward, targets, failures, example_links FROM groups
WHERE max(total_reward, targets) <= 0 ORDER BY pulls DESC, arm LIMIT ?
"""
_COUNT = "SELECT count(*) FILTER (WHERE max(total_reward, targets) > 0), count(*) FROM groups"
_PLACES = """
SELECT coalesce(tag_path, '') AS tag_path, count(*) AS files, min(request), url, anchor
FROM targets GROUP BY 1 ORDER BY 2 DESC, 3 LIMIT ?
"""

_GROUPS_INTRO = (
    "Similar links form a group: they are in the same kind of place on a page and, with some strategies,"
    " lead to the same folder and file type; a star stands for any number or name. During the crawl, Coati"
    " learns which groups lead to files, and prefers them. These groups led to most files. Some links of a"
    " group are files themselves; others are pages that link to files. coati explain says why a single"
    " link was chosen."
)
_LOST_INTRO = (
    "These took most requests and found nothing. Each new group is tried, so some requests find nothing."
)
_NO_GROUPS_INTRO = (
    "The strategy of this run does not learn from groups of links. These are the places on pages where the"
    " links to files were."
)


def groups(connection: Connection) -> Html:
    """Show the groups, or the places of links where the strategy has no groups."""
    (paid, total) = connection.execute(_COUNT).fetchone()
    parts: list[Html | None] = [element("h2", "Which links led to files")]
    if paid:
        best = best_groups(connection, _SHOWN)
        parts += [element("p", _GROUPS_INTRO), _groups_table(best, "Groups of links with most files")]
        parts.append(_left_out(paid, total))
    else:
        parts += _places(connection)
    if total > paid:
        lost = connection.execute(_LOST, (_LOST_SHOWN,)).fetchall()
        parts += [element("h3", "What led nowhere"), element("p", _LOST_INTRO)]
        parts.append(_groups_table(lost, "Groups of links with most requests and no files"))
    return element("section", *parts, id="groups")


def best_groups(connection: Connection, limit: int) -> list[Row]:
    """Return the groups that brought most: links that were targets, or pages that led to them."""
    return connection.execute(_BEST, (limit,)).fetchall()


def _places(connection: Connection) -> list[Html]:
    rows = connection.execute(_PLACES, (_SHOWN,)).fetchall()
    if not rows:
        return [element("p", "No link has led to a file yet.")]
    return [element("p", _NO_GROUPS_INTRO), _places_table(rows)]


def _groups_table(rows: list[Row], name: str) -> Html:
    columns = (
        Column("For example", wide=True),
        Column("Requests", numeric=True),
        Column("Were files", numeric=True),
        Column("Led to files", numeric=True),
        Column("Files per page", numeric=True),
        Column("Failures", numeric=True),
        Column("Group of links", wide=True),
    )
    cells = [
        (
            _examples(row["example_links"]),
            counted(row["pulls"]),
            counted(row["targets"]),
            counted(round(row["total_reward"])),
            TableCell(
                "" if row["mean_reward"] is None else f"{row['mean_reward']:.1f}", row["mean_reward"] or 0
            ),
            counted(row["failures"]),
            place_of_link(row["label"]),
        )
        for row in rows
    ]
    return table(columns, cells, name)


def _places_table(rows: list[Row]) -> Html:
    columns = (
        Column("For example", wide=True),
        Column("Files", numeric=True),
        Column("Place of the link", wide=True),
    )
    cells = [
        (web_link(row["url"], row["anchor"], 70), counted(row["files"]), place_of_link(row["tag_path"]))
        for row in rows
    ]
    return table(columns, cells, "Where the links to files were")


def place_of_link(label: str) -> Html:
    """Show the end of a tag path, which says most, and the whole of it to who points at it."""
    tokens = (label or "").split(" > ")
    shown = " > ".join(tokens[-_PATH_TOKENS:])
    if len(tokens) > _PATH_TOKENS:
        shown = f"… > {shown}"
    return element("code", breakable(shortened(shown, 110)) or "no place", title=shortened(label, 600))


def _examples(text: str) -> Html:
    """Link to what was followed; the text is JSON of ours, but a folder may have been written by anybody."""
    try:
        found = json.loads(text)
    except ValueError:
        found = []
    links = (
        [_example(each) for each in found[:_EXAMPLES] if isinstance(each, dict)]
        if isinstance(found, list)
        else []
    )
    return element("ul", *links, class_="examples")


def _example(each: dict[str, Any]) -> Html:
    reward = each.get("reward")
    brought = (
        f" · {format_count(round(reward), 'file')}" if isinstance(reward, int | float) and reward >= 1 else ""
    )
    return element("li", web_link(str(each.get("url") or ""), str(each.get("anchor") or ""), 60), brought)


def _left_out(paid: int, total: int) -> Html:
    shown = f"The best {_SHOWN} of {format_count(paid)}" if paid > _SHOWN else f"All {format_count(paid)}"
    everything = f"{format_count(total, 'group')} in all; the table groups of run.sqlite has them"
    text = f"{shown} that led to files, of {everything}."
    return element("p", text, class_="note")
