"""Results as a notebook shows them: a table of names and values, or of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from coati.reporting.safe_html import Html, element, joined

_ROWS_SHOWN = 50
# Notebooks put all cells to the right unless told otherwise.
_LEFT = "text-align: left"

T = TypeVar("T")


class TableList(list[T]):
    """A list that a notebook shows as a table: ``row`` says what of each item, ``title`` what they are.

    >>> TableList("Numbers", [1, 2], lambda number: {"number": number})
    [1, 2]
    """

    def __init__(self, title: str, items: Iterable[T], row: Callable[[T], Mapping[str, object]]) -> None:
        super().__init__(items)
        self._title, self._row = title, row

    def _repr_html_(self) -> str:
        return rows_table(self._title, [self._row(item) for item in self])


def pairs_table(title: str, pairs: Iterable[tuple[str, object]]) -> Html:
    """Draw names and values; texts from the web are escaped.

    >>> pairs_table("A run", [("requests", 1)])
    '<strong>A run</strong><table><tr><th>requests</th><td style="text-align: left">1</td></tr></table>'
    """
    rows = [
        element("tr", element("th", _named(name)), element("td", _shown(value), style=_LEFT))
        for name, value in pairs
    ]
    return joined(element("strong", title), element("table", *rows))


def rows_table(title: str, rows: Sequence[Mapping[str, object]], without: str = "") -> Html:
    """Draw rows under the names of their columns, the first ones of many; ``without`` any, say this."""
    if not rows:
        return element("p", without or f"{title}: none")
    head = element("tr", *(_cell("th", value, _named(name)) for name, value in rows[0].items()))
    body = [element("tr", *(_cell("td", value) for value in row.values())) for row in rows[:_ROWS_SHOWN]]
    more = f"{title} (the first {_ROWS_SHOWN} of {len(rows):,})" if len(rows) > _ROWS_SHOWN else title
    return joined(element("strong", more), element("table", element("thead", head), element("tbody", *body)))


def _cell(tag: str, value: object, words: str | None = None) -> Html:
    """Draw a value, or the head of its column: numbers to the right, texts to the left.

    >>> _cell("td", "1 <b>"), _cell("th", 1, "pages")
    ('<td style="text-align: left">1 &lt;b&gt;</td>', '<th>pages</th>')
    """
    style = None if value is None or isinstance(value, int | float) else _LEFT
    return element(tag, _shown(value) if words is None else words, style=style)


def _named(key: str) -> str:
    """Write the name of a field for people.

    >>> _named("found_on")
    'found on'
    """
    return key.replace("_", " ")


def _shown(value: object) -> str:
    """Write a value for people: a number with as many digits as mean something, nothing for None.

    A page on this disk is linked, if a notebook can open it: those of its own folder.

    >>> _shown(87.4766355140187), _shown(123456.7), _shown(81), _shown(None)
    ('87.48', '123,457', '81', '')
    """
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # noqa: PLR2004 - more have an exponent
    if isinstance(value, Path) and value.suffix == ".html":
        return _page_link(value)
    return "" if value is None else str(value)


def _page_link(page: Path) -> str:
    here, place = Path.cwd(), page.absolute()
    if not place.is_relative_to(here):
        return str(page)
    return element("a", str(page), href=quote(place.relative_to(here).as_posix()))
