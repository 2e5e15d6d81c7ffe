"""Which addresses are read as lists of links even where their media type is wanted as a target."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from coati.model import Page, Redirect
from coati.readers.listed import NAMES_LISTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from coati.model import Outcome

# No honest site has so many; what is named beyond is a link like any other.
MAX_LISTS: Final = 100_000


class ListAddresses:
    """The list addresses of one crawl.

    They are the start addresses, what one of them redirects to, and what one of them names as a further list:
    the sitemaps of an index or of a robots.txt. Whoever drives the crawl tells what was observed; a run's log
    keeps what came of it (the table ``lists``).

    >>> lists = ListAddresses(["http://example.org/"])
    >>> lists.observe("http://example.org/", Redirect(301, 0, "http://www.example.org/"))
    ('http://www.example.org/',)
    >>> "http://www.example.org/" in lists
    True
    """

    def __init__(self, urls: Iterable[str]) -> None:
        # In order, so that exploring meets the same limit in the same way.
        self._urls = dict.fromkeys(urls)

    def __contains__(self, url: str) -> bool:
        """Tell whether an address is read as a list."""
        return url in self._urls

    def explore(self, answer: Callable[[str], Outcome]) -> None:
        """Learn all that can be known, where what would come of an address can be told beforehand."""
        waiting = deque(self._urls)
        while waiting:
            url = waiting.popleft()
            waiting.extend(self.observe(url, answer(url)))

    def observe(self, url: str, outcome: Outcome) -> Sequence[str]:
        """Learn from what came of an address; returns the addresses that became known by it."""
        if url not in self._urls:
            return ()
        new = dict.fromkeys(named for named in _named(outcome) if named not in self._urls)
        kept = tuple(new)[: max(0, MAX_LISTS - len(self._urls))]
        self._urls.update(dict.fromkeys(kept))
        return kept


def _named(outcome: Outcome) -> Sequence[str]:
    if isinstance(outcome, Redirect):
        return (outcome.location,)
    # What an index or a robots.txt lists is all of one kind.
    if isinstance(outcome, Page) and outcome.links.urls and outcome.links.link(0).tag_path in NAMES_LISTS:
        return outcome.links.urls
    return ()
