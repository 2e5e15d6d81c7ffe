"""Hosts that must not get requests yet, woken when they may; no call looks at all of them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable


class WakeList:
    """A heap of sleeping hosts, corrected when it is looked at.

    ``free_at`` says when a host may get a request: infinity while something in flight there has to end first.
    That time may become later unnoticed. When it becomes earlier, `changed` must be called.

    >>> times = {"a.org": 3.0, "b.org": 2.0}
    >>> sleeping = WakeList(times.__getitem__)
    >>> for host in times:
    ...     sleeping.add(host)
    >>> times["b.org"] = 9.0
    >>> sleeping.next_time(), sleeping.take_ready(5.0), sleeping.next_time()
    (3.0, ['a.org'], 9.0)
    """

    def __init__(self, free_at: Callable[[str], float]) -> None:
        self._free_at = free_at
        self._heap: list[tuple[float, str]] = []
        # The one entry of the heap that counts for a host; all others are out of date.
        self._entry: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._entry)

    def add(self, host: str) -> None:
        """Let a host sleep until it may get a request."""
        if host not in self._entry:
            self._put(host)

    def changed(self, host: str) -> None:
        """Note that a host may get a request earlier than it seemed."""
        entry = self._entry.get(host)
        if entry is not None and self._free_at(host) < entry:
            self._put(host)

    def take_ready(self, now: float) -> list[str]:
        """Take out the hosts that may get a request by now."""
        woken = []
        while self.next_time() <= now:
            _, host = heapq.heappop(self._heap)
            del self._entry[host]
            woken.append(host)
        return woken

    def next_time(self) -> float:
        """Return when the next host wakes; infinity if none does by itself."""
        while self._heap:
            at, host = self._heap[0]
            if self._entry.get(host) == at and self._free_at(host) <= at:
                return at
            heapq.heappop(self._heap)
            if self._entry.get(host) == at:
                self._put(host)
        return math.inf

    def _put(self, host: str) -> None:
        at = self._entry[host] = self._free_at(host)
        if at < math.inf:
            heapq.heappush(self._heap, (at, host))
