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
    rows = [element("tr", element("th", name), element("td", _shown(value))) for name, value in pairs]
    return joined(element("strong", title), element("table", *rows))


def rows_table(title: str, rows: Sequence[Mapping[str, object]]) -> Html:
    """Draw rows under the names of their columns, the first ones of many."""
    if not rows:
        return element("p", f"{title}: none")
    head = element("tr", *(element("th", name) for name in rows[0]))
    body = [
        element("tr", *(element("td", _shown(value)) for value in row.values())) for row in rows[:_ROWS_SHOWN]
    ]
    more = f"{title} (the first {_ROWS_SHOWN} of {len(rows):,})" if len(rows) > _ROWS_SHOWN else title
    return joined(element("strong", more), element("table", element("thead", head), element("tbody", *body)))


def _shown(value: object) -> str:
    """Write a value for people: a number with as many digits as mean something, nothing for None.

    >>> _shown(87.4766355140187), _shown(123456.7), _shown(81), _shown(None)
    ('87.48', '123,457', '81', '')
    """
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # noqa: PLR2004 - more have an exponent
    return "" if value is None else str(value)
