"""Sitemaps and feeds that watched pages offer: they are the cheapest pages to watch.

A robots.txt is visited once, for the sitemaps that it names. What is offered during the first looks is
watched from a first look on. What is offered later is new itself: it is followed, so that what it lists
counts as new, and watched from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.model import Failure, Other, Page, Target
from coati.readers.offered_lists import offered_feeds, offered_sitemaps
from coati.readers.robots import is_robots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coati.model import Outcome
    from coati.strategies.revisits.watch import Watch

_NOT_THERE = frozenset({404, 410})
# A site with more sitemaps has archives among them; those that are named first are watched.
MOST_LISTS = 500


class OfferedPages:
    """The sitemaps and feeds that were offered so far, and the watch that they join."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        # Whether each turned out to be a list.
        self._offered: dict[str, bool] = {}

    def __contains__(self, url: str) -> bool:
        """Tell whether a URL was offered as a list."""
        return url in self._offered

    def observe(self, url: str, outcome: Outcome) -> list[str]:
        """Learn from a visit to a watched page; return the new lists, which are to be followed."""
        if is_robots(url) or (self._offered.get(url) is False and _is_no_list(outcome)):
            self._watch.leave(url)
        if not isinstance(outcome, Page):
            return []
        if url in self._offered:
            self._offered[url] = True
        new = self._take([*offered_sitemaps(outcome), *offered_feeds(url, outcome)])
        if self._watch.cycles_begun:
            return new
        self._watch.add_pages(new)
        return []

    def _take(self, urls: Iterable[str]) -> list[str]:
        new = [url for url in dict.fromkeys(urls) if url not in self._offered and self._watch.is_in_site(url)]
        new = new[: max(0, MOST_LISTS - len(self._offered))]
        self._offered.update(dict.fromkeys(new, False))
        return new

    def save(self) -> list[list[object]]:
        """Return what was offered."""
        return [list(pair) for pair in self._offered.items()]

    def load(self, saved: Iterable[tuple[str, bool]]) -> None:
        """Take over what was offered."""
        self._offered = dict(saved)


def _is_no_list(outcome: Outcome) -> bool:
    """Tell whether what was offered is not a list: a guessed sitemap that is missing is dropped."""
    if isinstance(outcome, Failure):
        return outcome.status in _NOT_THERE
    return isinstance(outcome, Target | Other)
