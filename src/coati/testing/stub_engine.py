"""A search engine over a few pages, for tests: in this process, or over HTTP on loopback.

Its ranking is simple and always the same: pages with more of the words come first, then those with a lower
URL. In this process it is a `coati.search.provider.LocalProvider`; over HTTP, `engine_site` makes the site
that `coati.testing.serve` serves, and `HttpEngine` the provider that queries it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from coati.readers.hits import Hit, Hits, bounded_hits
from coati.search.provider import ProviderRequest
from coati.testing.site import NOT_FOUND, Response, Site
from coati.web.links import LinkExtractor
from coati.web.page_text import text_of
from coati.web.queries import Ability, Query
from coati.web.urls import query_of

if TYPE_CHECKING:
    from typing import Self

_WORD = re.compile(r"\w+")
_TITLE = re.compile(r"<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_SNIPPET_CHARS = 80


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """What an engine knows of a page."""

    url: str
    title: str = ""
    text: str = ""
    links: frozenset[str] = frozenset()


@dataclass(frozen=True)
class StubEngine:
    """A search engine over given pages, in this process.

    >>> engine = StubEngine([IndexedPage("http://a.test/", "Rain", "Rain by month")])
    >>> engine.search(Query("stub", "rain")).hits
    (Hit(url='http://a.test/', title='Rain', snippet='Rain by month', seen='', archived=''),)
    """

    pages: Iterable[IndexedPage]
    name: str = "stub"
    abilities: frozenset[Ability] = frozenset(Ability)
    delay_seconds: float = 0.0
    max_queries: int | None = None
    hits_per_page: int = 10
    _words: dict[IndexedPage, frozenset[str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the pages."""
        pages = sorted(self.pages, key=lambda page: page.url)
        object.__setattr__(self, "_words", {page: _words(f"{page.title} {page.text}") for page in pages})

    @classmethod
    def over(cls, site: Site, name: str = "stub", hits_per_page: int = 10) -> Self:
        """Index the pages of a site."""
        pages = (indexed(url, site.get(url)) for url in site)
        return cls([page for page in pages if page is not None], name, hits_per_page=hits_per_page)

    def search(self, query: Query) -> Hits:
        """Answer a query."""
        found = self._found(query)
        first = (query.page - 1) * self.hits_per_page
        last = first + self.hits_per_page
        hits = (Hit(page.url, page.title, page.text[:_SNIPPET_CHARS]) for page in found[first:last])
        return bounded_hits(hits, more=last < len(found))

    def _found(self, query: Query) -> list[IndexedPage]:
        if query.ability is Ability.BACKLINKS:
            return [page for page in self._words if query.text in page.links and page.url != query.text]
        wanted = _words(query.text)
        if query.ability is Ability.RELATED:
            of_page = (words for page, words in self._words.items() if page.url == query.text)
            wanted = next(of_page, frozenset())
        ranked = [
            (-len(wanted & words), number, page)
            for number, (page, words) in enumerate(self._words.items())
            if page.url != query.text and wanted & words
        ]
        return [page for _, _, page in sorted(ranked)]


@dataclass(frozen=True)
class HttpEngine:
    """Asks an engine that `engine_site` serves under a base URL; ``key`` is sent as a header."""

    base_url: str
    name: str = "stub"
    abilities: frozenset[Ability] = frozenset(Ability)
    delay_seconds: float = 0.0
    max_queries: int | None = None
    key: str = field(default="", repr=False)

    def request(self, query: Query) -> ProviderRequest:
        """Return the request for a query."""
        headers = (("X-Key", self.key),) if self.key else ()
        return ProviderRequest(f"{self.base_url}/search?{query_of(query.address)}", headers)

    def read(self, body: bytes, content_type: str) -> Hits:
        """Read an answer."""
        if "json" not in content_type:
            raise ValueError(f"not JSON but {content_type}")
        answer = json.loads(body)
        hits = (Hit(found["url"], found["title"], found["content"]) for found in answer["results"])
        return bounded_hits(hits, more=answer["more"])


def engine_site(base_url: str, engine: StubEngine) -> Site:
    """Return a site whose answers under ``/search`` are the engine's, as JSON."""
    return Site(f"{base_url}/", _Answers(base_url, engine))


def indexed(url: str, response: Response) -> IndexedPage | None:
    """Return what an engine knows of a response; None if it is not a page."""
    if response.status != 200 or "html" not in response.media_type:  # noqa: PLR2004 - HTTP success
        return None
    body = response.body or b""
    links = frozenset(LinkExtractor().extract(body, url, response.media_type).links.urls)
    title = _TITLE.search(body.decode(errors="replace"))
    return IndexedPage(url, title.group(1) if title else "", text_of(body, response.media_type), links)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


class _Answers(Mapping[str, Response]):
    """The answers of an engine by URL, each made when it is requested."""

    def __init__(self, base_url: str, engine: StubEngine) -> None:
        self._base_url = base_url
        self._engine = engine

    def __getitem__(self, url: str) -> Response:
        head, mark, parameters = url.partition("?")
        if head != f"{self._base_url}/search" or not mark:
            return NOT_FOUND
        given = dict(parse_qsl(parameters))
        page = int(given.pop("page", "1"))
        ability, text = next(iter(given.items()))
        found = self._engine.search(Query(self._engine.name, text, Ability(ability), page))
        results = [{"url": url, "title": title, "content": snippet} for url, title, snippet, *_ in found.hits]
        body = json.dumps({"results": results, "more": found.more}).encode()
        return Response.file("application/json", body)

    def __iter__(self) -> Iterator[str]:
        return iter((f"{self._base_url}/",))

    def __len__(self) -> int:
        return 1
