"""CSV that people open in a spreadsheet, with texts that come from the web."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

# This much of the file is in memory at a time.
_PIECE_CHARS = 1 << 16

# A cell that begins with one of these is a formula to a spreadsheet, and these texts come from the web.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_pieces(
    columns: Iterable[str], rows: Iterable[Sequence[object]], line_end: str = "\n", *, marked: bool = True
) -> Iterator[bytes]:
    """Write a table, in pieces of whole lines; no text is a formula to a spreadsheet.

    ``marked``: the mark at the beginning tells spreadsheets that this is UTF-8; other tools skip it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end)
    text.write("\ufeff" if marked else "")
    writer.writerow(columns)
    for row in rows:
        if text.tell() > _PIECE_CHARS:
            yield _taken(text)
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in row])
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    piece = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return piece


def escape_formula(cell: str) -> str:
    """Return the text with a quote in front if a spreadsheet would take it for a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell


def unescape_formula(cell: str) -> str:
    """Return the text as it was before `escape_formula`.

    >>> unescape_formula(escape_formula("=1+1")), unescape_formula("'quoted'")
    ('=1+1', "'quoted'")
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
