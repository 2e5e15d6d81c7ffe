"""Several texts as one bag of pairs of characters, and the contract of the models that learn from bags.

A bag lists positions; one that is there twice counts twice. Each text has a range of positions of its
own, so that ``da`` in a URL and ``da`` in the words of a link are two features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coati.learners.url_bigrams import DIMENSIONS, bigrams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Bag = npt.NDArray[np.intp]


def bag_of(texts: Sequence[str]) -> Bag:
    """Return the bag of texts whose number is always the same; it has `DIMENSIONS` positions for each.

    >>> (bag_of(["ab", "ab"]) - bag_of(["ab"])[0]).tolist()
    [0, 9025]
    """
    if len(texts) == 1:
        return bigrams(texts[0])
    return np.concatenate([bigrams(text) + place * DIMENSIONS for place, text in enumerate(texts)])


class BagModel(Protocol):
    """Tells two classes of bags apart, online."""

    def score(self, bag: Bag) -> float:
        """Say how strongly a bag looks like the true class: above 0 it is taken for it."""

    def learn(self, bags: Sequence[Bag], labels: Sequence[bool]) -> None:
        """Learn from one batch of examples."""

    def save(self) -> dict[str, Any]:
        """Return what `load` needs."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what was saved."""
