"""The URLs that a run has found, kept in memory because every link of every page is looked up.

A set of 64-bit hashes, about 75 bytes per URL. That two of a million URLs share a hash has a probability of
about 3 in 100 million; the second would then be taken for known. The hashes are Python's own, which are
seeded by process, so no site can prepare a collision, and they are made again when a run is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class SeenUrls:
    """The URLs met so far.

    >>> seen = SeenUrls(["http://example.org/"])
    >>> seen.fresh(["http://example.org/a", "http://example.org/", "http://example.org/a"])
    [0]
    """

    __slots__ = ("_hashes",)

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self._hashes = set(map(hash, urls))

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, url: str) -> bool:
        return hash(url) in self._hashes

    def add(self, urls: Iterable[str]) -> None:
        self._hashes.update(map(hash, urls))

    def fresh(self, urls: Sequence[str]) -> list[int]:
        """Return the positions of the URLs that are new, the first of each; adds nothing."""
        known = self._hashes
        places = [place for place, key in enumerate(map(hash, urls)) if key not in known]
        if len(places) <= 1:
            return places
        first: dict[str, int] = {}
        for place in places:
            first.setdefault(urls[place], place)
        return list(first.values())
