"""Parse the Retry-After header: how long a server wants no requests."""

from __future__ import annotations

import email.utils
from datetime import UTC


def parse_retry_after(value: str, now: float) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date; None if it is neither.

    >>> parse_retry_after("120", 0.0)
    120.0
    >>> parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 15.0)
    45.0
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        at = email.utils.parsedate_to_datetime(value)
        seconds = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds - now)
