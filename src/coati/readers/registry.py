"""Every format with its reader, behind one interface: from bytes, URL and media type to links.

Every driver uses it, so that a strategy sees the same links live, in a replay, and out of an
archive. Everything is bounded: the bytes (`coati.readers.unpacking`), the tags (`coati.readers.xml_tags`) and
the links. What is beyond a bound is not read, and the page says so.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from coati.model import Link, LinkList, NearbyText
from coati.readers.feed import read_feed
from coati.readers.formats import Format
from coati.readers.hits import list_hits
from coati.readers.lines import read_lines
from coati.readers.listed import is_api, names_list
from coati.readers.robots import read_robots
from coati.readers.sitemap import read_sitemap
from coati.readers.unpacking import unpack_text
from coati.web.links import LinkExtractor, ReadPage
from coati.web.urls import is_query, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from coati.model import PageLinks
    from coati.readers.listed import Listed
    from coati.web.rules import Refusal, Rules

    Headers = Iterable[tuple[str, str]]

# What the sitemap protocol allows in one file, and what is read within a second; the rest is left out.
MAX_LINKS: Final = 50_000

READERS: Final[Mapping[Format, Callable[[str], Iterator[Listed]]]] = {
    Format.SITEMAP: read_sitemap,
    Format.FEED: read_feed,
    Format.LINES: read_lines,
    Format.ROBOTS: read_robots,
}
"""The readers of texts. Those of HTML (`LinkExtractor`), of hits (`list_hits`) and of APIs read bytes."""


class KnowsShortcuts(Protocol):
    """What knows the software behind sites (`coati.shortcuts.shortcuts.Shortcuts`)."""

    @property
    def only(self) -> bool:
        """Whether nothing but shortcuts is followed."""

    def offers(self, url: str, headers: Headers, body: bytes, *, is_start: bool) -> Sequence[Listed]:
        """Return what an HTML page offers beside its links, lists first."""

    def reads(self, url: str) -> bool:
        """Tell whether a URL is a list of an API."""

    def read(
        self, url: str, body: bytes, content_type: str, headers: Headers
    ) -> tuple[Iterator[Listed], bool]:
        """Return what a response of an API lists, and whether only its beginning was read."""


class PageReader:
    """Reads pages of all formats under the rules of one crawl; bad input gives fewer links, nothing raises.

    >>> page = PageReader().read(Format.LINES, b"http://example.org/a", "http://example.org/list.txt")
    >>> page.links.link(0)
    Link(url='http://example.org/a', tag_path=('text', 'line'), anchor='', context='', modified=None)
    """

    def __init__(self, rules: Rules | None = None, shortcuts: KnowsShortcuts | None = None) -> None:
        self._rules = rules
        self._html = LinkExtractor(rules)
        self._shortcuts = shortcuts

    def reads_api(self, url: str) -> bool:
        """Tell whether a list address is read as the response of an API."""
        return self._shortcuts is not None and self._shortcuts.reads(url)

    def read(
        self,
        form: Format,
        body: bytes,
        url: str,
        content_type: str = "",
        headers: Headers = (),
        *,
        is_list: bool = False,
    ) -> ReadPage:
        """Find the links of the page at ``url`` (in normal form), in document order.

        Where there are shortcuts, those that a page offers come before its own links.
        """
        if form is Format.HTML:
            page = self._html.extract(body, url, content_type)
            return self.with_offers(page, body, url, headers, is_list=is_list)
        entries, truncated = self._entries(form, body, url, content_type, headers)
        links, refused = self._admitted(url, islice(entries, MAX_LINKS))
        return ReadPage(links, refused, truncated or next(entries, None) is not None)

    def with_offers(
        self, page: ReadPage, body: bytes, url: str, headers: Headers, *, is_list: bool
    ) -> ReadPage:
        """Put the shortcuts that a page of HTML offers before its own links, or in their place."""
        if self._shortcuts is None:
            return page
        offers = self._shortcuts.offers(url, headers, body, is_start=is_list)
        offered, refused = self._admitted(url, offers)
        if self._shortcuts.only:
            return page._replace(links=offered, refused=refused)
        if offered.urls:
            page = page._replace(links=_Offered(offered, page.links))
        return page._replace(refused=[*refused, *page.refused]) if refused else page

    def _admitted(self, url: str, entries: Iterable[Listed]) -> tuple[PageLinks, list[tuple[str, Refusal]]]:
        """Make links of what a list holds, and return those that the rules forbid as well."""
        links: list[Link] = []
        texts: list[NearbyText] = []
        refused: list[tuple[str, Refusal]] = []
        for reference, path, anchor, modified, context, heading, licence, archived in entries:
            # Only the reader of hits makes queries, and only for the next page of the same one.
            target = reference if is_query(reference) and is_api(path) else resolve(url, reference)
            if target is None:
                continue
            refusal = self._refusal(target, names_list=names_list(path))
            if refusal is None:
                links.append(Link(target, path, anchor, anchor if context is None else context, modified))
                texts.append(NearbyText(_row(anchor, context), heading, licence, archived))
            else:
                refused.append((target, refusal))
        return LinkList(links, nearby_texts=texts), refused

    def _refusal(self, url: str, *, names_list: bool) -> Refusal | None:
        if self._rules is None:
            return None
        return self._rules.list_refusal(url) if names_list else self._rules.refusal(url)

    def _entries(
        self, form: Format, body: bytes, url: str, content_type: str, headers: Headers
    ) -> tuple[Iterator[Listed], bool]:
        """Return what a list holds, and whether only its beginning is read."""
        if form is Format.API:
            return (
                (iter(()), False)
                if self._shortcuts is None
                else self._shortcuts.read(url, body, content_type, headers)
            )
        if form is Format.HITS:
            return list_hits(body, url), False
        if form is Format.ROBOTS and "html" in content_type.lower():
            # An error page in disguise: there are no rules, and no names of sitemaps.
            body = b""
        text, truncated = unpack_text(body, content_type)
        if truncated and form is Format.LINES:
            # What is cut off is another URL than was meant.
            text = text.rpartition("\n")[0]
        return READERS[form](text), truncated


def _row(anchor: str, context: str | None) -> str:
    """Return what names a listed file: the text around it may add its format, which does not."""
    return anchor if anchor and context is not None and context.startswith(anchor) else ""


class _Offered:
    """The links that its software offers, then those of a page."""

    __slots__ = ("_first", "_rest", "urls")

    def __init__(self, first: PageLinks, rest: PageLinks) -> None:
        self._first = first
        self._rest = rest
        self.urls = [*first.urls, *rest.urls]

    @property
    def title(self) -> str:
        return self._rest.title

    def link(self, index: int) -> Link:
        count = len(self._first.urls)
        return self._first.link(index) if index < count else self._rest.link(index - count)

    def nearby_text(self, index: int) -> NearbyText:
        count = len(self._first.urls)
        return self._first.nearby_text(index) if index < count else self._rest.nearby_text(index - count)
