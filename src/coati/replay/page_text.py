"""What a reader sees of a page: its words, without scripts, styles and markup."""

from __future__ import annotations

from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from coati.web.balance import balanced, is_heavy
from coati.web.charset import decode_page
from coati.web.links import MAX_PAGE_BYTES

# What is read of one page: its topic stands early, and a page may be megabytes long.
MAX_TEXT_CHARS = 20_000
_MAX_NODES = 50_000

_SILENT = frozenset({"script", "style", "template", "noscript"})


def text_of(body: bytes, content_type: str = "") -> str:
    """Give the text of a page, its title first, with single spaces; nothing raises.

    >>> text_of(b"<title>Trade</title><script>x()</script><p>All <b>files</b> of 2020")
    'Trade All files of 2020'
    """
    text, _ = decode_page(body[:MAX_PAGE_BYTES], content_type)
    if is_heavy(text):
        text, _ = balanced(text)
    root = LexborHTMLParser(text).root
    pieces: list[str] = []
    wanted = MAX_TEXT_CHARS
    for part in islice(root.traverse(include_text=True), _MAX_NODES) if root is not None else ():
        found = part.text_content
        if found is None or (part.parent is not None and part.parent.tag in _SILENT):
            continue
        if words := " ".join(found[: 2 * MAX_TEXT_CHARS].split()):
            pieces.append(words)
            wanted -= len(words) + 1
            if wanted <= 0:
                break
    return " ".join(pieces)[:MAX_TEXT_CHARS]
