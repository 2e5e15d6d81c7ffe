"""What a driver would tell a strategy about a site: responses to outcomes, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.model import (
    NO_LINKS,
    Failure,
    Kind,
    LinkList,
    Method,
    Other,
    Page,
    Redirect,
    Refused,
    Target,
)
from coati.web.facts import LazyFacts
from coati.web.links import LinkExtractor
from coati.web.media import PRESETS, TargetTypes, essence
from coati.web.rules import Rules
from coati.web.urls import resolve

if TYPE_CHECKING:
    from coati.model import Outcome, PageLinks, Request
    from coati.testing.site import Response, Site

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SUCCESS = range(200, 300)


class Responder:
    """Answers a strategy's requests from a site, under the rules of a crawl of it.

    A page is parsed once, however often it is asked for, and its links are kept whole.

    >>> from coati.model import Request
    >>> from coati.testing.site import Response, Site
    >>> site = Site("http://a.test/", {"http://a.test/": Response.page("<a href=b.csv>")})
    >>> Responder(site).outcome(Request(0, Method.GET, "http://a.test/")).links.urls
    ['http://a.test/b.csv']
    """

    def __init__(self, site: Site, rules: Rules | None = None, types: TargetTypes = PRESETS["data"]) -> None:
        self._site = site
        self._rules = rules or Rules(site.start_url)
        self._types = types
        self._extractor = LinkExtractor(self._rules)
        self._links: dict[str, PageLinks] = {}

    def outcome(self, request: Request) -> Outcome:
        """Answer one request; what the rules forbid is refused."""
        refusal = self._rules.refusal(request.url)
        if refusal is not None:
            return Refused(refusal)
        response = self._site.get(request.url)
        size = response.size_bytes if request.method is Method.GET else 0
        if response.status in _REDIRECTS:
            named = response.header("Location")
            location = resolve(request.url, named) if named else None
            if location is None:
                return Failure(response.status, 0, "redirect without a usable location")
            return Redirect(response.status, size, location)
        if response.status not in _SUCCESS:
            return Failure(response.status, 0, f"status {response.status}")
        return self._success(request, response, size)

    def _success(self, request: Request, response: Response, size: int) -> Outcome:
        media_type = essence(response.media_type)
        kind = self._types.kind(media_type, request.url)
        if kind is Kind.PAGE:
            if request.method is not Method.GET:
                return Page(response.status, size, NO_LINKS)
            facts = LazyFacts(lambda: response.body or b"", response.media_type)
            return Page(response.status, size, self._links_of(request.url, response), facts)
        if kind is Kind.TARGET:
            return Target(response.status, size, media_type)
        return Other(response.status, size, media_type)

    def _links_of(self, url: str, response: Response) -> PageLinks:
        links = self._links.get(url)
        if links is None:
            found = self._extractor.extract(response.body or b"", url, response.media_type).links
            places = range(len(found.urls))
            links = LinkList(
                [found.link(place) for place in places],
                found.title,
                [found.surroundings(place) for place in places],
            )
            self._links[url] = links
        return links
