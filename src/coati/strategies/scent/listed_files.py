"""Files that an API listed before any page linked to them.

A page that links to them is as good as it would be without the API: the next page like it may hold files that
the API does not list. But by the time such a page is fetched its files are known, and a page whose links are
all known looks worthless. So each of these files counts once for the worth of the first page that links to it
(`coati.model.Page.out_links` tells which ones are there), unless it turned out not to be a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.web.urls import url_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class ListedFiles:
    """The listed files that no fetched page was seen to link to yet.

    >>> files = ListedFiles()
    >>> files.add(["http://a.test/1.csv", "http://a.test/2.csv"])
    >>> files.discard("http://a.test/2.csv")
    >>> there = [url_hash(f"http://a.test/{number}.csv") for number in (1, 2, 3)]
    >>> files.count_new(there), files.count_new(there)
    (1, 0)
    """

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def add(self, urls: Iterable[str]) -> None:
        """Take note of what an answer listed."""
        self._hashes.update(map(url_hash, urls))

    def discard(self, url: str) -> None:
        """Forget what is not a file."""
        self._hashes.discard(url_hash(url))

    def count_new(self, out_links: Iterable[int]) -> int:
        """Count the files that a page links to first."""
        found = self._hashes.intersection(out_links)
        self._hashes -= found
        return len(found)

    def save(self) -> dict[str, Any]:
        """Return what was listed and not yet counted."""
        return {"listed_files": np.array(sorted(self._hashes), np.uint64)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
        self._hashes = set(state["listed_files"].tolist())
