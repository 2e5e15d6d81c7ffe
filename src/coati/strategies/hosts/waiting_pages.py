"""The pages that wait, by host, the most promising first.

A page is one whole number: its promise above, its number below. So a heap of plain numbers gives the best
page, and of equals the one that was found first. About 45 bytes per page.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.strategies.hosts.page_models import LIMIT, RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NUMBER_BITS = 32
_NUMBER = (1 << _NUMBER_BITS) - 1


class WaitingPages:
    """Heaps of pages.

    >>> waiting = WaitingPages()
    >>> waiting.push(host=7, page=1, promise=-0.5), waiting.push(host=7, page=2, promise=0.5)
    (True, True)
    >>> waiting.best(7), waiting.pop(7), waiting.pop(7), 7 in waiting
    (0.5, 2, 1, False)
    """

    def __init__(self) -> None:
        self._heaps: dict[int, list[int]] = {}
        self._count = 0

    def __len__(self) -> int:
        """Count the pages of all hosts."""
        return self._count

    def __contains__(self, host: int) -> bool:
        """Tell whether a page of the host waits."""
        return host in self._heaps

    def hosts(self) -> list[int]:
        """Return the hosts with pages, in the order in which they got the first."""
        return list(self._heaps)

    def count(self, host: int) -> int:
        """Return how many pages of a host wait."""
        return len(self._heaps.get(host, ()))

    def push(self, host: int, page: int, promise: float) -> bool:
        """Add a page; return whether it is the best of its host now."""
        heap = self._heaps.setdefault(host, [])
        packed = int((LIMIT - promise) * RESOLUTION) << _NUMBER_BITS | page
        heapq.heappush(heap, packed)
        self._count += 1
        return heap[0] == packed

    def best(self, host: int) -> float:
        """Return the promise of the best page of a host."""
        return LIMIT - (self._heaps[host][0] >> _NUMBER_BITS) / RESOLUTION

    def best_page(self, host: int) -> int:
        """Return the best page of a host."""
        return self._heaps[host][0] & _NUMBER

    def pop(self, host: int) -> int:
        """Take the best page of a host."""
        heap = self._heaps[host]
        page = heapq.heappop(heap) & _NUMBER
        self._taken(host)
        return page

    def take(self, host: int, wanted: Callable[[int], bool]) -> int:
        """Take a page out of turn; raise `ValueError` if none is the wanted one."""
        heap = self._heaps.get(host, [])
        for place, packed in enumerate(heap):
            if wanted(packed & _NUMBER):
                heap[place] = heap[-1]
                heap.pop()
                heapq.heapify(heap)
                self._taken(host)
                return packed & _NUMBER
        raise ValueError("this page is not waiting")

    def rescore(self, host: int, promise: Callable[[int], float]) -> None:
        """Order the pages of a host by new promises."""
        pages = sorted(packed & _NUMBER for packed in self._heaps[host])
        self._heaps[host] = []
        self._count -= len(pages)
        for page in pages:
            self.push(host, page, promise(page))

    def _taken(self, host: int) -> None:
        self._count -= 1
        if not self._heaps[host]:
            del self._heaps[host]

    def save(self) -> Mapping[str, Any]:
        """Return the heaps as they are, one behind the other."""
        every = [packed for heap in self._heaps.values() for packed in heap]
        sizes = [[host, len(heap)] for host, heap in self._heaps.items()]
        return {
            "waiting": np.array(every, np.uint64),
            "waiting_sizes": np.array(sizes, np.uint32).reshape(-1, 2),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        every = state["waiting"].tolist()
        self._heaps, self._count = {}, len(every)
        at = 0
        for host, size in state["waiting_sizes"].tolist():
            self._heaps[host] = every[at : at + size]
            at += size
