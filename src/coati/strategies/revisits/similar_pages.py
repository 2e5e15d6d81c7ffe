"""Which pages of a site bring the same new links, by the Jaccard similarity of these.

It is known only of pages that were visited in the same cycle. Only pairs above the threshold are kept: the
rest is never needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from coati.strategies.revisits.visits import Visit
    from coati.strategies.state import State

THRESHOLD = 0.7


class SimilarPages:
    """Learns from the visits of a cycle when the next one begins.

    >>> from coati.strategies.revisits.visits import Visit
    >>> similar = SimilarPages()
    >>> for page, new in enumerate(([1, 2, 3, 4], [1, 2, 3], [9])):
    ...     similar.learn(Visit(page, 0.0, 0, new, counting=new), site=0)
    >>> similar.compare()
    >>> similar.to(0), similar.to(2)
    ({1}, set())
    """

    def __init__(self, threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._similar: dict[int, set[int]] = {}
        # What the pages of each site brought in this cycle.
        self._brought: dict[int, dict[int, frozenset[int]]] = {}

    def to(self, page: int) -> Collection[int]:
        """Return the pages that are similar to one."""
        return self._similar.get(page, set())

    def learn(self, visit: Visit, site: int) -> None:
        """Note what a page brought; of one that could not be fetched nothing is known."""
        if visit.seen:
            of_site = self._brought.setdefault(site, {})
            of_site[visit.page] = frozenset(visit.new)

    def compare(self) -> None:
        """Compare the pages that were visited since the last call."""
        for brought in self._brought.values():
            pages = sorted(brought, key=lambda page: (len(brought[page]), page))
            for place, page in enumerate(pages):
                self._compare(page, pages[place + 1 :], brought)
        self._brought = {}

    def _compare(self, page: int, larger: list[int], brought: Mapping[int, frozenset[int]]) -> None:
        links = brought[page]
        before = self._similar.get(page, set())
        for other in larger:
            # The smaller part of the larger cannot be above the threshold.
            possible = len(links) > self._threshold * len(brought[other])
            if possible and jaccard(links, brought[other]) > self._threshold:
                self._similar.setdefault(page, set()).add(other)
                self._similar.setdefault(other, set()).add(page)
            elif other in before:
                self._similar[page].discard(other)
                self._similar[other].discard(page)

    def save(self) -> dict[str, Any]:
        return {
            "similar": [[page, sorted(others)] for page, others in self._similar.items()],
            "brought": [
                [site, [[page, sorted(links)] for page, links in brought.items()]]
                for site, brought in self._brought.items()
            ],
        }

    def load(self, state: State) -> None:
        self._similar = {page: set(others) for page, others in state["similar"]}
        self._brought = {
            site: {page: frozenset(links) for page, links in brought} for site, brought in state["brought"]
        }


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the share of the links of two pages that both have; 0 where neither has any.

    >>> jaccard(frozenset([1, 2]), frozenset([2, 3]))
    0.3333333333333333
    """
    both = len(one & other)
    either = len(one) + len(other) - both
    return both / either if either else 0.0
