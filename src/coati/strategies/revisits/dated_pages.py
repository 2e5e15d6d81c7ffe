"""Watched pages with a later date in a sitemap or a feed than was known: they are visited soon.

A date before the last visit to the page says nothing new: a sitemap that dates by day and a feed that dates
by time announce the same change one after the other. Some sites change every date on every request. A list
whose dates brought nothing many times in a row is no longer believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.model import Page
from coati.readers.entry_dates import ENTRY_DATES
from coati.web.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coati.model import Outcome
    from coati.strategies.state import State

_MOST_IN_VAIN = 20
# A date may be of another time zone. One further ahead is wrong, and no true one would come after it.
_DAY_SECONDS = _AHEAD_SECONDS = 24 * 3600.0
# In the far east a day begins this long before it does in UTC; a date without a time is read as one of UTC.
_EARLY_SECONDS = 14 * 3600.0


class DatedPages:
    """The dates of watched pages, by URL, and which list said last that a page has changed.

    >>> def sitemap(date): return Page(200, 9, NO_LINKS, facts={ENTRY_DATES: [["/a", date]]})
    >>> from coati.model import NO_LINKS
    >>> pages = DatedPages()
    >>> [pages.observe("http://b.org/s", sitemap(date), 7.0, lambda url: 5.5) for date in (4.0, 5.0, 6.0)]
    [[], [], ['http://b.org/a']]
    """

    def __init__(self) -> None:
        self._dates: dict[str, float] = {}
        # When each dated page was visited: a cycle, which is what a watch keeps, may be a day long.
        self._visited: dict[str, float] = {}
        self._announced_by: dict[str, str] = {}
        self._in_vain: dict[str, int] = {}

    def observe(
        self, url: str, outcome: Outcome, now: float, last_visit: Callable[[str], float | None]
    ) -> list[str]:
        """Learn from a visit to a list; return the watched pages that have changed since their last visit.

        ``last_visit`` returns the beginning of that visit's cycle; None for a page that is not watched.
        """
        if not isinstance(outcome, Page):
            return []
        changed = []
        for page, date in _entries(url, outcome):
            visited = last_visit(page)
            if date <= now + _AHEAD_SECONDS and visited is not None:
                visited = max(visited, self._visited.get(page, 0.0))
                before = self._dates.get(page)
                self._dates[page] = date if before is None else max(date, before)
                if before is not None and _earliest(date, before) > before and _latest(date) > visited:
                    changed.append(page)
        if self._in_vain.get(url, 0) >= _MOST_IN_VAIN:
            return []
        self._announced_by.update(dict.fromkeys(changed, url))
        return changed

    def learn(self, page: str, new_links: float, now: float) -> None:
        """Note what a visit brought to a page that may have been dated later."""
        if page in self._dates:
            self._visited[page] = now
        announced_by = self._announced_by.pop(page, None)
        if announced_by is not None:
            self._in_vain[announced_by] = 0 if new_links else self._in_vain.get(announced_by, 0) + 1

    def save(self) -> State:
        return {
            "dates": [list(pair) for pair in self._dates.items()],
            "visited": [list(pair) for pair in self._visited.items()],
            "told_by": [list(pair) for pair in self._announced_by.items()],
            "in_vain": [list(pair) for pair in self._in_vain.items()],
        }

    def load(self, state: State) -> None:
        self._dates, self._visited = dict(state["dates"]), dict(state["visited"])
        self._announced_by, self._in_vain = dict(state["told_by"]), dict(state["in_vain"])


def _earliest(date: float, before: float) -> float:
    """Return the earliest moment of a change with this date, given the date that was known before.

    East of Greenwich, a date without a time may lie after the time of the same change.
    """
    return date - _EARLY_SECONDS if not date % _DAY_SECONDS and before % _DAY_SECONDS else date


def _latest(date: float) -> float:
    """Return the latest moment of a change with this date: without a time it may be any of the day."""
    return date if date % _DAY_SECONDS else date + _DAY_SECONDS


def _entries(url: str, page: Page) -> Iterator[tuple[str, float]]:
    dates = page.facts.get(ENTRY_DATES)
    for reference, date in dates if isinstance(dates, list) else ():
        address = resolve(url, str(reference))
        if address is not None:
            yield address, float(date)
