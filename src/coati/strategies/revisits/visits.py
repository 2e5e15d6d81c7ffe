"""What the visits to watched pages brought: per page, over a window of time, in arrays.

A page costs some dozen bytes, and so does a visit while it is in the window. Sums are kept per page and per
site, so nothing iterates over all visits.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int32]

WINDOW_SECONDS = 168 * 3600.0
_ROOM = 64


class Visit(NamedTuple):
    """One visit to a page, as a scheduler learns of it.

    ``new`` are the links that no cycle before its own knew (O^t(s)), ``counting`` all that are there now,
    within the site and relevant, and ``left`` how many of those of the last visit are gone. ``seen`` is False
    where the page could not be fetched: then nothing is known of it. ``first`` marks a first look.
    """

    page: int
    at: float
    cycle: int
    new: Sequence[int]
    counting: Sequence[int]
    left: int = 0
    seen: bool = True
    first: bool = False


class Visits:
    """When pages were requested, and how many new links came within the window.

    >>> visits = Visits()
    >>> visits.add_page(site=0)
    >>> visits.add(Visit(0, 3600.0, 1, new=[7, 8, 9], counting=[]))
    >>> visits.means().tolist(), visits.requested_at.tolist()
    ([3.0], [3600.0])
    """

    def __init__(self, window_seconds: float = WINDOW_SECONDS) -> None:
        self.window_seconds = window_seconds
        self._pages = 0
        self._site = np.zeros(_ROOM, np.int32)
        self._requested_at = np.zeros(_ROOM)
        self._seen_at = np.zeros(_ROOM)
        # Over the visits in the window: how many, their new links, and the squares of these.
        self._sums = np.zeros((3, _ROOM))
        self._recent: deque[tuple[float, int, int]] = deque()

    def __len__(self) -> int:
        """Count the pages."""
        return self._pages

    @property
    def site(self) -> Ints:
        """The site of each page."""
        return self._site[: self._pages]

    @property
    def requested_at(self) -> Floats:
        """When each page was last requested; 0 if never."""
        return self._requested_at[: self._pages]

    @property
    def seen_at(self) -> Floats:
        """When each page was last seen: when its request did not fail."""
        return self._seen_at[: self._pages]

    @property
    def counts(self) -> Floats:
        """How many visits to each page are in the window."""
        return self._sums[0, : self._pages]

    def add_page(self, site: int) -> None:
        """Make room for one more page."""
        if self._pages == len(self._site):
            self._grow()
        self._site[self._pages] = site
        self._pages += 1

    def _grow(self) -> None:
        room = max(_ROOM, self._pages)
        self._site = np.concatenate([self._site, np.zeros(room, np.int32)])
        self._requested_at = np.concatenate([self._requested_at, np.zeros(room)])
        self._seen_at = np.concatenate([self._seen_at, np.zeros(room)])
        self._sums = np.concatenate([self._sums, np.zeros((3, room))], axis=1)

    def add(self, visit: Visit) -> None:
        """Count what a visit brought; a first look brings nothing."""
        self._requested_at[visit.page] = visit.at
        if visit.seen:
            self._seen_at[visit.page] = visit.at
        if not visit.first:
            self._count(visit.page, len(visit.new), 1)
            self._recent.append((visit.at, visit.page, len(visit.new)))

    def expire(self, now: float) -> None:
        """Forget the visits that have left the window."""
        while self._recent and self._recent[0][0] < now - self.window_seconds:
            _, page, new = self._recent.popleft()
            self._count(page, new, -1)

    def _count(self, page: int, new: int, visits: int) -> None:
        self._sums[:, page] += (visits, visits * new, visits * new * new)

    def means(self) -> Floats:
        """Return the mean of new links per visit in the window; 0 where there was no visit."""
        visits, total, _ = self._sums[:, : self._pages]
        means: Floats = total / np.maximum(visits, 1)
        return means

    def estimated_means(self) -> Floats:
        """Return the means; where a page has none, that of its site, else that of all."""
        visits, total, _ = self._sums[:, : self._pages]
        sites = int(self.site.max(initial=-1)) + 1
        site_visits = np.bincount(self.site, visits, minlength=sites)
        site_total = np.bincount(self.site, total, minlength=sites)
        overall = total.sum() / max(visits.sum(), 1)
        of_site = np.where(site_visits > 0, site_total / np.maximum(site_visits, 1), overall)
        return np.where(visits > 0, total / np.maximum(visits, 1), of_site[self.site])

    def deviations(self) -> Floats:
        """Return the standard deviation of new links per visit in the window; 0 where there was no visit."""
        visits, total, squares = self._sums[:, : self._pages]
        many = np.maximum(visits, 1)
        deviations: Floats = np.sqrt(np.maximum(squares / many - (total / many) ** 2, 0))
        return deviations

    def save(self) -> dict[str, Any]:
        recent = np.array(self._recent, np.float64).reshape(-1, 3)
        return {
            "page_site": self.site.copy(),
            "page_asked_at": self.requested_at.copy(),
            "page_seen_at": self.seen_at.copy(),
            "page_sums": self._sums[:, : self._pages].copy(),
            "recent_visits": recent,
        }

    def load(self, state: State) -> None:
        self._site = np.array(state["page_site"], np.int32)
        self._pages = len(self._site)
        self._requested_at = np.array(state["page_asked_at"])
        self._seen_at = np.array(state["page_seen_at"])
        self._sums = np.array(state["page_sums"])
        self._recent = deque((at, int(page), int(new)) for at, page, new in state["recent_visits"].tolist())
