"""Moments as text: ISO 8601 in UTC for programs and tables, words for people, and what people write.

A moment is a number: seconds since the epoch.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from coati.errors import ConfigError


def to_iso(seconds: float) -> str:
    """Write a moment as logs and tables hold it, with milliseconds.

    >>> to_iso(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    milliseconds = round(seconds * 1000)
    return f"{_whole_second(milliseconds // 1000)}.{milliseconds % 1000:03}Z"


def from_iso(text: str) -> float:
    """Read a moment back; raises `ValueError` for anything else.

    >>> from_iso("1970-01-01T00:00:00.500Z"), from_iso("1970-01-01T00:01:00")
    (0.5, 60.0)
    """
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def to_iso_seconds(seconds: float) -> str:
    """Write a moment without its fraction.

    >>> to_iso_seconds(0.9)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def to_exact_iso(seconds: float) -> str:
    """Write a moment with as many digits as it has, so that `from_iso` returns the same one.

    >>> to_exact_iso(0.0), to_exact_iso(0.000001)
    ('1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000001Z')
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def logged(seconds: float) -> float:
    """Round a time to what a log keeps of it, so that whoever is restored has seen the same moments.

    >>> logged(1_000_000_000.12345)
    1000000000.123
    """
    return round(seconds * 1000) / 1000


def format_moment(iso: str | None, *, short: bool = False) -> str:
    """Write a time of the log for people, or its own text where it is not a time.

    >>> format_moment("2026-03-01T09:05:07.000Z"), format_moment("2026-03-01T09:05:07.000Z", short=True)
    ('1 March 2026, 09:05 UTC', '2026-03-01 09:05')
    """
    try:
        time = datetime.fromisoformat(iso or "").astimezone(UTC)
    except ValueError:
        return (iso or "")[:32]
    return f"{time:%Y-%m-%d %H:%M}" if short else f"{time.day} {time:%B %Y, %H:%M} UTC"


def format_clock(seconds: float) -> str:
    """Write the time of day of a moment.

    >>> format_clock(3661)
    '01:01:01 UTC'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S} UTC"


def parse_moment(text: str, *, end_of_day: bool = False) -> float:
    """Read a time or a day as people write it, in UTC where it does not say otherwise.

    A day is taken from its beginning, or to its end.

    >>> parse_moment("1970-01-01T00:01"), parse_moment("1970-01-02")
    (60.0, 86400.0)
    """
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{text!r} is not a time: write it like 2024-05-06 or 2024-05-06T12:00") from None
    if end_of_day and len(text) == len("2024-05-06"):
        moment += timedelta(days=1, microseconds=-1)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@lru_cache(maxsize=64)
def _whole_second(seconds: int) -> str:
    # Each request has three times, nearly always within a few seconds of the last one's.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]
