"""Open Graph: ``<meta property="og:title" content="…">`` in the head of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_NAMESPACES = frozenset({"og", "music", "video", "article", "book", "profile", "product"})
_PREFIX = re.compile(r"(?<!\w)(\w++):\s*+\S++")


def count_open_graph(tree: LexborHTMLParser) -> int:
    """Count the properties that a page's head gives, of Open Graph and of prefixes that the page declares."""
    head = tree.head
    if head is None:
        return 0
    known = set(_NAMESPACES)
    for element in (tree.css_first("html"), head):
        if element is not None:
            known.update(_PREFIX.findall(element.attributes.get("prefix") or ""))
    count = 0
    for meta in head.css("meta[property][content]"):
        parent = meta.parent
        if parent is not None and parent.tag == "head":
            count += (meta.attributes.get("property") or "").partition(":")[0] in known
    return count
