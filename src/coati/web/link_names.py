"""What names a link to a person who looks at the page: its row, the heading above it, the page's title.

A download button says "Download"; the row of the table says what. Strategies do not read this, so that it
costs nothing where no run is recorded.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from coati.model import CELL_MARK, NearbyText
from coati.web.node_text import MAX_TEXT_CHARS, NodeTexts
from coati.web.titles import is_generic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_ROWS = frozenset({"tr", "li", "dd"})
_CELLS = frozenset({"td", "th"})
# How far up a row is looked for, and how many neighbours are looked at in it.
_MAX_LEVELS = 12
_MAX_NEIGHBOURS = 40

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "caption", "summary"})
_LANDMARKS = ", ".join([*sorted(_HEADINGS), "a[href]", "area[href]"])


def page_title(tree: LexborHTMLParser) -> str:
    """Return the title of a page; empty where it has none."""
    found = tree.css_first("head > title")
    return "" if found is None else NodeTexts().text_of(found)


class LinkNames:
    """The rows and headings of one page; the page is gone through once, each text is made once."""

    def __init__(self, tree: LexborHTMLParser, reader: NodeTexts) -> None:
        self._reader = reader
        self._heading_of: dict[int, LexborNode] = {}
        self._rows: dict[int, str] = {}
        self._headings: dict[int, str] = {}
        above: LexborNode | None = None
        for node in tree.css(_LANDMARKS):
            if node.tag in _HEADINGS:
                above = node
            elif above is not None:
                self._heading_of[node.mem_id] = above

    def of(self, node: LexborNode) -> NearbyText:
        """Return what names the link that this element is."""
        heading = self._heading_of.get(node.mem_id)
        return NearbyText(self._row(node), "" if heading is None else self._heading(heading))

    def _heading(self, node: LexborNode) -> str:
        text = self._headings.get(node.mem_id)
        if text is None:
            text = self._headings[node.mem_id] = self._reader.text_of(node, " ")
        return text

    def _row(self, node: LexborNode) -> str:
        """Return the text of the nearest row that says more than "CSV": lists of formats are in cells."""
        row = ""
        for ancestor in islice(_ancestors(node), _MAX_LEVELS):
            if ancestor.tag not in _ROWS:
                continue
            text = self._rows.get(ancestor.mem_id)
            if text is None:
                text = self._rows[ancestor.mem_id] = self._row_text(ancestor)
            row = row or text
            if not is_generic(text):
                return text
        return row

    def _row_text(self, row: LexborNode) -> str:
        text_of = self._reader.text_of
        if row.tag == "tr":
            cells = (cell for cell in islice(row.iter(), _MAX_NEIGHBOURS) if cell.tag in _CELLS)
            return CELL_MARK.join(filter(None, (text_of(cell, " ") for cell in cells)))[:MAX_TEXT_CHARS]
        text = text_of(row, " ")
        term = _term_of(row) if row.tag == "dd" else None
        return text if term is None else f"{text_of(term, ' ')}{CELL_MARK}{text}"[:MAX_TEXT_CHARS]


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _term_of(definition: LexborNode) -> LexborNode | None:
    before = definition.prev
    for _ in range(_MAX_NEIGHBOURS):
        if before is None or before.tag == "dt":
            break
        before = before.prev
    return before if before is not None and before.tag == "dt" else None
