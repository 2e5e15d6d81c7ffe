"""Times in tables: ISO 8601, UTC, milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def to_iso(seconds: float) -> str:
    """Write seconds since the epoch.

    >>> to_iso(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    milliseconds = round(seconds * 1000)
    return f"{_whole_second(milliseconds // 1000)}.{milliseconds % 1000:03}Z"


def logged(seconds: float) -> float:
    """Round a time to what a log keeps of it, so that whoever is restored has seen the same moments.

    >>> logged(1_000_000_000.12345)
    1000000000.123
    """
    return round(seconds * 1000) / 1000


@lru_cache(maxsize=64)
def _whole_second(seconds: int) -> str:
    # Each request has three times, nearly always within a few seconds of the last one's.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def from_iso(text: str) -> float:
    """Read seconds since the epoch back.

    >>> from_iso("1970-01-01T00:00:00.500Z")
    0.5
    """
    return datetime.fromisoformat(text).timestamp()
