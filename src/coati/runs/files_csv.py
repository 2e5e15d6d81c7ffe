"""``files.csv``: the targets as a table that people open in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection

from coati.runs.csv_pieces import csv_pieces
from coati.runs.shared_titles import SHARED_TITLES, TELLING_TITLE

COLUMNS = {
    "file": "string",
    "title": "string",
    "source_page": "string",
    "url": "string",
    "type": "string",
    "size_bytes": "integer",
    "fetched_at": "datetime",
    "link_text": "string",
    "row_text": "string",
    "heading": "string",
    "page_title": "string",
    "file_title": "string",
    "licence": "string",
    "modified": "datetime",
    "sha256": "string",
}
"""The columns, and what Frictionless calls their types."""

_ROWS = f"""
{SHARED_TITLES}
SELECT 'files/' || targets.file, {TELLING_TITLE}, coalesce(targets.found_on, ''), targets.url,
       targets.media_type, targets.size_bytes, targets.fetched_at, coalesce(targets.anchor, ''),
       coalesce(targets.row_text, ''), coalesce(targets.heading, ''), coalesce(targets.page_title, ''),
       coalesce(files.title, ''), coalesce(targets.licence, ''), coalesce(targets.modified, ''),
       targets.sha256
FROM targets JOIN files ON files.name = targets.file ORDER BY targets.request
"""  # noqa: S608 - our own text


def listing_lines(connection: Connection) -> Iterator[bytes]:
    """Return the file in pieces of whole lines, one row per target, in the order of fetching."""
    return csv_pieces(COLUMNS, listing_rows(connection))


def listing_rows(connection: Connection) -> Iterator[tuple[object, ...]]:
    """Return the targets in the order of fetching, as the columns say; their texts are the web's."""
    return (tuple(row) for row in connection.execute(_ROWS))
