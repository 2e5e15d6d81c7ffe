"""The text of an element, bounded whatever the page holds."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_TEXT_CHARS = 300
# How far into an element its text is looked for. It may hold the whole page.
_MAX_TEXT_NODES = 500


def text_of(node: LexborNode, between: str = "") -> str:
    """Return the first words of an element, scripts and styles left out.

    ``between`` stands between two texts: a blank parts what only the layout keeps apart.
    """
    pieces = []
    wanted = MAX_TEXT_CHARS
    silent = False
    for part in islice(node.traverse(include_text=True), _MAX_TEXT_NODES):
        text = part.text_content
        if text is None:
            silent = part.tag in {"script", "style"}
        elif not silent:
            # Cut before splitting: one text may be as long as the page.
            pieces.append(text[: 2 * MAX_TEXT_CHARS])
            wanted -= len(text.strip())
            if wanted <= 0:
                break
    return " ".join(between.join(pieces).split())[:MAX_TEXT_CHARS]
