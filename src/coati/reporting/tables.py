"""Tables that print well, become lists on a narrow screen, and can be sorted where scripts run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coati.reporting.safe_html import Html, Part, element, joined
from coati.units import format_count


@dataclass(frozen=True, slots=True)
class TableCell:
    """What a cell shows, and what it is sorted by where that is something else."""

    content: Part
    sort_by: float | str | None = None


def counted(number: float) -> TableCell:
    """Show a number as people read it, rounded."""
    return TableCell(format_count(round(number)), number)


@dataclass(frozen=True, slots=True)
class Column:
    """The title of a column; numbers stand at its right edge, ``wide`` texts may take more room.

    One without a title holds drawings that a narrow screen has no room for.
    """

    title: str
    numeric: bool = False
    wide: bool = False

    @property
    def style(self) -> str | None:
        return "number" if self.numeric else "wide" if self.wide else None if self.title else "drawn"


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[TableCell | Part]], name: str, style: str = "sortable"
) -> Html:
    """Build a table; ``name`` says to a screen reader what it holds."""
    head = element(
        "tr", *(element("th", column.title, scope="col", class_=column.style) for column in columns)
    )
    body = [
        element("tr", *(_cell(cell, column) for cell, column in zip(row, columns, strict=True)))
        for row in rows
    ]
    made = element("table", element("thead", head), element("tbody", *body), aria_label=name, class_=style)
    return element("div", made, class_="scroll", tabindex=0, role="region", aria_label=name)


def pairs(rows: Iterable[tuple[str, Part]]) -> Html:
    """Build a list of names and values."""
    return element("dl", *(joined(element("dt", name), element("dd", value)) for name, value in rows))


def _cell(cell: TableCell | Part, column: Column) -> Html:
    if not isinstance(cell, TableCell):
        cell = TableCell(cell)
    return element(
        "td",
        cell.content,
        class_=column.style,
        data_label=column.title or None,
        data_sort=None if cell.sort_by is None else str(cell.sort_by),
    )
