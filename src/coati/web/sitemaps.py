"""Sitemaps: a site's own list of its URLs, found by robots.txt and read within bounds.

A sitemap is XML that a stranger wrote, so no XML library is trusted with it: entities are never expanded and
nothing is nested in memory. What matters of a sitemap are the texts of its ``loc`` elements, and whether it
lists pages or other sitemaps; both can be told by looking at the tags in order.

`SitemapWalk` knows what to fetch next and what came of it, and fetches nothing itself.
"""

from __future__ import annotations

import html
import re
import zlib
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from coati.model import Link
from coati.web.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where a link stood that a sitemap gave; any strategy can tell it from a page's own.
TAG_PATH: Final = ("sitemap",)

# What the protocol allows in one file; a larger one is read so far.
MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024
# Bounds of our own for all of a site's sitemaps: more URLs than any budget asks for.
MAX_SITEMAPS: Final = 200
MAX_URLS: Final = 500_000
MAX_DEPTH: Final = 3

_ROBOTS_LINE = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)
# Every part is bounded and nothing after a part can send the search back into it: no text, however it is
# made, takes more than a few steps a character. Pictures (image:loc) are never worth a request.
_LOC = re.compile(
    r"<(?!image:)(?:[\w.-]{1,40}:)?loc(?:\s[^>]{0,200})?>([^<]{0,5000})(?:<!\[CDATA\[([^\]]{0,5000}))?",
    re.IGNORECASE,
)
_INDEX = re.compile(r"<(?:[\w.-]{1,40}:)?(sitemapindex|urlset)[\s>]", re.IGNORECASE)
_HEAD_CHARS = 1 << 16
_GZIP = b"\x1f\x8b"


class Sitemap(NamedTuple):
    """What one file lists: pages, or (an index) other sitemaps. URLs are in normal form."""

    urls: list[str]
    is_index: bool


def sitemaps_of_robots(text: str, robots_url: str) -> list[str]:
    """Give the sitemaps that a robots.txt names, each once, in order.

    >>> sitemaps_of_robots("sitemap: /map.xml # all", "https://example.org/robots.txt")
    ['https://example.org/map.xml']
    """
    found = (resolve(robots_url, name) for name in _ROBOTS_LINE.findall(text))
    return list(dict.fromkeys(url for url in found if url is not None))


def read_sitemap(body: bytes, url: str, max_urls: int = MAX_URLS) -> Sitemap:
    """Read a sitemap: XML, a plain list of URLs, or either of them compressed; damage is left out.

    >>> body = b"<urlset><url><loc>/a?b=1&amp;c</loc></url></urlset>"
    >>> read_sitemap(body, "https://example.org/sitemap.xml").urls
    ['https://example.org/a?b=1&c']
    """
    text = _decoded(_unpacked(body))
    kind = _INDEX.search(text, 0, _HEAD_CHARS)
    if kind is None and "<" not in text[:_HEAD_CHARS]:
        references: Iterator[str] = (line.strip() for line in text.splitlines())
    else:
        references = _locations(text)
    urls: dict[str, None] = {}
    for reference in references:
        if len(urls) >= max_urls:
            break
        resolved = resolve(url, reference) if reference else None
        if resolved is not None:
            urls[resolved] = None
    return Sitemap(list(urls), kind is not None and kind.group(1).lower() == "sitemapindex")


def _locations(text: str) -> Iterator[str]:
    for found in _LOC.finditer(text):
        plain, quoted = found.groups()
        # What the end of the file cuts off is another URL than was meant.
        if found.end() < len(text):
            yield html.unescape(plain).strip() if quoted is None else quoted.strip()


def _unpacked(body: bytes) -> bytes:
    """Undo gzip, at most up to the bound: a bomb gives its first bytes and no more."""
    if not body.startswith(_GZIP):
        return body[:MAX_SITEMAP_BYTES]
    try:
        return zlib.decompressobj(wbits=31).decompress(body, MAX_SITEMAP_BYTES)
    except zlib.error:
        return b""


def _decoded(body: bytes) -> str:
    for mark, name in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if body.startswith(mark):
            return body.decode(name, "replace")
    # The protocol demands UTF-8.
    return body.decode("utf-8", "replace")


class SitemapWalk:
    """Which file to ask for next, from robots.txt on, and the links that came of it.

    >>> walk = SitemapWalk("https://example.org/")
    >>> walk.next_url()
    'https://example.org/robots.txt'
    >>> walk.take("https://example.org/robots.txt", b"Sitemap: https://example.org/map.xml")
    >>> walk.next_url()
    'https://example.org/map.xml'
    >>> walk.take("https://example.org/map.xml", b"<urlset><loc>https://example.org/a</loc></urlset>")
    >>> walk.next_url(), [link.url for link in walk.links()]
    (None, ['https://example.org/a'])
    """

    def __init__(self, start_url: str, max_sitemaps: int = MAX_SITEMAPS, max_urls: int = MAX_URLS) -> None:
        self._robots_url = resolve(start_url, "/robots.txt") or start_url
        self._usual = resolve(start_url, "/sitemap.xml") or start_url
        self._max_sitemaps = max_sitemaps
        self._max_urls = max_urls
        self._waiting: deque[tuple[str, int]] = deque([(self._robots_url, 0)])
        self._depth = {self._robots_url: 0}
        self._urls: dict[str, None] = {}
        # Sitemaps that were not asked for because a bound was reached.
        self.left_out = 0

    def next_url(self) -> str | None:
        """Give the next file to ask for; None when the walk is over."""
        if len(self._urls) >= self._max_urls:
            self.left_out += len(self._waiting)
            self._waiting.clear()
        return self._waiting.popleft()[0] if self._waiting else None

    def take(self, url: str, body: bytes | None) -> None:
        """Take what came for a URL that `next_url` gave; None where nothing useful did."""
        if url == self._robots_url:
            text = (body or b"").decode("utf-8", "replace")
            # A site that names none may still have one under the usual name.
            for found in sitemaps_of_robots(text, url) or [self._usual]:
                self._want(found, 1)
            return
        if body is None:
            return
        sitemap = read_sitemap(body, url, self._max_urls - len(self._urls))
        if sitemap.is_index:
            for found in sitemap.urls:
                self._want(found, self._depth[url] + 1)
        else:
            self._urls.update(dict.fromkeys(sitemap.urls))

    def links(self) -> list[Link]:
        """Give what was found, as links that stood in a sitemap."""
        return [Link(url, TAG_PATH) for url in self._urls]

    def _want(self, url: str, depth: int) -> None:
        if url in self._depth:
            return
        if depth > MAX_DEPTH or len(self._depth) > self._max_sitemaps:
            self.left_out += 1
            return
        self._depth[url] = depth
        self._waiting.append((url, depth))
