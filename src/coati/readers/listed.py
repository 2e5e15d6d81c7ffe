"""What a reader finds in a list: references, each with its place and what else the list says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from coati.web.links import ParsedLinks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coati.model import PageLinks

TagPath = tuple[str, ...]

PAGES_OF_SITEMAP: Final[TagPath] = ("urlset", "url", "loc")
SITEMAPS_OF_INDEX: Final[TagPath] = ("sitemapindex", "sitemap", "loc")
SITEMAPS_OF_ROBOTS: Final[TagPath] = ("robots.txt", "sitemap")
LINES_OF_TEXT: Final[TagPath] = ("text", "line")

_NAMES_SITEMAPS: Final = frozenset({SITEMAPS_OF_INDEX, SITEMAPS_OF_ROBOTS})

API_PAGE: Final = "api page"
API_PROBE: Final = "api probe"
"""How the tag path of a URL of a site's own software ends (`coati.shortcuts`): one that lists files, and
one that may. No element of HTML is called so."""

ARCHIVED: Final = "archived"
"""How the tag path of a URL ends that an index of a web archive knows."""

_APIS: Final = frozenset({API_PAGE, API_PROBE})


def is_api(tag_path: TagPath) -> bool:
    """Tell whether a link leads to a page of an API.

    >>> is_api(("wordpress", "media", API_PAGE)), is_api(("wordpress", "media", "source_url"))
    (True, False)
    """
    return bool(tag_path) and tag_path[-1] in _APIS


def names_list(tag_path: TagPath) -> bool:
    """Tell whether a link leads to a further list: a sitemap, or a page of an API."""
    return names_sitemap(tag_path) or is_api(tag_path)


def names_sitemap(tag_path: TagPath) -> bool:
    """Tell whether a link leads to a sitemap that an index or a robots.txt names."""
    return tag_path in _NAMES_SITEMAPS


def named_first(links: PageLinks, names: Callable[[TagPath], bool]) -> Sequence[str]:
    """Return the URLs that a page names as lists; they come before all others.

    >>> from coati.model import Link, LinkList
    >>> links = [Link("http://a.test/api", ("ckan", API_PAGE)), Link("http://a.test/b.csv", ("ckan", "url"))]
    >>> named_first(LinkList(links), is_api)
    ['http://a.test/api']
    """
    # No element of HTML names one, and building its first link to see that would take longer than all else.
    if isinstance(links, ParsedLinks):
        return ()
    others = (at for at in range(len(links.urls)) if not names(links.link(at).tag_path))
    return links.urls[: next(others, len(links.urls))]


class Listed(NamedTuple):
    """One entry of a list; ``reference`` may be relative, ``modified`` is in seconds since the epoch.

    Without a ``context`` of its own, the anchor is all the text around it. ``heading`` names what the entry
    belongs to, such as the data set of a file, ``licence`` is the one that the list states, and ``archived``
    is where a web archive keeps what it saw there.
    """

    reference: str
    tag_path: TagPath
    anchor: str = ""
    modified: float | None = None
    context: str | None = None
    heading: str = ""
    licence: str = ""
    archived: str = ""
