"""Links whose request failed in an outage: each waits until it may be requested again.

A deferred link was chosen once already, so it is requested before anything else as soon as it is due: nothing
that a strategy learnt in between has to be undone or done twice. One that is deferred to the end
(`coati.model.AT_THE_END`) is requested when nothing else is left and nothing is in flight.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from coati.model import AT_THE_END, Later, Method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from coati.model import Request

T = TypeVar("T")
_Key = tuple[str, str]


class Deferrals(Generic[T]):
    """What a strategy needs to request a link again (``T``), by method and URL.

    >>> waiting: Deferrals[int] = Deferrals()
    >>> waiting.push(Method.GET, "http://example.org/a", 7, until=60.0)
    >>> waiting.take(59.0, idle=True), waiting.answer()
    (None, Later(at=60.0))
    >>> waiting.take(60.0, idle=False), waiting.answer()
    (7, None)
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, _Key]] = []
        self._items: dict[_Key, tuple[int, T]] = {}
        self._pushed = 0

    def __len__(self) -> int:
        """Count the links that wait."""
        return len(self._items)

    def push(self, method: Method, url: str, item: T, until: float) -> None:
        """Defer a link until a time."""
        key = (method.value, url)
        self._pushed += 1
        self._items[key] = (self._pushed, item)
        heapq.heappush(self._heap, (until, self._pushed, key))

    def take(self, now: float, *, idle: bool) -> T | None:
        """Take the link that is due first; ``idle`` says that nothing else waits or is in flight."""
        if not self._heap:
            return None
        until = self._next_time()
        if until is None or (until > now and not (idle and until == AT_THE_END)):
            return None
        _, _, key = heapq.heappop(self._heap)
        return self._items.pop(key)[1]

    def take_logged(self, request: Request) -> T | None:
        """Take the link that a logged choice requested again; None if it was not a deferred one."""
        if not self._items:
            return None
        found = self._items.pop((request.method.value, request.url), None)
        return None if found is None else found[1]

    def answer(self) -> Later | None:
        """Return what `choose` answers where only deferred links can be left."""
        until = self._next_time()
        return None if until is None or until == AT_THE_END else Later(until)

    def _next_time(self) -> float | None:
        while self._heap:
            until, order, key = self._heap[0]
            # What was taken out of turn, or deferred again, has left its old place behind.
            if self._items.get(key, (0,))[0] == order:
                return until
            heapq.heappop(self._heap)
        return None

    def save(self, to_json: Callable[[T], Any]) -> list[list[Any]]:
        """Return what waits in values that JSON can hold, in the order of `take`."""
        current = ((until, order, key) for until, order, key in sorted(self._heap) if key in self._items)
        return [
            [*key, None if until == AT_THE_END else until, to_json(self._items[key][1])]
            for until, order, key in current
            if self._items[key][0] == order
        ]

    def load(self, saved: Iterable[list[Any]], from_json: Callable[[Any], T]) -> None:
        self._heap, self._items = [], {}
        for method, url, until, item in saved:
            self.push(Method(method), url, from_json(item), AT_THE_END if until is None else until)
