"""Pages that a watch no longer visits: those that are gone, and barren ones that others replace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

# A page is barren after this many visits in a row without anything new.
VISITS_UNTIL_BARREN = 10


class Departures:
    """Counts the visits that did not find a page, and those that found nothing new on it.

    A server that says "not found" may be in trouble, so a page has left only after ``misses_until_gone``
    visits in a row; None: never, as in a history, where a page may be missing for a while.

    >>> pages = Departures(misses_until_gone=2)
    >>> pages.note(7, missing=True, new=0), pages.left
    (None, set())
    >>> pages.note(7, missing=True, new=0), pages.left
    (None, {7})
    """

    def __init__(self, misses_until_gone: int | None = None) -> None:
        self._misses_until_gone = misses_until_gone
        self._misses: dict[int, int] = {}
        self._fruitless: dict[int, int] = {}
        self.left: set[int] = set()

    def note(self, page: int, *, missing: bool, new: int) -> None:
        """Learn from a visit: whether the page was not there, and how many new links it had."""
        if self._misses_until_gone is None:
            return
        self._misses[page] = self._misses.get(page, 0) + 1 if missing else 0
        self._fruitless[page] = 0 if new else self._fruitless.get(page, 0) + 1
        if self._misses[page] >= self._misses_until_gone:
            self.leave(page)

    def leave(self, page: int) -> None:
        """Stop visiting a page."""
        self._misses.pop(page, None)
        self._fruitless.pop(page, None)
        self.left.add(page)

    def least_useful(self, but: Collection[int]) -> int | None:
        """Return the page that brought nothing for longest, except ``but``; None if no page is barren."""
        barren = {
            page: visits
            for page, visits in self._fruitless.items()
            if visits >= VISITS_UNTIL_BARREN and page not in but
        }
        return max(barren, key=lambda page: (barren[page], page), default=None)

    def save(self) -> dict[str, Any]:
        return {
            "left": sorted(self.left),
            "misses": [list(pair) for pair in self._misses.items() if pair[1]],
            "fruitless": [list(pair) for pair in self._fruitless.items() if pair[1]],
        }

    def load(self, state: dict[str, Any]) -> None:
        self.left = set(state["left"])
        self._misses, self._fruitless = dict(state["misses"]), dict(state["fruitless"])
