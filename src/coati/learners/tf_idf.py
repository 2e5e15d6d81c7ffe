"""Words as numbers: augmented term frequency times inverse document frequency, each row of length 1.

The weight of a word of a page is ``(0.5 + 0.5 f / max f) · (ln((1 + n) / (1 + df)) + 1)``, where ``f`` is how
often it occurs there. Words that do not occur there weigh nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.sparse_rows import SparseRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coati.learners.sparse_rows import Floats


class Vocabulary:
    """Numbers words as they are first seen, and counts in how many pages each occurs.

    >>> words = Vocabulary()
    >>> words.learn({"rain": 2, "city": 1})
    >>> words.learn({"rain": 1})
    >>> words.pages, words.pages_with("rain"), words.pages_with("snow")
    (2, 2, 0)
    """

    def __init__(self) -> None:
        self.pages = 0
        self._places: dict[str, int] = {}
        self._pages_with: list[int] = []

    def __len__(self) -> int:
        """Count the words."""
        return len(self._places)

    def learn(self, counts: Mapping[str, int]) -> None:
        """Count a page."""
        self.pages += 1
        for word in counts:
            place = self._places.setdefault(word, len(self._pages_with))
            if place == len(self._pages_with):
                self._pages_with.append(0)
            self._pages_with[place] += 1

    def take_over(self, words: Iterable[str], pages_with: Iterable[int], pages: int) -> None:
        """Begin with the counts of pages that are not at hand."""
        self._places = {word: place for place, word in enumerate(words)}
        self._pages_with = list(pages_with)
        self.pages = pages

    def pages_with(self, word: str) -> int:
        """Return in how many pages a word occurs."""
        place = self._places.get(word)
        return 0 if place is None else self._pages_with[place]

    def words(self) -> list[str]:
        """Return the words in the order of their numbers."""
        return list(self._places)

    def idf(self) -> Floats:
        """Return the inverse document frequency of each word."""
        return np.log((1 + self.pages) / (1 + np.array(self._pages_with, float))) + 1

    def row(self, counts: Mapping[str, int], idf: Floats) -> SparseRow:
        """Weigh the words of a page; those that were never seen weigh nothing."""
        known = [(self._places[word], count) for word, count in counts.items() if word in self._places]
        if not known:
            return SparseRow(np.zeros(0, np.intp), np.zeros(0))
        places = np.array([place for place, _ in known], np.intp)
        # The most frequent word of the page counts, known or not.
        values = (0.5 + 0.5 * np.array([count for _, count in known]) / max(counts.values())) * idf[places]
        return SparseRow(places, values / np.linalg.norm(values))

    def save(self) -> dict[str, Any]:
        return {
            "words": list(self._places),
            "pages_with": np.array(self._pages_with, np.int32),
            "pages": self.pages,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.take_over(state["words"], state["pages_with"].tolist(), state["pages"])
