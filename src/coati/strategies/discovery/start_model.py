"""What the classifier of pages knows before a search begins."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A word on more of the sample pages than this says nothing about any of them.
_COMMON_SHARE = 0.2
_LEAST_SAMPLES = 5


@dataclass(frozen=True, slots=True)
class StartModel:
    """Weights of words, or examples to learn them from, or both.

    ``words`` come with their weights and with how many of ``pages`` sample pages they stand on; ``bias`` is
    what a page without any of them weighs. ``examples`` are pages (words with their counts) and whether each
    leads to data. ``stop_words`` say nothing about a topic.
    """

    words: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    pages_with: tuple[int, ...] = ()
    pages: int = 0
    bias: float = 0.0
    stop_words: frozenset[str] = frozenset()
    examples: tuple[tuple[Mapping[str, int], bool], ...] = field(default=(), repr=False)


NO_MODEL = StartModel()


def common_words(pages: Sequence[Mapping[str, int]]) -> frozenset[str]:
    """Return the words on so many sample pages that they say nothing about any of them.

    >>> sorted(common_words([{"the": 3, "rain": 1}] + [{"the": 1}] * 9))
    ['the']
    """
    if len(pages) < _LEAST_SAMPLES:
        return frozenset()
    pages_with = Counter(word for page in pages for word in page)
    return frozenset(word for word, count in pages_with.items() if count > _COMMON_SHARE * len(pages))


def model_of_examples(examples: Sequence[tuple[Mapping[str, int], bool]]) -> StartModel:
    """Make a start model of labelled pages, to be learnt from together with what a search verifies."""
    return StartModel(examples=tuple(examples), stop_words=common_words([page for page, _ in examples]))
