"""Pages that an action found and that were looked at: their words, how they were judged, their links."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coati.strategies.state import State


@dataclass(slots=True)
class AnalysedPage:
    """One page; ``external`` are some of its links to other sites, one per site.

    ``margin`` is the classifier's when the page was found, ``relevant`` what followed from it. The words are
    kept compressed: there are many pages, and few of them are read again.
    """

    url: str
    site: str
    arm: int
    title: str
    margin: float
    relevant: bool
    external: list[str]
    packed_words: bytes = b""

    @property
    def words(self) -> dict[str, int]:
        """Its words and their counts."""
        found: dict[str, int] = json.loads(zlib.decompress(self.packed_words)) if self.packed_words else {}
        return found

    def keep_words(self, words: dict[str, int]) -> None:
        """Keep words and their counts."""
        self.packed_words = zlib.compress(json.dumps(words, ensure_ascii=False).encode(), level=1)


class AnalysedPages:
    """The analysed pages in order; a page's number is its place."""

    def __init__(self) -> None:
        self._pages: list[AnalysedPage] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        """Count the pages."""
        return len(self._pages)

    def __getitem__(self, number: int) -> AnalysedPage:
        return self._pages[number]

    def __iter__(self) -> Iterator[AnalysedPage]:
        return iter(self._pages)

    def add(self, page: AnalysedPage) -> int:
        """Add a page and return its number."""
        self._numbers[page.url] = len(self._pages)
        self._pages.append(page)
        return len(self._pages) - 1

    def number_of(self, url: str) -> int | None:
        """Find a page by its URL."""
        return self._numbers.get(url)

    def save(self) -> dict[str, Any]:
        """Return the pages."""
        return {
            "analysed": [
                [page.url, page.site, page.arm, page.title, page.margin, page.relevant, page.external]
                for page in self._pages
            ],
            "analysed_words": b"".join(page.packed_words for page in self._pages),
            "analysed_sizes": np.array([len(page.packed_words) for page in self._pages], np.uint32),
        }

    def load(self, state: State) -> None:
        self._pages, self._numbers = [], {}
        at = 0
        for columns, size in zip(state["analysed"], state["analysed_sizes"].tolist(), strict=True):
            url, site, arm, title, margin, relevant, external = columns
            words = state["analysed_words"][at : at + size]
            self.add(AnalysedPage(url, site, arm, title, margin, relevant, list(external), words))
            at += size
