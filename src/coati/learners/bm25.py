"""BM25: how well each page of a few answers a query, with the idf of frequent words kept above zero.

``k1 = 1.2`` and ``b = 0.75``. The idf of a word in more than half of the pages would be negative; it becomes
a quarter of the mean idf instead, as in the variant that the DSDD paper cites. Among a few pages that share
most words that mean is itself negative, and pages that answer better would score lower: its size counts then.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_K1, _B, _FLOOR = 1.2, 0.75, 0.25


def bm25(pages: Sequence[Mapping[str, int]], query: Sequence[str]) -> list[float]:
    """Score each page (its words and their counts) for a query.

    >>> bm25([{"rain": 3, "city": 1}, {"snow": 1}, {"city": 2}], ["rain"])
    [0.6961694341589608, 0.0, 0.0]
    """
    if not pages:
        return []
    idf = _idf(pages)
    lengths = [sum(page.values()) for page in pages]
    mean_length = sum(lengths) / len(lengths) or 1.0
    return [
        sum(_weight(page.get(word, 0), length / mean_length) * idf.get(word, 0.0) for word in query)
        for page, length in zip(pages, lengths, strict=True)
    ]


def _weight(count: int, length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length)) if count else 0.0


def _idf(pages: Sequence[Mapping[str, int]]) -> dict[str, float]:
    pages_with = Counter(word for page in pages for word in page)
    idf = {word: math.log(len(pages) - df + 0.5) - math.log(df + 0.5) for word, df in pages_with.items()}
    floor = _FLOOR * abs(sum(idf.values())) / len(idf) if idf else 0.0
    return {word: value if value >= 0 else floor for word, value in idf.items()}
