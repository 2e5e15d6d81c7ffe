"""The hosts that may be chosen now: those with pages that wait, except those that sleep."""

from __future__ import annotations

from array import array

_ABSENT = -1


class AwakeHosts:
    """A set of numbers from which any can be drawn at once; the last takes the place of one that leaves.

    >>> awake = AwakeHosts()
    >>> for host in (4, 2, 7): awake.add(host)
    >>> awake.discard(4); len(awake), awake[0], 4 in awake
    (2, 7, False)
    """

    def __init__(self) -> None:
        self._hosts = array("I")
        self._places = array("i")

    def __len__(self) -> int:
        """Count them."""
        return len(self._hosts)

    def __getitem__(self, place: int) -> int:
        """Return the host at a place."""
        return self._hosts[place]

    def __contains__(self, host: int) -> bool:
        """Tell whether a host is awake."""
        return host < len(self._places) and self._places[host] != _ABSENT

    def add(self, host: int) -> None:
        """Add a host that is not in the set."""
        while host >= len(self._places):
            self._places.append(_ABSENT)
        self._places[host] = len(self._hosts)
        self._hosts.append(host)

    def discard(self, host: int) -> None:
        """Remove a host that is in the set."""
        place, last = self._places[host], self._hosts.pop()
        self._places[host] = _ABSENT
        if last != host:
            self._hosts[place] = last
            self._places[last] = place

    def save(self) -> list[int]:
        """Return the hosts in their order."""
        return self._hosts.tolist()
