"""A response of an API as readers see it: its URL, its headers, and its body as JSON or as text.

Nothing here raises for what a server sends, and everything is bounded: the bytes that are read, the entries
that are gone through, and the texts that are taken out. JSON that is nested too deeply, or of more values
than a catalogue has, is not JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import Final

from coati.readers.unpacking import unpack_text

# What is read of one response. A catalogue of ten thousand data sets in one file has about this size.
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
# Entries that are gone through in one list: no API gives this many on one page.
MAX_ENTRIES: Final = 100_000
# Values of one answer: each takes up to 140 bytes of memory, and "{}," is 3 bytes to send. The catalogue
# above has half of this, commas within its texts included.
MAX_VALUES: Final = 1_500_000
_MAX_TEXT_CHARS = 300
_TAGS = re.compile(r"<[^<>]{0,500}>")


@dataclass(frozen=True)
class ApiAnswer:
    """``url`` is where it came from; ``truncated`` says that only the beginning was read."""

    url: str
    text: str
    headers: Mapping[str, str]
    truncated: bool = False

    @classmethod
    def of(cls, url: str, body: bytes, content_type: str, headers: Mapping[str, str]) -> ApiAnswer:
        """Decode a body, within bounds."""
        text, truncated = unpack_text(body, content_type, MAX_ANSWER_BYTES)
        return cls(url, text, headers, truncated)

    @cached_property
    def json(self) -> object:
        """The body as JSON; None where it is not JSON, cut off, nested too deeply, or of too many values."""
        if sum(map(self.text.count, "{[,")) > MAX_VALUES:
            return None
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    def number(self, name: str) -> int | None:
        """Return a header that is a whole number."""
        value = self.headers.get(name, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else None  # noqa: PLR2004


def at(value: object, *keys: str) -> object:
    """Return the value at nested keys; None where there is nothing.

    >>> at({"a": {"b": 1}}, "a", "b"), at([], "a")
    (1, None)
    """
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text_at(value: object, *keys: str) -> str:
    """Return the text at nested keys, on one line and of sensible length; empty if there is none.

    Texts in several languages give the first one, texts with markup lose it.

    >>> text_at({"title": {"rendered": "Taxes &amp; <b>fees</b>"}}, "title")
    'Taxes & fees'
    """
    found = at(value, *keys)
    if isinstance(found, dict):
        found = found.get("rendered") or found.get("en") or next(iter(found.values()), "")
    if isinstance(found, list):
        found = found[0] if found else ""
    if isinstance(found, int | float) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        return ""
    plain = _TAGS.sub(" ", found[: 4 * _MAX_TEXT_CHARS])
    return " ".join(unescape(plain).split())[:_MAX_TEXT_CHARS]


def address_at(value: object, *keys: str) -> str:
    """Return the URL at nested keys, as it is written; empty where there is none."""
    found = at(value, *keys)
    if isinstance(found, dict):
        found = found.get("href") or found.get("url") or found.get("@id")
    return found.strip() if isinstance(found, str) and len(found) < 4096 else ""  # noqa: PLR2004 - as all URLs


def count_at(value: object, *keys: str) -> int | None:
    """Return the whole number at nested keys, also where it is written as a text."""
    found = at(value, *keys)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 12:  # noqa: PLR2004
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def entries_at(value: object, *keys: str) -> Iterator[dict[str, object]]:
    """Yield the objects of a list at nested keys; of an object, its values."""
    found = at(value, *keys)
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list):
        yield from (entry for entry in found[:MAX_ENTRIES] if isinstance(entry, dict))
