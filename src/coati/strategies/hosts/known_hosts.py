"""The hosts that a crawl knows, numbered as they were found, and what came of their pages."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


class KnownHosts:
    """Names and counts: pages that were relevant, and pages that were not or are in flight.

    A requested page counts as not relevant until it is known to be: several requests in flight do not pile up
    on one host that looks good.

    >>> hosts = KnownHosts()
    >>> hosts.number("a.example"), hosts.number("b.example"), hosts.number("a.example"), hosts.name(1)
    (0, 1, 0, 'b.example')
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self.good = array("I")
        self.bad = array("I")

    def __len__(self) -> int:
        """Count the hosts."""
        return len(self._names)

    def number(self, name: str) -> int:
        """Return the number of a host; a new one gets the next."""
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
            self.good.append(0)
            self.bad.append(0)
        return number

    def find(self, name: str) -> int | None:
        """Return the number of a host; None if it is not known."""
        return self._numbers.get(name)

    def name(self, number: int) -> str:
        """Return the name of a host."""
        return self._names[number]

    def save(self) -> Mapping[str, Any]:
        """Return names and counts."""
        return {
            "host_names": "\n".join(self._names).encode(),
            "host_good": np.array(self.good, np.uint32),
            "host_bad": np.array(self.bad, np.uint32),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        text = state["host_names"].decode()
        self._names = text.split("\n") if text else []
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self.good = array("I", state["host_good"].tobytes())
        self.bad = array("I", state["host_bad"].tobytes())
