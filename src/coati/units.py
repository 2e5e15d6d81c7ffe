"""Sizes, durations and numbers as people write and read them: 10MB, 1h30m, 1,234 files."""

from __future__ import annotations

import math
import re

from coati.errors import ConfigError

_SIZES = {
    "": 1,
    "b": 1,
    "k": 10**3, "kb": 10**3, "kib": 2**10,
    "m": 10**6, "mb": 10**6, "mib": 2**20,
    "g": 10**9, "gb": 10**9, "gib": 2**30,
    "t": 10**12, "tb": 10**12, "tib": 2**40,
}  # fmt: skip

_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)\Z", re.IGNORECASE)
_TIME_PART = re.compile(r"(?<![\d.])(\d++(?:\.\d++)?+)\s*+([a-z]++)\s*+", re.IGNORECASE)

# Beyond this a number is a slip, and SQLite could not hold it.
_MAX_BYTES = 1 << 62


def parse_bytes(text: str) -> int:
    """Read a size; a bare number is bytes, MB are millions and MiB are powers of two.

    >>> parse_bytes("10MB"), parse_bytes("2 GiB"), parse_bytes("512")
    (10000000, 2147483648, 512)
    """
    found = _SIZE.match(text.strip())
    unit = None if found is None else _SIZES.get(found.group(2).lower())
    if found is None or unit is None:
        raise ConfigError(f"not a size: {text!r}; write it as 500kB, 10MB or 2GiB")
    size = float(found.group(1)) * unit
    if size > _MAX_BYTES:
        raise ConfigError(f"{text!r} is more than any disk holds")
    return round(size)


def parse_seconds(text: str) -> float:
    """Read a duration; a bare number is seconds, and parts add up.

    >>> parse_seconds("90s"), parse_seconds("1h30m"), parse_seconds("0.5")
    (90.0, 5400.0, 0.5)
    """
    text = text.strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _sum_of_parts(text)
    if not math.isfinite(seconds) or seconds < 0:
        raise ConfigError(f"not a time: {text!r}; write it as 90s, 15m or 2h")
    return seconds


def _sum_of_parts(text: str) -> float:
    parts = list(_TIME_PART.finditer(text))
    units = [_TIMES.get(part.group(2).lower()) for part in parts]
    if not parts or "".join(part.group(0) for part in parts) != text:
        return math.nan
    return math.fsum(
        math.nan if unit is None else float(part.group(1)) * unit
        for part, unit in zip(parts, units, strict=True)
    )


def format_bytes(size: float) -> str:
    """Write a size for people.

    >>> format_bytes(0), format_bytes(1234), format_bytes(25_300_000)
    ('0 B', '1.2 kB', '25.3 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:  # noqa: PLR2004 - what rounds to a thousand belongs to the next unit
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def format_seconds(seconds: float) -> str:
    """Write a duration for people, in its two largest units.

    >>> format_seconds(4.2), format_seconds(75), format_seconds(9000), format_seconds(200_000)
    ('4 s', '1 min 15 s', '2 h 30 min', '2 d 7 h')
    """
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    return " ".join(f"{count} {unit}" for count, unit in parts[:2] if count or len(parts) == 1)


def format_delay(seconds: float) -> str:
    """Write a short duration with its fraction, such as what passes between two requests.

    >>> format_delay(0.5), format_delay(4.0), format_delay(90)
    ('0.5 s', '4 s', '1 min 30 s')
    """
    return f"{seconds:.3g} s" if seconds < 60 else format_seconds(seconds)  # noqa: PLR2004 - a minute


def format_count(number: int, noun: str = "", nouns: str = "") -> str:
    """Write a number with its noun.

    >>> format_count(1), format_count(1234, "file"), format_count(2, "address", "addresses")
    ('1', '1,234 files', '2 addresses')
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def format_share(part: float, whole: float) -> str:
    """Write a share in percent, never as none or all of it if it is not.

    >>> format_share(1, 3), format_share(1, 10_000), format_share(9999, 10_000), format_share(0, 0)
    ('33 %', 'under 1 %', 'over 99 %', '0 %')
    """
    if not part or not whole:
        return "0 %"
    percent = round(100 * part / whole)
    if percent == 0:
        return "under 1 %"
    return "over 99 %" if percent == 100 and part < whole else f"{percent} %"  # noqa: PLR2004 - percent
