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
    Request,
    Target,
)
from coati.readers.formats import Format, format_of, is_missing_robots
from coati.readers.list_addresses import ListAddresses
from coati.readers.registry import PageReader
from coati.search.engines import Engines
from coati.testing.stub_engine import StubEngine
from coati.web.downloads import download_type, proposed_name
from coati.web.facts import LazyFacts
from coati.web.media import PRESETS, TargetTypes, essence
from coati.web.rules import Rules
from coati.web.urls import is_query, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Outcome, PageLinks
    from coati.readers.registry import KnowsShortcuts
    from coati.testing.site import Response, Site

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SUCCESS = range(200, 300)


class Responder:
    """Answers a strategy's requests from a site, under the rules of a crawl of it.

    A page is parsed once, however often it is requested, and its links are kept whole. The crawl begins at
    the start URLs of the rules, and at ``more_start_urls``, which widen no scope. Queries to
    ``search://stub/`` are answered from the site's own pages. With ``shortcuts``, what pages show of their
    software is offered, too.

    >>> from coati.model import Request
    >>> from coati.testing.site import Response, Site
    >>> site = Site("http://a.test/", {"http://a.test/": Response.page("<a href=b.csv>")})
    >>> Responder(site).outcome(Request(0, Method.GET, "http://a.test/")).links.urls
    ['http://a.test/b.csv']
    """

    def __init__(
        self,
        site: Site,
        rules: Rules | None = None,
        types: TargetTypes = PRESETS["data"],
        more_start_urls: Sequence[str] = (),
        shortcuts: KnowsShortcuts | None = None,
    ) -> None:
        self._site = site
        self._rules = rules or Rules(site.start_url)
        self._types = types
        self._reader = PageReader(self._rules, shortcuts)
        self._lists = ListAddresses((*self._rules.start_urls, *more_start_urls))
        self._links: dict[str, PageLinks] = {}
        self._engines: Engines | None = None
        self._lists.explore(lambda url: self.outcome(Request(0, Method.GET, url)))

    def outcome(self, request: Request) -> Outcome:
        """Answer one request; what the rules forbid is refused."""
        if is_query(request.url):
            if self._engines is None:
                self._engines = Engines([StubEngine.over(self._site)])
            return self._engines.respond(request.url, self._rules)
        is_list = request.url in self._lists
        rules = self._rules
        refusal = rules.list_refusal(request.url) if is_list else rules.refusal(request.url)
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
        return self._content(request, response, size, is_list=is_list)

    def _content(self, request: Request, response: Response, size: int, *, is_list: bool) -> Outcome:
        disposition = response.header("Content-Disposition")
        media_type = essence(download_type(response.media_type, disposition))
        name = proposed_name(disposition)
        wanted = self._types.kind(media_type, request.url, name) is Kind.TARGET
        body = (response.body or b"") if request.method is Method.GET else None
        form: Format | None
        if is_missing_robots(request.url, response.status, is_list=is_list):
            form, body = Format.ROBOTS, None if body is None else b""
        elif response.status not in _SUCCESS:
            return Failure(response.status, 0, f"status {response.status}")
        elif (form := self._format(request.url, media_type, body, is_list=is_list, wanted=wanted)) is None:
            return (Target if wanted else Other)(response.status, size, media_type)
        if body is None:
            return Page(response.status, size, NO_LINKS)
        facts = LazyFacts(lambda: response.body or b"", response.media_type)
        return Page(response.status, size, self._links_of(request.url, form, response), facts)

    def _format(
        self, url: str, media_type: str, body: bytes | None, *, is_list: bool, wanted: bool
    ) -> Format | None:
        api = is_list and self._reader.reads_api(url)
        return format_of(url, media_type, body, is_list=is_list, wanted=wanted, api=api)

    def _links_of(self, url: str, form: Format, response: Response) -> PageLinks:
        links = self._links.get(url)
        if links is None:
            body = response.body if response.status in _SUCCESS else b""
            is_list = url in self._lists
            found = self._reader.read(
                form, body or b"", url, response.media_type, response.headers, is_list=is_list
            ).links
            places = range(len(found.urls))
            links = LinkList(
                [found.link(place) for place in places],
                found.title,
                [found.nearby_text(place) for place in places],
            )
            self._links[url] = links
        return links
