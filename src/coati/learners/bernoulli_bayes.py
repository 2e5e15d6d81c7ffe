"""Naive Bayes on features that are there or not, one example after the other."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from coati.learners.bernoulli_counts import BernoulliCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet


class BernoulliBayes:
    """Two classes.

    >>> model = BernoulliBayes()
    >>> model.learn([{1, 2}, {2, 3}], [True, False])
    >>> model.score({1}) > 0 > model.score({3})
    True
    """

    def __init__(self) -> None:
        self._counts = BernoulliCounts()

    def score(self, features: AbstractSet[int]) -> float:
        """Return the log-odds of the true class; 0 before anything was learnt."""
        negative, positive = self._counts.examples
        # Smoothed like everything else: a class without examples is unlikely, not impossible.
        return log((positive + 1) / (negative + 1)) + self._counts.log_ratio(features)

    def learn(self, examples: Sequence[AbstractSet[int]], labels: Sequence[bool]) -> None:
        """Count a batch of examples."""
        for features, label in zip(examples, labels, strict=True):
            self._counts.learn(features, int(label))

    def save(self) -> dict[str, Any]:
        """Return the counts."""
        return {"bayes": self._counts.save()}

    def load(self, state: Mapping[str, Any]) -> None:
        self._counts = BernoulliCounts.loaded(state["bayes"])
