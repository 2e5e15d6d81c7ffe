"""Calendars as inline SVG: what came on which day, and at which hour of which weekday."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from coati.reporting.safe_html import Html, element
from coati.units import format_count

_CELL, _GAP = 13, 3
_STEP = _CELL + _GAP
_LEFT, _TOP = 34, 20
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEK = len(_DAYS)
_HOURS = 24
# A year fits on a page; a longer watch shows its last one.
MOST_WEEKS = 53
# How many shades there are; the style sheet has them.
_SHADES = 4


def day_calendar(counts: Mapping[date, int], first: date, last: date) -> Html:
    """Draw the days of a watch as columns of weeks, each shaded by how much came."""
    begin = max(first, last - timedelta(weeks=MOST_WEEKS - 1))
    monday = begin - timedelta(days=begin.weekday())
    most = max(counts.values(), default=0)
    parts = [_day_name(number) for number in range(0, _WEEK, 2)]
    named = None
    for number in range((last - monday).days + 1):
        day = monday + timedelta(days=number)
        column, row = divmod(number, _WEEK)
        if day.month != named and (row == 0 or day == begin):
            named = day.month
            parts.append(_text(f"{day:%b}", _LEFT + column * _STEP, _TOP - 8))
        if day >= begin:
            parts.append(_cell(column, row, counts.get(day, 0), most, f"{day:%a} {day.isoformat()}"))
    weeks = (last - monday).days // _WEEK + 1
    # Few weeks would be a drawing too narrow for the names of its months.
    return _drawing("Changes by day", max(weeks, 8), parts)


def hour_calendar(counts: Mapping[tuple[int, int], int]) -> Html:
    """Draw the hours of a week, each shaded by how much came; keys are weekday (Monday is 0) and hour."""
    most = max(counts.values(), default=0)
    parts = [_day_name(number) for number in range(0, _WEEK, 2)]
    parts += [_text(f"{hour:02}", _LEFT + hour * _STEP, _TOP - 8) for hour in range(0, _HOURS, 6)]
    parts += [
        _cell(hour, day, counts.get((day, hour), 0), most, f"{_DAYS[day]} {hour:02}:00")
        for day in range(_WEEK)
        for hour in range(_HOURS)
    ]
    return _drawing("Changes by hour of the week", _HOURS, parts)


def shade_level(count: int, most: int) -> int:
    """Return how dark a cell is: 0 for nothing, then quarters of the most.

    >>> [shade_level(count, 8) for count in (0, 1, 2, 3, 8)]
    [0, 1, 1, 2, 4]
    """
    return 0 if not count else max(1, -(-_SHADES * count // most))


def _cell(column: int, row: int, count: int, most: int, name: str) -> Html:
    return element(
        "rect",
        element("title", f"{name}: {format_count(count)}"),
        class_=f"shade{shade_level(count, most)}",
        x=_LEFT + column * _STEP,
        y=_TOP + row * _STEP,
        width=_CELL,
        height=_CELL,
        rx=2,
    )


def _day_name(row: int) -> Html:
    return _text(_DAYS[row], 0, _TOP + row * _STEP + _CELL - 3)


def _text(text: str, x: int, y: int) -> Html:
    return element("text", text, x=x, y=y)


def _drawing(title: str, columns: int, parts: list[Html]) -> Html:
    width, height = _LEFT + columns * _STEP, _TOP + _WEEK * _STEP
    drawn = element(
        "svg",
        element("title", title),
        *parts,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        class_="calendar",
        aria_label=title,
    )
    return element("div", drawn, class_="scroll")
