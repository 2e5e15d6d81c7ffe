"""What a reader sees of a page: its words, without scripts, styles and markup."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from coati.web.charset import decode_page
from coati.web.heavy_pages import balanced, is_heavy
from coati.web.links import MAX_PAGE_BYTES

# What is read of one page: its topic comes early, and a page may be megabytes long.
MAX_TEXT_CHARS = 20_000
_MAX_RAW_CHARS = 10 * MAX_TEXT_CHARS

_SILENT = ["script", "style", "template", "noscript"]


def text_of(body: bytes, content_type: str = "") -> str:
    """Return the text of a page, its title first, with single spaces; nothing raises.

    >>> text_of(b"<title>Trade</title><script>x()</script><p>All <b>files</b> of 2020")
    'Trade All files of 2020'
    """
    text, _ = decode_page(body[:MAX_PAGE_BYTES], content_type)
    if is_heavy(text):
        text, _ = balanced(text)
    return tree_text(LexborHTMLParser(text))


def tree_text(tree: LexborHTMLParser) -> str:
    """Return the text of a parsed page, as `text_of` does; scripts and styles are taken out of the tree."""
    tree.strip_tags(_SILENT)
    words = tree.root.text(separator=" ") if tree.root is not None else ""
    # Cut before splitting: a page may be megabytes of spaces.
    return " ".join(words[:_MAX_RAW_CHARS].split())[:MAX_TEXT_CHARS]
