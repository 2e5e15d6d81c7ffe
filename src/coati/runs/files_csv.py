"""``files.csv``: the targets as a table that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from coati.runs.shared_titles import SHARED_TITLES, TELLING_TITLE

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

# This much of the file is in memory at a time.
_PIECE_CHARS = 1 << 16

# A cell that begins with one of these is a formula to a spreadsheet, and these texts come from the web.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def listing_lines(connection: Connection) -> Iterator[bytes]:
    """Return the file in pieces of whole lines, one row per target, in the order of fetching."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # The mark tells spreadsheets that this is UTF-8; other tools skip it.
    text.write("\ufeff")
    writer.writerow(COLUMNS)
    for row in listing_rows(connection):
        if text.tell() > _PIECE_CHARS:
            yield _taken(text)
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    piece = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return piece


def listing_rows(connection: Connection) -> Iterator[tuple[object, ...]]:
    """Return the targets in the order of fetching, as the columns say; their texts are the web's."""
    return (tuple(row) for row in connection.execute(_ROWS))


def harmless(cell: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell


def without_guard(cell: str) -> str:
    """Return a text as it was before `harmless`.

    >>> without_guard(harmless("=1+1")), without_guard("'quoted'")
    ('=1+1', "'quoted'")
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
