"""Every URL that a strategy knows, numbered in the order in which they were added.

A crawl may know a million URLs and more, so they are not kept as Python strings: their text lies in one
buffer, and membership is a set of 64-bit hashes (two of a million URLs share one with a probability of about
3 in 100 million; the second would then be taken for known). About 160 bytes per URL of 70 characters.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coati.strategies.state import State


class KnownUrls:
    """URLs to consecutive numbers and back.

    >>> known = KnownUrls()
    >>> known.add("http://example.org/"), known.add("http://example.org/")
    (0, None)
    >>> known[0], "http://example.org/" in known
    ('http://example.org/', True)
    """

    __slots__ = ("_ends", "_hashes", "_text")

    def __init__(self) -> None:
        self._hashes: set[int] = set()
        self._text = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        """Count the URLs."""
        return len(self._ends)

    def __contains__(self, url: str) -> bool:
        """Tell whether the URL was added before."""
        return hash(url) in self._hashes

    def new_indices(self, urls: Iterable[str]) -> list[int]:
        """Return the positions of URLs that were not added before; a URL that is there twice has two."""
        hashes = self._hashes
        return [at for at, key in enumerate(map(hash, urls)) if key not in hashes]

    def add(self, url: str) -> int | None:
        """Number a new URL; None if it is known."""
        key = hash(url)
        if key in self._hashes:
            return None
        self._text += url.encode()
        self._hashes.add(key)
        self._ends.append(len(self._text))
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        """Return the URL with this number."""
        start = self._ends[number - 1] if number else 0
        return self._text[start : self._ends[number]].decode()

    def find(self, url: str) -> int:
        """Search all text for the number of a URL; raise `ValueError` if it is not known."""
        wanted = url.encode()
        at = self._text.find(wanted)
        while at >= 0:
            # One URL may stand within another, or across two.
            number = bisect_right(self._ends, at)
            if number < len(self) and self[number] == url:
                return number
            at = self._text.find(wanted, at + 1)
        raise ValueError(f"{url} is not known")

    def save(self) -> dict[str, Any]:
        """Return the URLs as two values; hashes differ between processes and are made again."""
        return {"url_text": bytes(self._text), "url_ends": np.array(self._ends, np.uint64)}

    def load(self, state: State) -> None:
        text = state["url_text"]
        self._text = bytearray(text)
        self._ends = array("Q", state["url_ends"].astype(np.uint64).tobytes())
        if text.isascii():
            # As URLs in normal form are: then offsets in bytes are offsets in the decoded text, too.
            whole = text.decode()
            starts = chain([0], self._ends)
            self._hashes = {hash(whole[start:end]) for start, end in zip(starts, self._ends, strict=False)}
        else:
            self._hashes = {hash(self[number]) for number in range(len(self))}
