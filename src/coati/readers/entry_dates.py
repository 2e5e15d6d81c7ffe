"""The dates that sitemaps and feeds give their entries, as a fact about a page (`coati.web.facts`)."""

from __future__ import annotations

import heapq
from typing import Final

from coati.readers.feed import read_feed
from coati.readers.sitemap import read_sitemap
from coati.readers.unpacking import unpack_text

ENTRY_DATES: Final = "entry_dates"
# Logged at each visit, so only the entries that changed last.
MOST_DATES: Final = 200
_BEGINNING: Final = 2_000


def entry_dates(body: bytes, content_type: str) -> list[list[object]]:
    """Return the entries that were dated last, as they are written, each with seconds since the epoch.

    >>> entry_dates(b"<urlset><url><loc>/a</loc><lastmod>1970-01-02</lastmod></url></urlset>", "text/xml")
    [['/a', 86400.0]]
    >>> entry_dates(b"<html><a href=b>b</a>", "text/html")
    []
    """
    if "html" in content_type.lower():
        return []
    text = unpack_text(body, content_type).text
    read = read_sitemap if "<loc" in text[:_BEGINNING] else read_feed
    dated = ((entry.modified, entry.reference) for entry in read(text) if entry.modified is not None)
    return [[reference, modified] for modified, reference in heapq.nlargest(MOST_DATES, dated)]
