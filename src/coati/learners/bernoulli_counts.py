"""How often each feature was there, by class: what naive Bayes and the leaves of a Hoeffding tree count.

An example is a set of numbered features, each there or not. A feature that no example had says nothing; any
other has the probability (n + 1) / (N + 2) in a class with N examples, n of them with the feature. What is
absent speaks too, so each example is judged by all features that were ever seen. That sum is not made again
for each: features that were seen equally often contribute the same, and there are few such numbers.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CLASSES = (0, 1)


class BernoulliCounts:
    """Counts of two classes of examples.

    >>> counts = BernoulliCounts()
    >>> for features, label in (({1, 2}, 1), ({2, 3}, 0)): counts.learn(features, label)
    >>> counts.log_ratio({1}) > 0 > counts.log_ratio({3})
    True
    """

    __slots__ = ("_absent", "_alike", "_by_class", "examples")

    def __init__(self) -> None:
        self.examples = [0, 0]
        # By class: feature to count; a feature that was seen has a count in both.
        self._by_class: tuple[dict[int, int], dict[int, int]] = ({}, {})
        # By class: count to the number of features that have it.
        self._alike: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self._absent: float | None = None

    @property
    def features(self) -> Iterable[int]:
        """Every feature that was seen."""
        return self._by_class[0]

    def seen(self, feature: int) -> tuple[int, int]:
        """Return in how many examples of each class a feature was."""
        return self._by_class[0].get(feature, 0), self._by_class[1].get(feature, 0)

    def learn(self, features: Iterable[int], label: int) -> None:
        """Count one example."""
        self.examples[label] += 1
        counts, alike = self._by_class[label], self._alike[label]
        for feature in features:
            count = counts.get(feature)
            if count is None:
                self._add_feature(feature)
                count = 0
            counts[feature] = count + 1
            alike[count + 1] += 1
            if alike[count] == 1:
                del alike[count]
            else:
                alike[count] -= 1
        self._absent = None

    def log_ratio(self, features: Iterable[int]) -> float:
        """Return how much likelier an example is in class 1 than in class 0, as a logarithm."""
        ratio = self._all_absent()
        negative, positive = self.examples
        no, yes = self._by_class
        for feature in features:
            count = no.get(feature)
            if count is not None:
                other = yes[feature]
                ratio += log((other + 1) * (negative - count + 1) / ((positive - other + 1) * (count + 1)))
        return ratio

    def _add_feature(self, feature: int) -> None:
        for label in CLASSES:
            self._by_class[label][feature] = 0
            self._alike[label][0] += 1

    def _all_absent(self) -> float:
        """Return what an example without any feature gets; kept until something is learnt."""
        if self._absent is None:
            no, yes = (
                sum(many * log((total - count + 1) / (total + 2)) for count, many in alike.items())
                for total, alike in zip(self.examples, self._alike, strict=True)
            )
            self._absent = yes - no
        return self._absent

    def save(self) -> list[Any]:
        """Return the counts, as JSON can hold them."""
        no, yes = self._by_class
        return [list(self.examples), [[feature, no[feature], yes[feature]] for feature in no]]

    @classmethod
    def loaded(cls, saved: Sequence[Any]) -> BernoulliCounts:
        """Return saved counts."""
        counts = cls()
        counts.examples = list(saved[0])
        for feature, *by_class in saved[1]:
            for label in CLASSES:
                counts._by_class[label][feature] = by_class[label]
                counts._alike[label][by_class[label]] += 1
        return counts
