"""Charts as inline SVG. Colours and fonts come from the style sheet, so that they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coati.reporting.safe_html import Html, element, joined
from coati.units import format_count

_WIDTH, _HEIGHT = 520, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 26, 20, 46
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """A line that rises in steps; ``style`` is its class in the style sheet."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point worth a word."""

    x: float
    y: float
    text: str


def whole(value: float) -> str:
    """Write a number without its fraction."""
    return format_count(round(value))


@dataclass(frozen=True, slots=True)
class Axes:
    """What the two directions mean, and how a value on them is written."""

    title: str
    x_name: str
    y_name: str
    x_text: Callable[[float], str] = whole
    y_text: Callable[[float], str] = whole


def line_chart(axes: Axes, lines: Sequence[Line], mark: Mark | None = None, *, legend: bool = False) -> Html:
    """Draw lines from a common origin; a single one is named where there is to be a ``legend``."""
    x_ticks = ticks(max((x for line in lines for x, _ in line.points), default=0))
    y_ticks = ticks(max((y for line in lines for _, y in line.points), default=0))
    place = _Plane(x_ticks[-1], y_ticks[-1])
    parts = [element("title", axes.title), _grid(axes, place, x_ticks, y_ticks)]
    if mark is not None:
        parts.append(_marked(place, mark))
    parts += [_step_path(place, line) for line in lines]
    if mark is not None:
        parts.append(element("circle", class_="mark", cx=place.x(mark.x), cy=place.y(mark.y), r=4))
    drawing = element(
        "svg", *parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", class_="chart", aria_label=axes.title
    )
    return element("div", _legend(lines) if legend or len(lines) > 1 else None, drawing, class_="scroll")


def bar(part: float, whole: float) -> Html:
    """Draw a small bar for a cell of a table."""
    width = 0 if whole <= 0 else max(1, round(100 * part / whole)) if part > 0 else 0
    drawn = joined(
        element("rect", class_="trough", width=100, height=8, rx=2),
        element("rect", class_="bar", width=width, height=8, rx=2),
    )
    return element("svg", drawn, class_="bar", viewBox="0 0 100 8", aria_hidden="true")


def ticks(most: float) -> list[float]:
    """Choose round numbers from 0 to just above the largest value.

    >>> ticks(43)
    [0, 10, 20, 30, 40, 50]
    >>> ticks(0), ticks(2)
    ([0, 1], [0, 1, 2])
    """
    if most <= 0:
        return [0, 1]
    rough = most / _TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = max(1, next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999))
    return [step * number for number in range(math.ceil(most / step) + 1)]


@dataclass(frozen=True, slots=True)
class _Plane:
    most_x: float
    most_y: float

    def x(self, value: float) -> str:
        return f"{_LEFT + (_WIDTH - _LEFT - _RIGHT) * value / self.most_x:.1f}".removesuffix(".0")

    def y(self, value: float) -> str:
        return f"{_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / self.most_y:.1f}".removesuffix(
            ".0"
        )


def _grid(axes: Axes, place: _Plane, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> Html:
    left, right, bottom = _LEFT, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for value in y_ticks:
        y = place.y(value)
        parts.append(element("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        parts.append(_label(axes.y_text(value), left - 8, y, "end", dy="0.32em"))
    parts += [_label(axes.x_text(value), place.x(value), bottom + 18, "middle") for value in x_ticks]
    parts.append(_label(axes.x_name, right, _HEIGHT - 6, "end", class_="name"))
    parts.append(_label(axes.y_name, left + 8, _TOP - 6, "start", class_="name"))
    return joined(*parts)


def _label(text: str, x: float | str, y: float | str, anchor: str, **more: str) -> Html:
    return element("text", text, x=str(x), y=str(y), text_anchor=anchor, **more)


def _marked(place: _Plane, mark: Mark) -> Html:
    x, y = place.x(mark.x), place.y(mark.y)
    # To the right and at the bottom a rising curve leaves room; near the right edge only the bottom is left.
    left = mark.x > place.most_x * 0.55
    return joined(
        element("line", class_="mark", x1=x, x2=x, y1=y, y2=_HEIGHT - _BOTTOM),
        _label(
            mark.text,
            float(x) + (-8 if left else 8),
            _HEIGHT - _BOTTOM - 10,
            "end" if left else "start",
            class_="mark",
        ),
    )


def _step_path(place: _Plane, line: Line) -> Html:
    if not line.points:
        return joined()
    (x, y), *rest = line.points
    moves = [f"M{place.x(x)} {place.y(y)}"]
    for x, y in rest:
        moves.append(f"H{place.x(x)}V{place.y(y)}")
    return element("path", class_=f"line {line.style}", d="".join(moves))


def _legend(lines: Sequence[Line]) -> Html:
    entries = [
        element("span", element("span", class_=f"swatch {line.style}"), line.name, class_="entry")
        for line in lines
    ]
    return element("p", *entries, class_="legend")
