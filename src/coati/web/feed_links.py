"""The feeds that a page offers in its head: they cannot be clicked, so they do not count as its links."""

from __future__ import annotations

import re

from coati.web.links import MAX_PAGE_BYTES

# A site offers one for news and one for comments; more is a catalogue.
MAX_FEEDS = 5

_LINK = re.compile(rb"<link\b([^<>]{0,2000})>", re.IGNORECASE)
_OFFERED = re.compile(rb"""\brel\s*=\s*["']?[^"'>]{0,100}\balternate\b""", re.IGNORECASE)
_FEED = re.compile(rb"""\btype\s*=\s*["']?application/(?:rss|atom)\+xml\b""", re.IGNORECASE)
_ADDRESS = re.compile(
    rb"""\bhref\s*=\s*(?:"([^"]{1,2000})"|'([^']{1,2000})'|([^\s"'>]{1,2000}))""", re.IGNORECASE
)


def feed_links(body: bytes, _content_type: str = "") -> list[str]:
    """Return the references to feeds that a page offers, as it writes them.

    >>> feed_links(b'<link rel=alternate type="application/rss+xml" href="/news.rss"><link rel=icon href=x>')
    ['/news.rss']
    """
    found: dict[str, None] = {}
    for link in _LINK.finditer(body[:MAX_PAGE_BYTES]):
        address = _ADDRESS.search(link[1])
        if address is not None and _OFFERED.search(link[1]) and _FEED.search(link[1]):
            text = next(part for part in address.groups() if part is not None)
            found[text.decode("utf-8", "replace").replace("&amp;", "&").strip()] = None
            if len(found) == MAX_FEEDS:
                break
    return list(found)
