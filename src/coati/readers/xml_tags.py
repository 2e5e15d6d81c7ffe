"""The tags of an XML text, found without an XML parser.

Lists are XML that strangers wrote. Much of it is damaged (a bare ``&`` in a URL is enough for a parser
to give up), and some of it is meant to do harm. So tags are looked for one after the other: nothing is
nested in memory, no entity is declared or expanded, no document type is read. Each part of the pattern is
bounded, and nothing after a part sends the search back into it, so the time is proportional to the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# More tags of the wanted names than the largest list that the sitemap protocol allows has: eight per URL.
MAX_TAGS = 400_000

_MAX_TEXT_CHARS = 5_000
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_COMMENT, _COMMENT_END = "<!--", "-->"
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF


class Tag(NamedTuple):
    """A tag of a wanted name, in lower case; ``text`` is what follows an opening one up to the next tag."""

    name: str
    prefix: str
    closes: bool
    attributes: str
    text: str

    def attribute(self, name: str) -> str:
        """Return the value of an attribute; empty without one."""
        found = _attribute(name).search(self.attributes)
        return plain(found[1] or found[2] or "").strip() if found else ""


def tags(text: str, names: tuple[str, ...] = ()) -> Iterator[Tag]:
    """Yield the tags of these names, of any namespace, in order; without names, all.

    >>> text = "<a><b:loc>x&amp;y</b:loc><!-- <loc>no</loc> --></a>"
    >>> [(tag.name, tag.text) for tag in tags(text, ("loc",))]
    [('loc', 'x&y'), ('loc', '')]
    """
    pattern = _pattern(names)
    found = pattern.search(text)
    for _ in range(MAX_TAGS):
        if found is None:
            return
        at = found.end()
        if found[0] in {_COMMENT, _CDATA}:
            end = text.find(_COMMENT_END if found[0] == _COMMENT else _CDATA_END, at)
            if end < 0:
                return
            at = end + 3
        else:
            closes = bool(found[1])
            attributes = found[4] or ""
            content, at = ("", at) if closes or attributes.endswith("/") else _content(text, at)
            yield Tag(found[3].lower(), (found[2] or "").lower(), closes, attributes, content)
        found = pattern.search(text, at)


def plain(text: str) -> str:
    """Resolve the references that XML itself knows, and no others.

    >>> plain("a&amp;b&#x20;c&copy=1")
    'a&b c&copy=1'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    name = "|".join(names) or r"[A-Za-z_][\w.-]{0,40}"
    return re.compile(
        rf"<!--|<!\[CDATA\[|<(/?)(?:([A-Za-z_][\w.-]{{0,40}}):)?({name})(\s[^<>]*|/)?>", re.IGNORECASE
    )


@cache
def _attribute(name: str) -> re.Pattern[str]:
    return re.compile(rf"\s{name}\s{{0,20}}=\s{{0,20}}(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


def _content(text: str, start: int) -> tuple[str, int]:
    """Return the text from here to the next tag, and where to look on; of what is cut off, nothing."""
    end = text.find("<", start, start + _MAX_TEXT_CHARS)
    if end < 0:
        return "", start
    content = plain(text[start:end]).strip()
    if content or not text.startswith(_CDATA, end):
        return content, end
    start = end + len(_CDATA)
    end = text.find(_CDATA_END, start, start + _MAX_TEXT_CHARS)
    return (text[start:end].strip(), end + len(_CDATA_END)) if end >= 0 else ("", start - len(_CDATA))


def _character(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    if number == 0 or number > _LAST_CHARACTER or number in _SURROGATES:
        return "\N{REPLACEMENT CHARACTER}"
    return chr(number)
