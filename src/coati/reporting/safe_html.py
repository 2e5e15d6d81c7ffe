"""HTML that cannot be broken by what stands in it: every text is escaped, unless it is `Html` already.

Texts, file names and addresses in a run come from the web, and the report is opened by people who trust it.
So there is one way to make HTML here, and it escapes; a link leads to the web or into the run folder and
nowhere else.
"""

from __future__ import annotations

import json
import re
from html import escape
from urllib.parse import quote

from coati.web.invisible_characters import INVISIBLE

# Longer texts are cut: the web has anchors of a megabyte.
MAX_TEXT_CHARS = 160

_BLANKS = re.compile(r"\s+")

_VOID = frozenset({"br", "hr", "meta", "wbr"})

# After these a long address or name may continue in the next line.
_BREAKS = re.compile(r"(?<=[/_.?&=-])(?=[^/_.?&=-])")

# The most that a browser takes as an address; a longer one is shown and not linked.
_MAX_LINK_CHARS = 4096


class Html(str):
    """Text that is HTML and must not be escaped again; only this module makes it from other text."""

    __slots__ = ()


Part = Html | str | int | None
"""What may stand within an element; None stands for nothing."""


def element(tag: str, /, *parts: Part, **attributes: str | int | None) -> Html:
    """Build an element; an attribute that is None is left out, underscores become hyphens.

    >>> element("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(*parts)}</{tag}>")


def joined(*parts: Part) -> Html:
    """Put parts side by side.

    >>> joined("a & b", element("b", 3))
    'a &amp; b<b>3</b>'
    """
    return Html("".join(_html(part) for part in parts if part is not None))


def breakable(text: str) -> Html:
    """Let an address or a name break after its parts, so that no word is broken in the middle.

    >>> breakable("/data/a&b")
    '/<wbr>data/<wbr>a&amp;<wbr>b'
    """
    first, *rest = _BREAKS.split(text)
    return joined(first, *(part for piece in rest for part in (element("wbr"), piece)))


def data_block(name: str, value: object) -> Html:
    r"""Embed a value for a script of ours to read; no text in it can end the block.

    >>> data_block("x", ["</script>"])
    '<script id="x" type="application/json">["\\u003c/script\\u003e"]</script>'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return element("script", Html(text), id=name, type="application/json")


def web_address(url: str | None) -> str:
    """Return an address that may be linked to: one of the web, and not endless; else nothing."""
    url = url or ""
    return url if url.startswith(("http://", "https://")) and len(url) <= _MAX_LINK_CHARS else ""


def trusted(text: str) -> Html:
    """Take text of our own (a style sheet, a script) as it stands; never call it with anything else."""
    return Html(text)


def shortened(text: str | None, limit: int = MAX_TEXT_CHARS) -> str:
    """Put a text on one line and cut it in the middle if it is too long.

    >>> shortened("http://example.org/a/very/long/address.csv", 24)
    'http://examp…address.csv'
    """
    # No more of a giant is looked at than can be shown.
    text = text or ""
    if len(text) > 16 * limit:
        text = text[: 8 * limit] + text[-8 * limit :]
    text = _BLANKS.sub(" ", _visible(text)).strip()
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def web_link(url: str | None, text: str | None = None, limit: int = MAX_TEXT_CHARS) -> Html:
    """Link to the web; an address that is not of the web (``javascript:``, ``file:``) is only shown."""
    url = url or ""
    shown = breakable(shortened(text, limit) or shortened(url, limit))
    if not web_address(url):
        return element("span", shown, class_="address")
    return element(
        "a", shown, class_="address", href=url, rel="noopener noreferrer", title=shortened(url, 600)
    )


def file_link(name: str, text: str | None = None) -> Html:
    """Link to a file of the run folder, whatever its name holds.

    >>> file_link("a b#1.csv")
    '<a class="file" href="files/a%20b%231.csv">a b#1.<wbr>csv</a>'
    """
    # Folders are followed downwards only, whoever wrote the name.
    downwards = {"", ".", ".."}.isdisjoint(name.split("/"))
    safe = quote(name.encode("utf-8", "surrogateescape"), safe="/" if downwards else "")
    return element("a", breakable(shortened(text or name, 90)), class_="file", href=f"files/{safe}")


def _html(part: Html | str | int) -> str:
    return part if isinstance(part, Html) else escape(_visible(str(part)))


def _visible(text: str) -> str:
    return INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8", "replace").decode()
