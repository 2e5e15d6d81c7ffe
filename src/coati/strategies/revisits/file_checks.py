"""Which known file is checked next: whether it is still there, and still the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

# A server that says "not found" may be in trouble: it is believed only after this many cycles in a row.
MISSES_UNTIL_GONE = 3


class FileChecks:
    """Checks the known files in turn, each at most once per cycle; those that were missing come first.

    >>> checks = FileChecks(["a", "b"])
    >>> checks.next(cycle=1), checks.next(cycle=1)
    ('a', 'b')
    >>> checks.missing("b"), checks.present("a")
    (False, None)
    >>> checks.next(cycle=1), checks.next(cycle=2)
    (None, 'b')
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._round = deque(dict.fromkeys(urls))
        self._known = set(self._round)
        self._suspects: deque[str] = deque()
        self._misses: dict[str, int] = {}
        # The last cycle in which each was checked.
        self._checked_in: dict[str, int] = {}

    def __contains__(self, url: str) -> bool:
        return url in self._known

    def add(self, url: str) -> None:
        """Check one more file, after all the others."""
        if url not in self._known:
            self._known.add(url)
            self._round.append(url)

    def next(self, cycle: int) -> str | None:
        """Take the file to check in a cycle; None if all were checked or are in flight."""
        for waiting in (self._suspects, self._round):
            if waiting and self._checked_in.get(waiting[0], -1) < cycle:
                self._checked_in[waiting[0]] = cycle
                return waiting.popleft()
        return None

    def take(self, url: str, cycle: int) -> bool:
        """Take a given file; False if it does not wait."""
        for waiting in (self._suspects, self._round):
            if url in waiting:
                waiting.remove(url)
                self._checked_in[url] = cycle
                return True
        return False

    def present(self, url: str) -> None:
        """Note that a file was there, or that nothing is known of it: it waits for its next turn."""
        self._misses.pop(url, None)
        self._round.append(url)

    def missing(self, url: str) -> bool:
        """Note that a file was not found; return whether it is gone for good."""
        self._misses[url] = self._misses.get(url, 0) + 1
        if self._misses[url] >= MISSES_UNTIL_GONE:
            del self._misses[url]
            return True
        self._suspects.append(url)
        return False

    def save(self) -> dict[str, Any]:
        return {
            "round": list(self._round),
            "suspects": list(self._suspects),
            "misses": [list(pair) for pair in self._misses.items()],
            "known": sorted(self._known),
            "asked_in": [list(pair) for pair in self._checked_in.items()],
        }

    def load(self, state: dict[str, Any]) -> None:
        self._round, self._suspects = deque(state["round"]), deque(state["suspects"])
        self._misses, self._known = dict(state["misses"]), set(state["known"])
        self._checked_in = dict(state["asked_in"])
