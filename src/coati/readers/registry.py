"""Every format with its reader, behind one door: from bytes, URL and media type to links.

Whoever drives a crawl uses this one, so that a strategy sees the same links live, in a replay, and out of an
archive. Everything is bounded: the bytes (`coati.readers.unpacking`), the tags (`coati.readers.markup`) and
the links. What is beyond a bound is not read, and the page says so.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from coati.model import Link, LinkList
from coati.readers.feed import read_feed
from coati.readers.formats import Format
from coati.readers.hits import list_hits
from coati.readers.lines import read_lines
from coati.readers.listed import NAMES_LISTS
from coati.readers.robots import read_robots
from coati.readers.sitemap import read_sitemap
from coati.readers.unpacking import unpack
from coati.web.links import LinkExtractor
from coati.web.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coati.model import PageLinks
    from coati.readers.listed import Listed
    from coati.web.rules import Refusal, Rules

# Twice what the sitemap protocol allows in one file; the links after that are left out.
MAX_LINKS: Final = 100_000

READERS: Final[Mapping[Format, Callable[[str], Iterator[Listed]]]] = {
    Format.SITEMAP: read_sitemap,
    Format.FEED: read_feed,
    Format.LINES: read_lines,
    Format.ROBOTS: read_robots,
}
"""The readers of texts. Those of HTML (`LinkExtractor`) and of hits (`list_hits`) read bytes."""


class ReadPage(NamedTuple):
    """What a page gives.

    ``refused`` lists links that the rules forbid, at least when they are met first; ``truncated`` says that
    only the beginning was read, ``nofollow`` that the page asks not to follow its links.
    """

    links: PageLinks
    refused: Sequence[tuple[str, Refusal]] = ()
    truncated: bool = False
    nofollow: bool = False


class PageReader:
    """Reads pages of all formats under the rules of one crawl; bad input gives fewer links, nothing raises.

    >>> page = PageReader().read(Format.LINES, b"http://example.org/a", "http://example.org/list.txt")
    >>> page.links.link(0)
    Link(url='http://example.org/a', tag_path=('text', 'line'), anchor='', context='', modified=None)
    """

    def __init__(self, rules: Rules | None = None) -> None:
        self._rules = rules
        self._html = LinkExtractor(rules)

    def read(self, form: Format, body: bytes, url: str, content_type: str = "") -> ReadPage:
        """Find the links of the page at ``url`` (in normal form), in the order in which they stand."""
        if form is Format.HTML:
            return ReadPage(*self._html.extract(body, url, content_type))
        entries, truncated = _entries(form, body, url, content_type)
        links: list[Link] = []
        refused: list[tuple[str, Refusal]] = []
        for reference, path, anchor, modified, context in islice(entries, MAX_LINKS):
            target = resolve(url, reference)
            if target is None:
                continue
            refusal = self._refusal(target, names_list=path in NAMES_LISTS)
            if refusal is None:
                links.append(Link(target, path, anchor, anchor if context is None else context, modified))
            else:
                refused.append((target, refusal))
        return ReadPage(LinkList(links), refused, truncated or next(entries, None) is not None)

    def _refusal(self, url: str, *, names_list: bool) -> Refusal | None:
        if self._rules is None:
            return None
        return self._rules.list_refusal(url) if names_list else self._rules.refusal(url)


def _entries(form: Format, body: bytes, url: str, content_type: str) -> tuple[Iterator[Listed], bool]:
    """Return what a list holds, and whether only its beginning is read."""
    if form is Format.HITS:
        return list_hits(body, url), False
    if form is Format.ROBOTS and "html" in content_type.lower():
        # An error page in disguise: there are no rules, and no names of sitemaps.
        body = b""
    text, truncated = unpack(body, content_type)
    if truncated and form is Format.LINES:
        # What is cut off is another address than was meant.
        text = text.rpartition("\n")[0]
    return READERS[form](text), truncated
