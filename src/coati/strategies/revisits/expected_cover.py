"""Take the pages whose visits cover most of what is expected, one after the other."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.strategies.revisits.scheduler import Ranking

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int32]

# Overlap is worked out for this many times the pages of a cycle: those that promise most, each alone.
_CANDIDATES, _LEAST_CANDIDATES = 20, 500


class ExpectedCover:
    """Pages with what is expected of each: some links alone, and some that other pages have as well.

    ``alone`` is the former, per page. The latter come as pairs: a link, a page, and what the link is worth
    there. A page that is taken takes its links from all others. What is expected of a page only ever falls,
    so it is worked out again when the page comes first, and not before.
    """

    def __init__(self, alone: Floats, links: Ints, pages: Ints, worth: Floats, per_cycle: int) -> None:
        self.scores = alone + np.bincount(pages, worth, minlength=len(alone))
        self._alone = alone
        self._others = Ranking(self.scores)
        most = min(len(alone), max(_CANDIDATES * per_cycle, _LEAST_CANDIDATES))
        candidates = self._others.first(most)
        kept = np.isin(pages, candidates) if most < len(alone) else np.ones(len(pages), bool)
        order = np.argsort(pages[kept], kind="stable")
        self._links, self._worth = links[kept][order], worth[kept][order]
        sorted_pages = pages[kept][order]
        own = candidates.tolist()
        self._from = dict(zip(own, np.searchsorted(sorted_pages, candidates).tolist(), strict=True))
        self._to = dict(zip(own, np.searchsorted(sorted_pages, candidates, "right").tolist(), strict=True))
        self._covered = np.zeros(int(links.max(initial=-1)) + 1, bool)
        self._heap: list[tuple[float, int]] = [(-float(self.scores[page]), page) for page in own]
        heapq.heapify(self._heap)

    def expected(self, page: int) -> float:
        """Return what is expected of a page that no taken page has."""
        if page not in self._from:
            return float(self.scores[page])
        own = slice(self._from[page], self._to[page])
        left = self._worth[own][~self._covered[self._links[own]]]
        return float(self._alone[page] + left.sum())

    def best(self, cycle: Cycle) -> int | None:
        """Return the page to take."""
        while self._heap:
            before, page = self._heap[0]
            if not cycle.is_open(page):
                heapq.heappop(self._heap)
                continue
            now = -self.expected(page)
            # Adding up again rounds differently.
            if now <= before + 1e-9 * (1 - before):
                return page
            heapq.heapreplace(self._heap, (now, page))
        return self._others.first_open(cycle)

    def take(self, page: int) -> None:
        """Cover the links of a page."""
        if page in self._from:
            self._covered[self._links[self._from[page] : self._to[page]]] = True

    def save(self) -> dict[str, Any]:
        """Return what `load` needs; the pairs are those of the candidates."""
        candidates = np.array(list(self._from), np.int32)
        counts = [self._to[page] - self._from[page] for page in self._from]
        spans = [np.arange(self._from[page], self._to[page]) for page in self._from]
        chosen = np.concatenate([np.zeros(0, np.int64), *spans])
        return {
            "cover_scores": self.scores,
            "cover_alone": self._alone,
            "cover_candidates": candidates,
            "cover_counts": np.array(counts, np.int64),
            "cover_links": self._links[chosen],
            "cover_worth": self._worth[chosen],
            "cover_covered": self._covered,
            "cover_heap": [list(entry) for entry in self._heap],
            **self._others.save("cover_others"),
        }

    @classmethod
    def load(cls, state: State) -> ExpectedCover:
        """Return a saved cover."""
        none = np.zeros(0, np.int32)
        cover = cls(np.zeros(0), none, none, np.zeros(0), 1)
        cover.scores, cover._alone = state["cover_scores"], state["cover_alone"]
        cover._links, cover._worth = state["cover_links"], state["cover_worth"]
        cover._covered = np.array(state["cover_covered"])
        ends = np.cumsum(state["cover_counts"])
        candidates = state["cover_candidates"].tolist()
        cover._to = dict(zip(candidates, ends.tolist(), strict=True))
        cover._from = dict(zip(candidates, (ends - state["cover_counts"]).tolist(), strict=True))
        cover._heap = [(score, page) for score, page in state["cover_heap"]]
        cover._others = Ranking.load(state, "cover_others")
        return cover
