"""What a reader finds in a list: references, each with where it stood and what else the list says of it."""

from __future__ import annotations

from typing import Final, NamedTuple

TagPath = tuple[str, ...]

PAGES_OF_SITEMAP: Final[TagPath] = ("urlset", "url", "loc")
SITEMAPS_OF_INDEX: Final[TagPath] = ("sitemapindex", "sitemap", "loc")
SITEMAPS_OF_ROBOTS: Final[TagPath] = ("robots.txt", "sitemap")
LINES_OF_TEXT: Final[TagPath] = ("text", "line")

NAMES_LISTS: Final = frozenset({SITEMAPS_OF_INDEX, SITEMAPS_OF_ROBOTS})
"""The tag paths of links that lead to further lists."""


class Listed(NamedTuple):
    """One entry of a list; ``reference`` may be relative, ``modified`` is in seconds since the epoch.

    Without a ``context`` of its own, the anchor is all the text around it.
    """

    reference: str
    tag_path: TagPath
    anchor: str = ""
    modified: float | None = None
    context: str | None = None
