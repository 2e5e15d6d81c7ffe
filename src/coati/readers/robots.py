"""robots.txt as a list: the sitemaps that it names, else the one at the usual place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.readers.listed import SITEMAPS_OF_ROBOTS, Listed
from coati.web.urls import path_of, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(
    r"^[ \t]{0,20}sitemap[ \t]{0,20}:[ \t]{0,20}([^\s#]{1,4096})", re.IGNORECASE | re.MULTILINE
)
_USUAL_PLACE = "/sitemap.xml"


def read_robots(text: str) -> Iterator[Listed]:
    """Yield the sitemaps of a robots.txt; one that names none may still have one at the usual place.

    >>> [listed.reference for listed in read_robots("sitemap: /map.xml # all")]
    ['/map.xml']
    >>> [listed.reference for listed in read_robots("")]
    ['/sitemap.xml']
    """
    none = True
    for reference in named_sitemaps(text):
        none = False
        yield Listed(reference, SITEMAPS_OF_ROBOTS)
    if none:
        yield Listed(_USUAL_PLACE, SITEMAPS_OF_ROBOTS)


def named_sitemaps(text: str) -> Iterator[str]:
    """Yield the sitemaps that a robots.txt names, as it writes them."""
    return (found[1] for found in _LINE.finditer(text))


def robots_url(url: str) -> str:
    """Return the URL of the robots.txt of a URL's host.

    >>> robots_url("https://example.org:8080/a?b")
    'https://example.org:8080/robots.txt'
    """
    return resolve(url, "/robots.txt") or url


def is_robots(url: str) -> bool:
    """Tell whether this is the URL of a robots.txt."""
    return path_of(url) == "/robots.txt"
