"""Headers that are sent to one origin only, such as credentials.

An origin is scheme, host and port. Scrapy copies the headers of a request to the one that follows a redirect,
so a header of this kind is taken off each request before it is put on those of its origin. In a Scrapy
project::

    DOWNLOADER_MIDDLEWARES = {"coati.live.origin_headers.OriginHeadersMiddleware": 410}
    COATI_ORIGIN_HEADERS = [("https://example.org", "X-Api-Key", "...")]
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, NamedTuple, Self

from coati.live.header_texts import header_pairs
from coati.web.urls import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler


_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|session|credential", re.IGNORECASE)


class OriginHeader(NamedTuple):
    """A header that is sent to ``origin`` (``https://example.org``, ``http://example.org:8080``) only."""

    origin: str
    name: str
    value: str


def basic_authorisation(origin: str, user: str, password: str) -> OriginHeader:
    """Make the header that stands for the user and the password of a URL.

    >>> basic_authorisation("http://example.org", "jo", "secret").value
    'Basic am86c2VjcmV0'
    """
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return OriginHeader(origin, "Authorization", f"Basic {token}")


def is_secret(name: str) -> bool:
    """Tell by its name whether a header carries a credential.

    >>> is_secret("Authorization"), is_secret("Accept-Language")
    (True, False)
    """
    return _SECRET_HEADER.search(name) is not None


def sent_headers(request: Request, bound: Iterable[OriginHeader]) -> tuple[tuple[str, str], ...]:
    """Return the headers of a request that was sent, for a record of it.

    Credentials are left out: cookies, what sounds like a secret, and all that was given for one origin.
    """
    hidden = {header.name.lower() for header in bound}
    return tuple(
        (name, value)
        for name, value in header_pairs(request.headers)
        if not is_secret(name) and name.lower() not in hidden
    )


class OriginHeadersMiddleware:
    """Puts the headers of ``COATI_ORIGIN_HEADERS`` on the requests of their origins."""

    def __init__(self, headers: list[OriginHeader]) -> None:
        self._names = {header.name for header in headers}
        self._headers = headers

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        return cls([OriginHeader(*header) for header in crawler.settings.getlist("COATI_ORIGIN_HEADERS")])

    def process_request(self, request: Request) -> None:
        """Leave exactly the headers that were given for the origin of this request."""
        for name in self._names:
            request.headers.pop(name, None)
        origin = origin_of(request.url)
        for header in self._headers:
            if header.origin == origin:
                request.headers[header.name] = header.value
