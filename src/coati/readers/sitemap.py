"""Sitemaps in XML, and indexes of them (sitemaps.org): the texts of ``loc``, with their ``lastmod``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.readers.dates import seconds_of
from coati.readers.listed import PAGES_OF_SITEMAP, SITEMAPS_OF_INDEX, Listed
from coati.readers.xml_tags import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = ("sitemapindex", "urlset", "sitemap", "url", "loc", "lastmod")
# Google's extensions have a loc of their own: that of a picture or a film.
_OTHER_PREFIXES = frozenset({"image", "video", "news"})


def read_sitemap(text: str) -> Iterator[Listed]:
    """Yield the entries of a sitemap; damage is left out.

    >>> (entry,) = read_sitemap("<urlset><url><loc>/a</loc><lastmod>1970-01-02</lastmod></url></urlset>")
    >>> entry.reference, entry.tag_path, entry.modified
    ('/a', ('urlset', 'url', 'loc'), 86400.0)
    """
    path, reference, modified = PAGES_OF_SITEMAP, "", None
    for tag in tags(text, _NAMES):
        if tag.prefix in _OTHER_PREFIXES:
            continue
        if tag.name == "lastmod":
            modified = modified if tag.closes else seconds_of(tag.text)
            continue
        if tag.closes and tag.name == "loc":
            continue
        # Anything else ends the entry before, if there was one.
        if reference:
            yield Listed(reference, path, modified=modified)
        if reference or tag.name != "loc":
            reference, modified = "", None
        if tag.name == "loc":
            reference = tag.text
        elif not tag.closes and tag.name in {"urlset", "sitemapindex"}:
            path = SITEMAPS_OF_INDEX if tag.name == "sitemapindex" else PAGES_OF_SITEMAP
    if reference:
        yield Listed(reference, path, modified=modified)
