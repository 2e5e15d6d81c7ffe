"""The links that came lately, and on which pages each could have been found: a sample of those to come."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int32]


class LinkSamples:
    """Links by hash, when each was found, and pairs of a link and a page.

    >>> samples = LinkSamples()
    >>> samples.add(page=0, new=[7, 8], there=[7, 8], at=3600.0, since=0.0)
    2
    >>> samples.add(page=1, new=[], there=[7], at=7200.0, since=0.0)
    1
    >>> samples.add(page=1, new=[], there=[7], at=9000.0, since=7200.0)
    0
    """

    def __init__(self) -> None:
        self._place: dict[int, int] = {}
        self._found_at = array("d")
        self._links = array("i")
        self._pages = array("i")

    @property
    def found_at(self) -> Floats:
        """When each link was found."""
        return np.array(self._found_at, np.float64)

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """The link and the page of each pair."""
        return np.array(self._links, np.int32), np.array(self._pages, np.int32)

    def add(self, page: int, new: Iterable[int], there: Iterable[int], at: float, since: float) -> int:
        """Note what a visit saw; return how many links the page could have been the first to show.

        These are the ones that were found after the page was last seen (``since``), by whichever page: what
        was known before then comes too late here, and says nothing about what comes next.
        """
        for key in new:
            if key not in self._place:
                self._place[key] = len(self._found_at)
                self._found_at.append(at)
        places = [self._place[key] for key in there if key in self._place]
        could = [place for place in places if self._found_at[place] > since]
        self._links.extend(could)
        self._pages.extend([page] * len(could))
        return len(could)

    def forget(self, before: float) -> None:
        """Forget the links that were found before a time, if they are many."""
        old = self.found_at < before
        if 2 * old.sum() <= len(old):
            return
        places = np.where(old, -1, np.cumsum(~old) - 1)
        links, pages = self.pairs
        kept = ~old[links]
        self._found_at = array("d", self.found_at[~old].tobytes())
        self._links = array("i", places[links[kept]].astype(np.int32).tobytes())
        self._pages = array("i", pages[kept].tobytes())
        self._place = {key: int(places[place]) for key, place in self._place.items() if not old[place]}

    def save(self) -> dict[str, Any]:
        links, pages = self.pairs
        return {
            "sample_keys": np.array(list(self._place), np.uint64),
            "sample_found_at": self.found_at,
            "sample_links": links,
            "sample_pages": pages,
        }

    def load(self, state: State) -> None:
        """Take over saved samples; keys are in the order of their places."""
        self._place = {key: place for place, key in enumerate(state["sample_keys"].tolist())}
        self._found_at = array("d", state["sample_found_at"].tobytes())
        self._links = array("i", state["sample_links"].tobytes())
        self._pages = array("i", state["sample_pages"].tobytes())
