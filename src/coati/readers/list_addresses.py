"""Which URLs are read as lists of links even where their media type is wanted as a target."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from coati.model import Page, Redirect
from coati.readers.listed import is_api, named_first, names_list
from coati.readers.offered_lists import offered_feeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coati.model import Outcome

# No honest site has this many; what is named beyond is a link like any other.
MAX_LISTS: Final = 100_000


class ListAddresses:
    """The list addresses of one crawl.

    They are the start URLs, what one of them redirects to, and what one of them names as a further list:
    the sitemaps of an index or of a robots.txt. So are the pages of an API that any page offers
    (`coati.shortcuts`), and with ``feeds`` the feeds that any page offers in its head. The driver of the
    crawl passes what was observed; a run's log keeps the result (the table ``lists``).

    >>> lists = ListAddresses(["http://example.org/"])
    >>> lists.observe("http://example.org/", Redirect(301, 0, "http://www.example.org/"))
    ('http://www.example.org/',)
    >>> "http://www.example.org/" in lists
    True
    """

    def __init__(self, urls: Iterable[str], *, feeds: bool = False) -> None:
        # In order, so that exploring reaches the same limit in the same way.
        self._urls = dict.fromkeys(urls)
        self._feeds = feeds

    def __contains__(self, url: str) -> bool:
        """Tell whether a URL is read as a list."""
        return url in self._urls

    def explore(self, answer: Callable[[str], Outcome]) -> None:
        """Learn all that can be known, where the outcome of each URL is known beforehand."""
        waiting = deque(self._urls)
        while waiting:
            url = waiting.popleft()
            waiting.extend(self.observe(url, answer(url)))

    def observe(self, url: str, outcome: Outcome) -> Sequence[str]:
        """Learn from the outcome of a URL; return the list addresses that became known by it."""
        named = [*(_named(outcome) if url in self._urls else _apis(outcome))]
        if self._feeds and isinstance(outcome, Page):
            named += offered_feeds(url, outcome)
        new = dict.fromkeys(each for each in named if each not in self._urls)
        kept = tuple(new)[: max(0, MAX_LISTS - len(self._urls))]
        self._urls.update(dict.fromkeys(kept))
        return kept


def _named(outcome: Outcome) -> Sequence[str]:
    if isinstance(outcome, Redirect):
        return (outcome.location,)
    return named_first(outcome.links, names_list) if isinstance(outcome, Page) else ()


def _apis(outcome: Outcome) -> Sequence[str]:
    """Return the URLs of APIs that a page offers, which is not a list itself."""
    return named_first(outcome.links, is_api) if isinstance(outcome, Page) else ()
