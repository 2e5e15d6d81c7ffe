"""Invisible characters that do something: they must not reach a page or a terminal as they are."""

from __future__ import annotations

import re
from typing import Final

# Control characters, and those that reverse or hide text: with them a name can look like another one.
INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def safe(text: str) -> str:
    r"""Write control characters, and those that hide or reverse text, as JSON would: JSON stays what it is.

    >>> print(safe("ul.\x1b[2J > a"))
    ul.\u001b[2J > a
    """
    return INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
