"""Lists in plain text: a URL per line, as the sitemap protocol allows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.readers.listed import LINES_OF_TEXT, Listed

if TYPE_CHECKING:
    from collections.abc import Iterator

# It begins with letters that occur in few places, so that millions of empty lines are skipped at once.
_ADDRESS = re.compile(r"https?://\S{1,4096}")
# How far from the margin a URL may begin.
_MARGIN_CHARS = 20


def read_lines(text: str) -> Iterator[Listed]:
    """Yield the lines that begin with a URL; all others are left out.

    >>> [listed.reference for listed in read_lines("  http://example.org/a  and http://example.org/b")]
    ['http://example.org/a']
    """
    for found in _ADDRESS.finditer(text):
        at = found.start()
        before = text[max(0, at - _MARGIN_CHARS) : at].rstrip(" \t\ufeff")
        if before[-1:] in {"\r", "\n"} or (not before and at < _MARGIN_CHARS):
            yield Listed(found[0], LINES_OF_TEXT)


def is_list_of_lines(head: str) -> bool:
    """Tell whether a text begins with a URL, as a list does."""
    return "<" not in head and head.lstrip(" \t\r\n\ufeff").startswith(("http://", "https://"))
