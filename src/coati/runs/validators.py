"""Validators (RFC 9110, section 8.8): what a server sends to check later whether a URL has changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# No honest server sends longer ones, which would be sent back with each visit.
_MAX_CHARS = 1024
# A tag in quotes, weak or not. Some servers leave the quotes out, and know such a tag again.
_ETAG = re.compile(r"(W/)?[!\x23-\x7e\x80-\xff\"]+\Z")
_NAMES = ("etag", "last-modified")
_DATE = re.compile(r"[A-Za-z]{3,9}, [0-9A-Za-z :-]{8,30}\Z")


class Validators(NamedTuple):
    """The tag and the date of an answer; None where it had none that could be sent back."""

    etag: str | None = None
    last_modified: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a conditional request; empty where there are none."""
        headers = {}
        if self.etag:
            headers["If-None-Match"] = self.etag
        if self.last_modified:
            headers["If-Modified-Since"] = self.last_modified
        return headers


def validators_in(headers: Iterable[tuple[str, str]]) -> Validators:
    """Find what can be sent back among the headers of an answer.

    >>> validators_in([("ETag", '"a1"'), ("Last-Modified", "yesterday")])
    Validators(etag='"a1"', last_modified=None)
    """
    found: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower in _NAMES:
            found.setdefault(lower, value.strip())
    if not found:
        return Validators()
    etag, date = (found.get(name, "") for name in _NAMES)
    sound = len(etag) <= _MAX_CHARS and _ETAG.match(etag)
    return Validators(etag if sound else None, date if _DATE.match(date) else None)
