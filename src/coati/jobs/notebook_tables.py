"""Results as a notebook shows them: a table of names and values, or of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coati.reporting.safe_html import Html, element, joined

_ROWS_SHOWN = 50


def pairs_table(title: str, pairs: Iterable[tuple[str, object]]) -> Html:
    """Draw names and values; texts from the web are escaped.

    >>> pairs_table("A run", [("requests", "1 <b>")])
    '<strong>A run</strong><table><tr><th>requests</th><td>1 &lt;b&gt;</td></tr></table>'
    """
    rows = [element("tr", element("th", name), element("td", str(value))) for name, value in pairs]
    return joined(element("strong", title), element("table", *rows))


def rows_table(title: str, rows: Sequence[Mapping[str, object]]) -> Html:
    """Draw rows under the names of their columns, the first ones of many."""
    if not rows:
        return element("p", f"{title}: nothing")
    head = element("tr", *(element("th", name) for name in rows[0]))
    body = [
        element("tr", *(element("td", "" if value is None else str(value)) for value in row.values()))
        for row in rows[:_ROWS_SHOWN]
    ]
    more = f"{title} (the first {_ROWS_SHOWN} of {len(rows):,})" if len(rows) > _ROWS_SHOWN else title
    return joined(element("strong", more), element("table", element("thead", head), element("tbody", *body)))
