"""What led a run to its files: links, sitemaps, feeds, APIs, web archives or search engines.

A tag path says it by its first part (`coati.readers.listed`, `coati.shortcuts`): ``html`` for a link,
``urlset`` for a sitemap, the name of a software for its API.
"""

from __future__ import annotations

from sqlite3 import Connection
from typing import NamedTuple

from coati.readers.listed import ARCHIVED

LINKS = "links"
_FIRST_PARTS = {
    "html": LINKS,
    "urlset": "sitemaps",
    "sitemapindex": "sitemaps",
    "robots.txt": "sitemaps",
    "rss": "feeds",
    "rdf": "feeds",
    "feed": "feeds",
    "text": "lists of addresses",
    "search": "queries",
}
START_URLS = "start URLs"
_API = "API of "

# Where redirects led belongs to the link that began them, and a query that a strategy made to none.
_REQUESTS = """
SELECT coalesce(own.path, (
           WITH RECURSIVE before (link, redirected_from) AS (
               SELECT origin.link, origin.redirected_from FROM requests AS origin
               WHERE origin.id = requests.redirected_from
               UNION ALL
               SELECT origin.link, origin.redirected_from FROM before
               JOIN requests AS origin ON origin.id = before.redirected_from
           )
           SELECT tag_paths.path FROM before JOIN links ON links.id = before.link
           JOIN tag_paths ON tag_paths.id = links.tag_path LIMIT 1
       ), CASE WHEN requests.url LIKE 'search:%' THEN 'search' END) AS path,
       sum(requests.charged) AS requests,
       sum(requests.new_target) AS targets, sum(requests.kind IS 'page' AND requests.charged > 0) AS pages,
       sum(requests.kind IS 'failure') AS failures
FROM requests
LEFT JOIN links AS link ON link.id = requests.link
LEFT JOIN tag_paths AS own ON own.id = link.tag_path
WHERE requests.observed_event IS NOT NULL
GROUP BY 1
"""


class FoundBy(NamedTuple):
    """What one way of finding cost and brought; ``failures`` are requests that failed."""

    way: str
    requests: int
    targets: int
    pages: int
    failures: int


def way_of(tag_path: str | None) -> str:
    """Name the way by which a link with this tag path, as it is written in a run, was found.

    >>> way_of("html.no-js > body > a"), way_of("wordpress > media > source_url")
    ('links', 'API of wordpress')
    """
    if not tag_path:
        return START_URLS
    parts = tag_path.split(" > ")
    if parts[0] == "search" and len(parts) > 1:
        return f"{'web archive' if parts[-1] == ARCHIVED else 'search engine'} {parts[1]}"
    # The element of a page may have classes and an id.
    first = "html" if parts[0].startswith(("html.", "html#")) else parts[0]
    return _FIRST_PARTS.get(first) or f"{_API}{first}"


def is_of_api(tag_path: str) -> bool:
    """Tell whether the software behind a site named this link, or may: no page shows it.

    >>> is_of_api("wordpress > media > source_url"), is_of_api("html > body > a")
    (True, False)
    """
    return way_of(tag_path).startswith(_API)


def found_by(connection: Connection) -> list[FoundBy]:
    """Return each way of finding with what it brought, the best first."""
    ways: dict[str, list[int]] = {}
    for path, *numbers in connection.execute(_REQUESTS):
        known = ways.setdefault(way_of(path), [0, 0, 0, 0])
        ways[way_of(path)] = [had + number for had, number in zip(known, numbers, strict=True)]
    found = [FoundBy(way, *numbers) for way, numbers in ways.items()]
    return sorted(found, key=lambda each: (-each.targets, -each.requests, each.way))
