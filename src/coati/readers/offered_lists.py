"""The lists that a page offers beside its links: sitemaps of an index or a robots.txt, feeds of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.readers.listed import names_sitemap
from coati.web.facts import FEEDS
from coati.web.urls import resolve

if TYPE_CHECKING:
    from coati.model import Page


def offered_sitemaps(page: Page) -> list[str]:
    """Return the sitemaps that an index or a robots.txt names."""
    links = page.links
    return [url for at, url in enumerate(links.urls) if names_sitemap(links.link(at).tag_path)]


def offered_feeds(url: str, page: Page) -> list[str]:
    """Return the feeds that a page offers in its head, where that fact was extracted (`coati.web.facts`).

    >>> from coati.model import NO_LINKS, Page
    >>> offered_feeds("http://example.org/a/", Page(200, 9, NO_LINKS, facts={"feeds": ["../news.rss"]}))
    ['http://example.org/news.rss']
    """
    feeds = page.facts.get(FEEDS)
    found = (resolve(url, str(reference)) for reference in feeds) if isinstance(feeds, list) else ()
    return [feed for feed in dict.fromkeys(found) if feed is not None]
