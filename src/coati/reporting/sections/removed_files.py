"""Files that a web archive knows but the site no longer has."""

from __future__ import annotations

from sqlite3 import Connection

from coati.reporting.safe_html import Html, element, web_link
from coati.reporting.tables import Column, TableCell, table
from coati.units import format_count

_SHOWN = 200
_GONE = "SELECT url, archived, last_seen, known FROM gone ORDER BY url LIMIT ?"
_COUNT = "SELECT count(*) FROM gone"
_DAY_CHARS = 10


def removed_files(connection: Connection) -> Html | None:
    """Show them with their archived addresses; None where there are none."""
    rows = connection.execute(_GONE, (_SHOWN,)).fetchall()
    if not rows:
        return None
    (count,) = connection.execute(_COUNT).fetchone()
    note = (
        f"{format_count(count, 'file')} that a web archive knows but the site no longer has. The first"
        f" {format_count(len(rows))} are shown; the view gone of run.sqlite has all."
    )
    cells = [
        (
            web_link(row["url"], row["url"], 90),
            web_link(row["archived"], "archived copy") if row["archived"] else "",
            TableCell((row["last_seen"] or "")[:_DAY_CHARS], row["last_seen"] or ""),
            row["known"] or "",
        )
        for row in rows
    ]
    columns = (Column("File", wide=True), Column("Archived copy"), Column("Last seen"), Column("Known"))
    return element(
        "section",
        element("h2", "Gone from the site"),
        element("p", note, class_="note"),
        table(columns, cells, "Files that are gone"),
        id="gone",
    )
