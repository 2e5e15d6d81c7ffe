"""Every URL that discovery knows, by its hash, so that a page can be read whole.

A run passes a strategy each URL once, when it is new. A hit of a search may have been a link on some page
before, and would be missing from the results. The hashes of all out-links (`coati.model.Page.out_links`) and
what is remembered here give the rest back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coati.strategies.known_urls import KnownUrls
from coati.web.urls import url_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coati.model import Page
    from coati.strategies.state import State


class UrlsByHash:
    """URLs by the hash that is the same in every process.

    >>> from coati.model import Link, LinkList, Page
    >>> urls = UrlsByHash()
    >>> urls.on_page(Page(200, 9, LinkList([Link("http://a.test/1", ("a",))])))
    ['http://a.test/1']
    >>> known = url_hash("http://a.test/1")
    >>> urls.on_page(Page(200, 9, LinkList([Link("http://a.test/2", ("a",))]), out_links=[known]))
    ['http://a.test/2', 'http://a.test/1']
    """

    def __init__(self) -> None:
        self._urls = KnownUrls()
        self._numbers: dict[int, int] = {}

    def add(self, url: str) -> bool:
        """Remember a URL; return whether it is new."""
        number = self._urls.add(url)
        if number is None:
            return False
        self._numbers[url_hash(url)] = number
        return True

    def __contains__(self, url: str) -> bool:
        """Tell whether a URL is known."""
        return url_hash(url) in self._numbers

    def on_page(self, page: Page) -> list[str]:
        """Return the URLs on a page: the new ones in document order, then the known ones by age."""
        new = [url for url in page.links.urls if self.add(url)]
        if page.out_links is None:
            return new
        fresh = set(map(url_hash, new))
        numbers = (self._numbers.get(link, -1) for link in page.out_links if link not in fresh)
        return [*new, *(self._urls[number] for number in sorted(numbers) if number >= 0)]

    def __iter__(self) -> Iterator[str]:
        return (self._urls[number] for number in range(len(self._urls)))

    def save(self) -> dict[str, Any]:
        """Return the URLs."""
        return self._urls.save()

    def load(self, state: State) -> None:
        self._urls.load(state)
        self._numbers = {url_hash(url): number for number, url in enumerate(self)}
