"""Dates as sitemaps and feeds write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# A year, or a year and a month: what the W3C's form of dates allows and Python's reader does not.
_COARSE = re.compile(r"(\d{4})(?:-(\d{2}))?\Z")
_MAX_CHARS = 60


def seconds_of(text: str) -> float | None:
    """Return the seconds since the epoch of a date, in whole seconds; None where it is not a date after 1970.

    Without a time zone it is taken for UTC.

    >>> seconds_of("1970-01-02"), seconds_of("Fri, 02 Jan 1970 01:00:00 +0100"), seconds_of("yesterday")
    (86400.0, 86400.0, None)
    """
    text = text.strip()
    if not text or len(text) > _MAX_CHARS:
        return None
    coarse = _COARSE.match(text)
    if coarse is not None:
        text = f"{coarse[1]}-{coarse[2] or '01'}-01"
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
        return float(int(seconds)) if seconds >= 0 else None
    return None
