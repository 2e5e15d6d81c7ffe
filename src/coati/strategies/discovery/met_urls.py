"""Every URL that discovery has met, so that a page can be read whole.

A run tells a strategy each URL once, when it is new. A hit of a search may have been a link on some page
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


class MetUrls:
    """URLs by the hash that is the same in every process.

    >>> from coati.model import Link, LinkList, Page
    >>> met = MetUrls()
    >>> met.on_page(Page(200, 9, LinkList([Link("http://a.test/1", ("a",))])))
    ['http://a.test/1']
    >>> known = url_hash("http://a.test/1")
    >>> met.on_page(Page(200, 9, LinkList([Link("http://a.test/2", ("a",))]), out_links=[known]))
    ['http://a.test/2', 'http://a.test/1']
    """

    def __init__(self) -> None:
        self._known = KnownUrls()
        self._numbers: dict[int, int] = {}

    def meet(self, url: str) -> bool:
        """Remember a URL; tells whether it is new."""
        number = self._known.add(url)
        if number is None:
            return False
        self._numbers[url_hash(url)] = number
        return True

    def __contains__(self, url: str) -> bool:
        """Tell whether a URL was met."""
        return url_hash(url) in self._numbers

    def on_page(self, page: Page) -> list[str]:
        """Return the URLs on a page: the new ones as they stand there, then the known ones by age."""
        new = [url for url in page.links.urls if self.meet(url)]
        if page.out_links is None:
            return new
        fresh = set(map(url_hash, new))
        numbers = (self._numbers.get(link, -1) for link in page.out_links if link not in fresh)
        return [*new, *(self._known[number] for number in sorted(numbers) if number >= 0)]

    def __iter__(self) -> Iterator[str]:
        return (self._known[number] for number in range(len(self._known)))

    def save(self) -> dict[str, Any]:
        """Return the URLs."""
        return self._known.save()

    def load(self, state: State) -> None:
        self._known.load(state)
        self._numbers = {url_hash(url): number for number, url in enumerate(self)}
