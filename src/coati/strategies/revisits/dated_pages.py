"""Watched pages that a sitemap or a feed dates later than was known: they are visited soon.

A date that the last visit to the page came after says nothing new: a sitemap that dates by day and a feed
that dates by time tell of the same change one after the other. Some sites change every date whenever they are
asked. A list whose dates brought nothing many times in a row is not believed any more.
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
    """The dates of watched pages, by address, and which list said last that a page has changed.

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
        self._told_by: dict[str, str] = {}
        self._in_vain: dict[str, int] = {}

    def observe(
        self, url: str, outcome: Outcome, now: float, last_visit: Callable[[str], float | None]
    ) -> list[str]:
        """Learn from a visit to a list; returns the watched pages that have changed since their last visit.

        ``last_visit`` tells in which cycle that was, by its beginning; None for a page that is not watched.
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
        self._told_by.update(dict.fromkeys(changed, url))
        return changed

    def learn(self, page: str, new_links: float, now: float) -> None:
        """Note what a visit brought to a page that may have been dated later."""
        if page in self._dates:
            self._visited[page] = now
        told_by = self._told_by.pop(page, None)
        if told_by is not None:
            self._in_vain[told_by] = 0 if new_links else self._in_vain.get(told_by, 0) + 1

    def save(self) -> State:
        return {
            "dates": [list(pair) for pair in self._dates.items()],
            "visited": [list(pair) for pair in self._visited.items()],
            "told_by": [list(pair) for pair in self._told_by.items()],
            "in_vain": [list(pair) for pair in self._in_vain.items()],
        }

    def load(self, state: State) -> None:
        self._dates, self._visited = dict(state["dates"]), dict(state["visited"])
        self._told_by, self._in_vain = dict(state["told_by"]), dict(state["in_vain"])


def _earliest(date: float, before: float) -> float:
    """Return since when a change of this date may have come, where it is told after one that has a time.

    East of Greenwich, the day of a change may lie after its time: both tell of the same one.
    """
    return date - _EARLY_SECONDS if not date % _DAY_SECONDS and before % _DAY_SECONDS else date


def _latest(date: float) -> float:
    """Return until when a change of this date may have come: a date without a time is that of its day."""
    return date if date % _DAY_SECONDS else date + _DAY_SECONDS


def _entries(url: str, page: Page) -> Iterator[tuple[str, float]]:
    dates = page.facts.get(ENTRY_DATES)
    for reference, date in dates if isinstance(dates, list) else ():
        address = resolve(url, str(reference))
        if address is not None:
            yield address, float(date)
