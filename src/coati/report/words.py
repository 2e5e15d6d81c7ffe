"""Numbers, sizes and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_UNITS = ("B", "kB", "MB", "GB", "TB")
# Below this a size is written with one decimal.
_SMALL = 9.95


def count(number: int, noun: str = "", nouns: str = "") -> str:
    """Write a number with its noun.

    >>> count(1), count(1234, "file"), count(2, "address", "addresses")
    ('1', '1,234 files', '2 addresses')
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def size(size_bytes: float) -> str:
    """Write a number of bytes.

    >>> size(5), size(1234), size(12_345_678)
    ('5 B', '1.2 kB', '12 MB')
    """
    value, unit = float(size_bytes), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:  # noqa: PLR2004 - what is rounded to a thousand
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit and value < _SMALL else f"{value:.0f} {_UNITS[unit]}"


def share(part: float, whole: float) -> str:
    """Write a share in percent, never as none or all of it if it is not.

    >>> share(1, 3), share(1, 10_000), share(9999, 10_000), share(0, 0)
    ('33 %', 'under 1 %', 'over 99 %', '0 %')
    """
    if not part or not whole:
        return "0 %"
    percent = round(100 * part / whole)
    if percent == 0:
        return "under 1 %"
    return "over 99 %" if percent == 100 and part < whole else f"{percent} %"  # noqa: PLR2004 - percent


def duration(seconds: float) -> str:
    """Write a length of time.

    >>> duration(0.4), duration(75), duration(7300), duration(90_000)
    ('under a second', '1 min 15 s', '2 h 1 min', '1 day 1 h')
    """
    whole = round(seconds)
    if whole < 1:
        return "under a second"
    if whole < _MINUTE:
        return count(whole, "second")
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{count(whole // _DAY, 'day')} {whole % _DAY // _HOUR} h"


def when(iso: str | None) -> str:
    """Write a time of the log; its own text where it is no time.

    >>> when("2026-03-01T09:05:07.000Z")
    '1 March 2026, 09:05 UTC'
    """
    time = _time(iso)
    return f"{time.day} {time:%B %Y, %H:%M} UTC" if time else (iso or "")[:32]


def briefly_when(iso: str | None) -> str:
    """Write a time for a narrow column.

    >>> briefly_when("2026-03-01T09:05:07.000Z")
    '2026-03-01 09:05'
    """
    time = _time(iso)
    return f"{time:%Y-%m-%d %H:%M}" if time else (iso or "")[:16]


def _time(iso: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(iso).astimezone(UTC) if iso else None
    except ValueError:
        return None
