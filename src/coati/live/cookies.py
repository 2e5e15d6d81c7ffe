"""Scrapy's cookies, bounded, bound to the origin they were given for, and without asking for public suffixes.

Scrapy finds out with tldextract whether a cookie's domain is a whole top-level domain. By default that
library fetches the list of suffixes from the web on its first use, past the scope, the delay and the proxy of
the crawl. The list that it ships is good enough.

A site may set cookies without end, and servers refuse requests whose headers are too long: what one domain
and all of them together may set is bounded, and the oldest go first.

Cookies that the user gave never enter the jar, which knows neither schemes nor ports. They are sent to the
origin that they were given for, unless the site has set one of the same name. ``COATI_COOKIES`` has them by
name, ``COATI_COOKIES_FOR`` is the origin (``https://example.org``).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self

from scrapy.downloadermiddlewares import cookies
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from tldextract import TLDExtract

from coati.live.header_texts import header_text
from coati.web.urls import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from http.cookiejar import Cookie

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.cookies import CookieJar

_SPLIT = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
cookies._split_domain = _SPLIT  # noqa: SLF001

# Many servers refuse headers of 8 KB; half of that is left for everything else.
MAX_DOMAIN_BYTES = 4096
MAX_DOMAIN_COOKIES = 50
MAX_COOKIES = 3000

_Place = tuple[str, str, str]


class BoundedCookiesMiddleware(CookiesMiddleware):
    """Scrapy's middleware within bounds; see the module.

    ``given`` are the user's cookies, for the origin ``given_for``.
    """

    def __init__(self, debug: bool = False) -> None:  # noqa: FBT001, FBT002 - Scrapy's own signature
        super().__init__(debug)
        self.given: Mapping[str, str] = {}
        self.given_for = ""
        # All cookies in the order in which they were set, and the sizes of those of each domain.
        self._ages: OrderedDict[tuple[Any, _Place], str] = OrderedDict()
        self._domains: dict[str, OrderedDict[tuple[Any, _Place], int]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware; Scrapy calls this."""
        middleware = super().from_crawler(crawler)
        middleware.given = dict(crawler.settings.get("COATI_COOKIES") or {})
        middleware.given_for = crawler.settings.get("COATI_COOKIES_FOR") or ""
        return middleware

    def process_request(self, request: Request) -> Request | Response | None:  # type: ignore[override]
        """Add the cookies of the jar, and those that were given for this origin."""
        answer: Request | Response | None = super().process_request(request)
        if self.given and origin_of(request.url) == self.given_for:
            header = header_text(request.headers, "Cookie")
            pairs = [pair for pair in header.split("; ") if pair]
            names = {pair.partition("=")[0] for pair in pairs}
            pairs += [f"{name}={value}" for name, value in self.given.items() if name not in names]
            request.headers["Cookie"] = "; ".join(pairs)
        return answer

    def _process_cookies(self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request) -> None:
        key = request.meta.get("cookiejar")
        for cookie in cookies:
            if len(cookie.name) + len(cookie.value or "") > MAX_DOMAIN_BYTES:
                continue
            super()._process_cookies((cookie,), jar=jar, request=request)
            place = cookie.domain, cookie.path, cookie.name
            if jar._cookies.get(place[0], {}).get(place[1], {}).get(place[2]) is cookie:  # noqa: SLF001
                self._note((key, place), len(cookie.name) + len(cookie.value or ""))

    def _note(self, one: tuple[Any, _Place], size: int) -> None:
        """Take note of a cookie that was set, and remove the oldest where there are too many."""
        domain = registered_domain(one[1][0])
        self._forget(one)
        self._ages[one] = domain
        mine = self._domains.setdefault(domain, OrderedDict())
        mine[one] = size
        while len(mine) > MAX_DOMAIN_COOKIES or sum(mine.values()) > MAX_DOMAIN_BYTES:
            self._remove(next(iter(mine)))
        while len(self._ages) > MAX_COOKIES:
            self._remove(next(iter(self._ages)))

    def _forget(self, one: tuple[Any, _Place]) -> None:
        domain = self._ages.pop(one, None)
        if domain is not None:
            mine = self._domains[domain]
            del mine[one]
            if not mine:
                del self._domains[domain]

    def _remove(self, one: tuple[Any, _Place]) -> None:
        self._forget(one)
        key, (domain, path, name) = one
        # It may have expired, and be gone already.
        self.jars[key]._cookies.get(domain, {}).get(path, {}).pop(name, None)  # noqa: SLF001


def registered_domain(host: str) -> str:
    """Return the domain that somebody registered, of a host or of a cookie's domain; an address is its own.

    >>> registered_domain(".data.example.co.uk"), registered_domain("127.0.0.1")
    ('example.co.uk', '127.0.0.1')
    """
    host = host.removeprefix(".")
    return _SPLIT(host).top_domain_under_public_suffix or host
