"""``files.csv``: the targets as a table that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

COLUMNS = {
    "file": "string",
    "title": "string",
    "source_page": "string",
    "url": "string",
    "type": "string",
    "size_bytes": "integer",
    "fetched_at": "datetime",
    "sha256": "string",
}
"""The columns, and what Frictionless calls their types."""

_ROWS = """
SELECT 'files/' || file, coalesce(anchor, ''), coalesce(found_on, ''), url, media_type, size_bytes,
       fetched_at, sha256
FROM targets ORDER BY request
"""

# A cell that begins with one of these is a formula to a spreadsheet, and these texts come from the web.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def listing_lines(connection: Connection) -> Iterator[bytes]:
    """Give the lines of the file, one row a target, in the order of fetching."""
    # The mark tells spreadsheets that this is UTF-8; other tools skip it.
    yield "\ufeff".encode()
    yield _line(tuple(COLUMNS))
    for row in connection.execute(_ROWS):
        yield _line(tuple(_harmless(cell) if isinstance(cell, str) else cell for cell in row))


def _line(row: tuple[object, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue().encode()


def _harmless(cell: str) -> str:
    return "'" + cell if cell.startswith(_FORMULA) else cell
