"""A logistic regression on the words of a text, each hashed to a place: a light classifier of pages.

A word counts once per text. Training goes through the examples a few times in a fixed order, with AdaGrad's
steps; examples of the rarer class weigh more, so that both classes weigh the same.
"""

from __future__ import annotations

import math
import re
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from coati.learners.sigmoid import sigmoid

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Places = npt.NDArray[np.intp]

# What is read of one text: pages may be megabytes long, and their topic comes early.
MOST_CHARACTERS = 200_000
MOST_WORDS = 2_000

_WORD = re.compile(r"[^\W_]+")
_BITS = 16
# Words whose place is kept: pages repeat theirs.
_KEPT_WORDS = 1 << 15
_PASSES = 5
_RATE = 0.3


def words_of(text: str, most: int = MOST_WORDS) -> list[str]:
    """Return the first words of a text in lower case.

    >>> words_of("Annual_report-2020.PDF")
    ['annual', 'report', '2020', 'pdf']
    """
    return _WORD.findall(text[:MOST_CHARACTERS].lower())[:most]


class WordLogistic:
    """The probability that a text is like the positive examples; trained once.

    >>> model = WordLogistic(["download the data", "data files"], ["about us", "our team"], seed=0)
    >>> model.probability("more data") > 0.5 > model.probability("the team")
    True
    """

    def __init__(self, positive: Sequence[str], negative: Sequence[str], seed: int = 0) -> None:
        self._weights = np.zeros(1 << _BITS)
        self._bias = 0.0
        examples = [(_places(text), 1.0) for text in positive] + [(_places(text), 0.0) for text in negative]
        sides = {1.0: len(positive), 0.0: len(negative)}
        squares, bias_square = np.full(1 << _BITS, 0.1), 0.1
        rng = np.random.default_rng([seed])
        for _ in range(_PASSES):
            for at in rng.permutation(len(examples)):
                places, label = examples[at]
                slope = (self._probability(places) - label) * len(examples) / (2 * sides[label])
                squares[places] += slope * slope
                self._weights[places] -= _RATE * slope / np.sqrt(squares[places])
                bias_square += slope * slope
                self._bias -= _RATE * slope / math.sqrt(bias_square)

    def probability(self, text: str) -> float:
        """Return the probability of one text."""
        return self._probability(_places(text))

    def _probability(self, places: Places) -> float:
        return sigmoid(float(self._weights[places].sum()) + self._bias)


def _places(text: str) -> Places:
    return np.array(sorted(set(map(_place, words_of(text)))), np.intp)


@lru_cache(_KEPT_WORDS)
def _place(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "replace")) >> (32 - _BITS)
