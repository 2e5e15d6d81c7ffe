"""Pages that would cost a parser far more than their size: found by cheap signs, and made harmless.

The HTML standard's tree construction looks through all open elements for nearly every tag, compares each
attribute of a tag with all others, and opens unclosed formatting elements (``<b>``, ``<font>``) again in
every paragraph that follows. So a page of a few hundred kilobytes can keep lexbor busy for minutes or fill
the memory: 100,000 nested ``<div>``, one tag with 100,000 attributes, 2,000 different ``<b>`` before 2,000
``<p>``. Browsers defend themselves with a limit of depth, and so do we.

A page with such signs is written again before it is parsed: the same tags and texts in the same order, with
the attributes that we read and no others, every element closed where its parent ends, at most `MAX_DEPTH`
deep. Well-formed markup keeps its tree. What a browser would open again, we leave closed; that is the price,
and only very large or hostile pages pay it.

What is written is made of nothing but what was understood here, so it does not matter to the parser how
the page was meant to confuse it.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Chromium's limit is the same.
MAX_DEPTH = 512
# What is kept of a page; each element takes some 300 bytes in the tree. The largest honest page of our
# replicas has half as many.
MAX_ELEMENTS = 1 << 17

# Signs of a heavy page: this many characters, or tags; this many copies of formatting elements (different
# ones times tags); a tag of this many characters. Without them the worst page takes less than a second and
# 150 MB. Of 94,674 pages of fifteen real sites, some 200 have one of the signs. Honest pages with a library
# of scripts inside have four million characters.
_MANY_CHARS = 1 << 23
_MANY_TAGS = 1 << 14
_MANY_COPIES = 1 << 18
_LONG_TAG_CHARS = 1 << 12

# Faster than ignoring case; and most tags are ruled out by their first two characters.
_FORMATTING = re.compile(
    r"<(?=[bBcCeEfFiInNsStTuU][\s/iIoOmMtT])"
    r"(?:[bB](?:[iI][gG])?|[iIuU]|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[nN][oO][bB][rR]"
    r"|[sS](?:[mM][aA][lL]{2}|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG]))?|[tT]{2})[\s/][^>]*"
)
_LONG_TAG = re.compile(f"<[A-Za-z][^>]{{{_LONG_TAG_CHARS}}}")

# The standard's tokens. Each alternative takes what it takes and matches to the end of the page at the
# latest, so that going through a page costs time in proportion to its length.
_BLANK = r"[ \t\n\f\r]"
_ATTRIBUTE_PATTERN = (
    rf"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    rf"(?:{_BLANK}*+={_BLANK}*+(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\f\r>\"'][^ \t\n\f\r>]*+)?+)?+"
)
_TOKEN = re.compile(
    r"<(?:"
    rf"(?P<start>[A-Za-z][^ \t\n\f\r/>]*+)(?P<attributes>(?:[ \t\n\f\r/]*+{_ATTRIBUTE_PATTERN})*+)"
    r"(?P<slash>[ \t\n\f\r/]*+)(?:>|\Z)"
    r"|/(?P<end>[A-Za-z][^ \t\n\f\r/>]*+)[^>]*+(?:>|\Z)"
    r"|!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|(?P<doctype>![dD][oO][cC][tT][yY][pP][eE][^>]*+>)"
    r"|[!?/][^>]*+(?:>|\Z)"
    r")",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(_ATTRIBUTE_PATTERN)
# No honest tag has more; what follows them is not looked at.
_MAX_ATTRIBUTES = 128
# What links are made of, and structured data.
_KEPT_ATTRIBUTES = _words(
    "class content href http-equiv id itemprop itemref itemscope itemtype name prefix property rel resource"
    " rev src typeof vocab"
)

_VOID = _words(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr"
)
# Their content is text, whatever it looks like.
_RAW_TEXT = {
    name: re.compile(rf"</{name}[ \t\n\f\r/>]", re.IGNORECASE)
    for name in ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
}
_FOREIGN = frozenset({"math", "svg"})
# An end tag inside one of these closes nothing outside; those of a table stop at the table alone.
_SCOPES = _words("applet caption html marquee object table td template th")
_TABLE_PARTS = _words("caption table tbody td tfoot th thead tr")

_BLOCKS = _words(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre search section summary table"
    " ul"
)
_ROW_GROUP = frozenset({"tbody", "tfoot", "thead"})
# What a start tag closes when it is open at the end of the stack.
_CLOSES: dict[str, frozenset[str]] = {
    "a": frozenset({"a"}),
    "dd": frozenset({"dd", "dt", "p"}),
    "dt": frozenset({"dd", "dt", "p"}),
    "li": frozenset({"li", "p"}),
    "optgroup": frozenset({"optgroup", "option"}),
    "option": frozenset({"option"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tr": frozenset({"td", "th", "tr"}),
    **dict.fromkeys(_ROW_GROUP, _ROW_GROUP | {"td", "th", "tr"}),
}
_CLOSES_P = frozenset({"p"})
_INLINE = _words(
    "a abbr b bdi bdo big cite code em font i label nobr q s small span strike strong sub sup tt u"
)
_MAX_INLINE_PASSED = 8


def is_heavy(text: str) -> bool:
    """Tell whether a page has signs of one that must not be parsed as it is.

    >>> is_heavy("<p>Hello"), is_heavy("<div>" * 100_000)
    (False, True)
    """
    tags = text.count("<")
    if tags > _MANY_TAGS or len(text) > _MANY_CHARS:
        return True
    # Half of the tags, opened again in the other half, is the worst that there can be.
    if tags**2 > 4 * _MANY_COPIES and len(set(_FORMATTING.findall(text))) * tags > _MANY_COPIES:
        return True
    # A tag that long spans at least one of these windows; most pages have none without a ">".
    step = _LONG_TAG_CHARS // 2
    windows = range(0, len(text) - step + 1, step)
    return any(text.find(">", at, at + step) < 0 for at in windows) and _LONG_TAG.search(text) is not None


def balanced(text: str) -> tuple[str, bool]:
    """Write a page with the same links again, shallow and well-formed; also tell whether its end was cut off.

    >>> balanced("<ul><li><a href=/x onclick=y()>X<li>Y</table>")
    ('<ul><li><a href=/x >X</a></li><li>Y</li></ul>', False)
    """
    writer = _Writer()
    at = 0
    while True:
        token = _TOKEN.search(text, at)
        if token is None:
            writer.text(text[at:])
            return writer.finish(), False
        writer.text(text[at : token.start()])
        at = token.end()
        if (name := token["start"]) is not None:
            if text[at - 1] != ">":
                # The page ends within the tag, which then does not count.
                return writer.finish(), False
            if writer.elements >= MAX_ELEMENTS:
                return writer.finish(), True
            name = name.lower()
            if name == "plaintext":
                return writer.finish(), False
            closed = "/" in token["slash"]
            # As the standard does; the parser would take 25 bytes for each.
            attributes = " ".join(_kept(token["attributes"])).replace("\0", "\N{REPLACEMENT CHARACTER}")
            writer.start(name, attributes, closed=closed)
            if name in _RAW_TEXT:
                end = _RAW_TEXT[name].search(text, at)
                at = len(text) if end is None else end.start()
        elif (name := token["end"]) is not None:
            writer.end(name.lower())
        elif token["doctype"] is not None:
            writer.text_as_is(token[0])


def _kept(attributes: str) -> Iterator[str]:
    """Return the attributes that links and structured data are made of, as they were written, each once."""
    if not attributes:
        return
    wanted = set(_KEPT_ATTRIBUTES)
    for found in islice(_ATTRIBUTE.finditer(attributes), _MAX_ATTRIBUTES):
        attribute = found[0]
        name = attribute.partition("=")[0].rstrip().lower()
        if name in wanted:
            wanted.remove(name)
            # The blank keeps a value without quotes apart from what follows it.
            yield attribute + " "


class _Writer:
    """Keeps the open elements, and writes an end tag for every one of them."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._open: list[str] = []
        # Where in the stack the open elements of each name are, and the scopes among them.
        self._places: dict[str, list[int]] = {}
        self._scopes: list[int] = []
        self._foreign = 0
        # Elements below the greatest depth are left out; these are still to be closed.
        self._left_out: dict[str, int] = {}
        self.elements = 0

    def text(self, text: str) -> None:
        if "<" in text:
            text = text.replace("<", "&lt;")
        # The standard leaves them out here; the parser would take 25 bytes for each.
        self._out.append(text.replace("\0", ""))

    def text_as_is(self, text: str) -> None:
        self._out.append(text)

    def start(self, name: str, attributes: str, *, closed: bool) -> None:
        foreign = self._foreign > 0
        if not foreign:
            self._make_room_for(name)
        leaf = name in _VOID or name in _RAW_TEXT or (closed and foreign)
        if not leaf and len(self._open) >= MAX_DEPTH + (name == "a"):
            self._left_out[name] = self._left_out.get(name, 0) + 1
            return
        self.elements += 1
        self._out.append(f"<{name} {attributes}>" if attributes else f"<{name}>")
        if name in _RAW_TEXT or (leaf and foreign):
            self._out.append(f"</{name}>")
        elif not leaf:
            place = len(self._open)
            self._open.append(name)
            self._places.setdefault(name, []).append(place)
            if name in _SCOPES:
                self._scopes.append(place)
            elif name in _FOREIGN:
                self._foreign += 1

    def end(self, name: str) -> None:
        if self._left_out.get(name):
            self._left_out[name] -= 1
            return
        places = self._places.get(name)
        if not places or name in {"body", "html"}:
            return
        # How far up this end tag may look: as its table, or as the innermost scope.
        scopes = self._places.get("table") if name in _TABLE_PARTS else self._scopes
        if not scopes or places[-1] >= scopes[-1]:
            self._close_to(places[-1])

    def finish(self) -> str:
        self._close_to(0)
        return "".join(self._out)

    def _make_room_for(self, name: str) -> None:
        """Close what the standard closes before such a start tag."""
        closes = _CLOSES.get(name) or (_CLOSES_P if name in _BLOCKS else None)
        if closes is None:
            return
        place = len(self._open) - 1
        lowest = place - _MAX_INLINE_PASSED
        while place >= max(lowest, 0):
            if self._open[place] in closes:
                self._close_to(place)
            elif self._open[place] not in _INLINE:
                return
            place -= 1

    def _close_to(self, depth: int) -> None:
        """Close the open elements from this place of the stack on."""
        while len(self._open) > depth:
            name = self._open.pop()
            self._places[name].pop()
            if name in _SCOPES:
                self._scopes.pop()
            elif name in _FOREIGN:
                self._foreign -= 1
            self._out.append(f"</{name}>")
        if depth < MAX_DEPTH:
            self._left_out.clear()
