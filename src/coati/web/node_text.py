"""The texts of a page's elements, bounded whatever the page holds."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_TEXT_CHARS = 300
# How far into an element its text is looked for. It may hold the whole page.
_MAX_TEXT_NODES = 500
# What all texts of a page may cost together, in characters looked at; a node costs as much as this many. The
# same long text may be in an ancestor of each link. Elements beyond have no texts.
_MAX_TEXT_WORK = 1 << 26
_WORK_OF_A_NODE = 64


class NodeTexts:
    """Reads the texts of one page."""

    __slots__ = ("_work_left",)

    def __init__(self) -> None:
        self._work_left = _MAX_TEXT_WORK

    def text_of(self, node: LexborNode, between: str = "") -> str:
        """Return the first words of an element, scripts and styles left out.

        ``between`` separates two texts: a blank divides what only the layout keeps apart.
        """
        pieces = []
        wanted = MAX_TEXT_CHARS
        silent = False
        work_left = self._work_left
        for part in islice(node.traverse(include_text=True), _MAX_TEXT_NODES):
            if work_left <= 0:
                break
            work_left -= _WORK_OF_A_NODE
            text = part.text_content
            if text is None:
                silent = part.tag in {"script", "style"}
                continue
            work_left -= len(text)
            if not silent:
                # Cut before splitting: one text may be as long as the page.
                pieces.append(text[: 2 * MAX_TEXT_CHARS])
                wanted -= len(text.strip())
                if wanted <= 0:
                    break
        self._work_left = work_left
        return " ".join(between.join(pieces).split())[:MAX_TEXT_CHARS]
