"""Tells workers without a network from sites that are down."""

from __future__ import annotations

from typing import Final

# This many sites in a row, and none that answered, mean that it is the worker.
_ENOUGH: Final = 5
# How often a site is tried that could not be reached, at most.
_MOST_TRIES: Final = 2


class WorkerHealth:
    """Hears from which worker a site was reached.

    >>> health = WorkerHealth()
    >>> health.observe("good", "a.org", reached=True)
    False
    >>> [health.observe("bad", f"{n}.org", reached=False) for n in range(5)]
    [True, True, True, True, True]
    >>> health.without_network(), health.without_network()
    (['bad'], [])
    """

    def __init__(self) -> None:
        self._proven: set[str] = set()
        self._missed: dict[str, set[str]] = {}
        self._tries: dict[str, int] = {}
        self._reported: set[str] = set()

    def observe(self, worker: str, site: str, *, reached: bool) -> bool:
        """Hear how a slice went; tells whether the site should be tried again, by somebody else perhaps."""
        if reached:
            self._proven.add(worker)
            self._missed.pop(worker, None)
            return False
        self._tries[site] = self._tries.get(site, 0) + 1
        if worker in self._proven:
            return False
        self._missed.setdefault(worker, set()).add(site)
        return self._tries[site] < _MOST_TRIES

    def without_network(self) -> list[str]:
        """Return the workers that reach nobody while others do, each once."""
        if not self._proven:
            return []
        found = [name for name, sites in self._missed.items() if len(sites) >= _ENOUGH]
        new = [name for name in found if name not in self._reported]
        self._reported.update(new)
        return new
