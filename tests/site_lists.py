"""Sites that say by lists what they hold: a robots.txt, an index of sitemaps, a feed."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from coati.readers.robots import robots_url
from coati.testing.site import Response, Site
from coati.web.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def with_lists(site: Site, sitemaps: int = 3, share: int = 2) -> Site:
    r"""Add lists to a site: each ``share``-th of its URLs stands in one of ``sitemaps``, or in the feed.

    The sitemaps are plain, packed and redirected in turn; an index at ``/sitemaps.xml`` names them, itself
    and one that does not exist, and robots.txt names the index. The feed is at ``/feed``.

    >>> site = with_lists(Site("http://a.test/", {"http://a.test/": Response.page("")}))
    >>> site.get("http://a.test/robots.txt").body
    b'Sitemap: http://a.test/sitemaps.xml\n'
    """

    def place(path: str) -> str:
        return resolve(site.start_url, path) or path

    listed = [url for number, url in enumerate(site) if number % share == 0]
    index = place("/sitemaps.xml")
    names = [place(f"/sitemap-{number}.xml") for number in range(sitemaps)]
    lists = {
        robots_url(site.start_url): Response.file("text/plain", f"Sitemap: {index}\n".encode()),
        index: _xml(_sitemap("sitemapindex", "sitemap", [*names, index, place("/no-sitemap.xml")])),
        place("/feed"): _xml(_feed(listed[:: sitemaps + 1])),
    }
    for number, name in enumerate(names):
        body = _sitemap("urlset", "url", listed[number + 1 :: sitemaps + 1])
        packed = name + ".gz"
        lists[name] = (
            _xml(body),
            Response.file("application/x-gzip", gzip.compress(body, mtime=0)),
            Response.redirect(packed),
        )[number % 3]
        if number % 3 == 2:
            lists[packed] = Response.file("application/octet-stream", gzip.compress(body, mtime=0))
    return Site(site.start_url, {**site.responses, **lists})


def _xml(body: bytes) -> Response:
    return Response.file("application/xml", body)


def _sitemap(root: str, entry: str, urls: Iterable[str]) -> bytes:
    entries = (
        f"<{entry}><loc>{escape(url)}</loc><lastmod>2024-01-{number % 28 + 1:02}</lastmod></{entry}>"
        for number, url in enumerate(urls)
    )
    return f"<?xml version='1.0'?><{root}>{''.join(entries)}</{root}>".encode()


def _feed(urls: Sequence[str]) -> bytes:
    items = "".join(f"<item><title>New</title><link>{escape(url)}</link></item>" for url in urls)
    return f"<?xml version='1.0'?><rss version='2.0'><channel>{items}</channel></rss>".encode()
