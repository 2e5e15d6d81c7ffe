"""What a response is read as: which of them list links, and in which format.

HTML and the hits of a search always do. Anything else only where it is a *list address*
(`coati.readers.list_addresses`), which may be one of an API (`coati.shortcuts`), or where its media type is
XML that is not wanted as a target and its root element is that of a sitemap or a feed. So a wanted media type
stays a target: a site whose data are XML loses none of them.
"""

from __future__ import annotations

from enum import StrEnum

from coati.readers.lines import is_list_of_lines
from coati.readers.robots import is_robots
from coati.readers.unpacking import unpack_text
from coati.readers.xml_tags import tags
from coati.web.media import BLOCKED_MEDIA_PREFIXES, essence
from coati.web.urls import is_query

# How much of a response shows what it is: declarations and comments come before the root element.
HEAD_BYTES = 8 * 1024

_XML = frozenset({"text/xml", "application/xml"})
# What a list may be served as; anything that is left out here is not a list on the face of it.
_PACKED_OR_PLAIN = frozenset(
    {"", "text/plain", "application/gzip", "application/x-gzip", "application/octet-stream"}
)
_TOO_MANY_REQUESTS = 429


class Format(StrEnum):
    """The formats that have a reader."""

    HTML = "HTML"
    SITEMAP = "sitemap"
    FEED = "feed"
    LINES = "lines of text"
    ROBOTS = "robots.txt"
    HITS = "hits of a search"
    API = "answer of an API"


_ROOTS = {
    "urlset": Format.SITEMAP,
    "sitemapindex": Format.SITEMAP,
    "rss": Format.FEED,
    "rdf": Format.FEED,
    "feed": Format.FEED,
}


def format_of(
    url: str, media_type: str, body: bytes | None, *, is_list: bool, wanted: bool, api: bool = False
) -> Format | None:
    """Return what a successful response is read as; None if it lists no links.

    ``is_list`` says that the URL is a list address, ``wanted`` that the user wants the media type as a
    target, ``api`` that a list address is one of an API. Without a body (the response to a HEAD) the media
    type decides alone. >>> feed = b"<rss version='2.0'></rss>" >>> format_of("http://example.org/news",
    "text/xml", feed, is_list=False, wanted=False).value 'feed' >>> format_of("http://example.org/news",
    "text/xml", feed, is_list=False, wanted=True) is None True
    """
    media_type = essence(media_type)
    if is_query(url):
        return Format.HITS
    if is_list and is_robots(url):
        return Format.ROBOTS
    if "html" in media_type:
        return Format.HTML
    if media_type.startswith(BLOCKED_MEDIA_PREFIXES) or not (is_list or (is_xml(media_type) and not wanted)):
        return None
    if is_list and api:
        return Format.API
    return (
        _format_by_type(media_type, is_list=is_list) if body is None else _format_of_content(media_type, body)
    )


def _format_by_type(media_type: str, *, is_list: bool) -> Format | None:
    likely = is_list and (is_xml(media_type) or media_type in _PACKED_OR_PLAIN)
    return Format.SITEMAP if likely else None


def is_xml(media_type: str) -> bool:
    """Tell whether a media type means XML that is not a page.

    >>> is_xml("application/atom+xml"), is_xml("application/xhtml+xml")
    (True, False)
    """
    media_type = essence(media_type)
    return media_type in _XML or (media_type.endswith("+xml") and "html" not in media_type)


def is_missing_robots(url: str, status: int, *, is_list: bool) -> bool:
    """Tell whether this is a robots.txt that does not exist, which counts as an empty one (RFC 9309)."""
    refused = 400 <= status < 500 and status != _TOO_MANY_REQUESTS  # noqa: PLR2004 - HTTP's own numbers
    return is_list and refused and is_robots(url)


def _format_of_content(media_type: str, body: bytes) -> Format | None:
    head = unpack_text(body, media_type, HEAD_BYTES).text
    root = next(tags(head), None)
    if root is not None:
        # RDF is the root of much else than RSS 1.0.
        is_data = root.name == "rdf" and "purl.org/rss/" not in root.attributes
        return None if root.closes or is_data else _ROOTS.get(root.name)
    is_lines = media_type in _PACKED_OR_PLAIN and is_list_of_lines(head)
    return Format.LINES if is_lines else None
