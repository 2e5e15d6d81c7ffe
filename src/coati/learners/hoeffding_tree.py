"""A Hoeffding tree on features that are there or not, with the defaults of MOA (Domingos and Hulten 2000).

A leaf counts its examples, and looks after every ``grace`` of them whether a feature divides it well enough:
if its information gain is ahead of the second best, and of not dividing, by more than the Hoeffding bound,
the leaf becomes a branch. A leaf answers by its majority or by naive Bayes, whichever was right more often
there ("NB-adaptive"). Only features that were seen in a leaf are kept there, so ten thousand cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log2, sqrt
from typing import TYPE_CHECKING, Any

from coati.learners.bernoulli_counts import CLASSES, BernoulliCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

# A part that has less than this share of a leaf's examples makes no division (MOA: minBranchFracInfoGain).
_LEAST_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class HoeffdingSettings:
    """The parameters of MOA and river, with their defaults."""

    grace: int = 200
    delta: float = 1e-7
    tie: float = 0.05


@dataclass(slots=True)
class _Leaf:
    """``inherited`` are the examples of each class that came here when this was part of another leaf.

    ``right`` counts how often the majority and naive Bayes were right, ``looked_at`` how many examples there
    were when the leaf was last thought of as a branch.
    """

    inherited: list[int]
    counts: BernoulliCounts
    right: list[int]
    looked_at: int

    def examples(self) -> list[int]:
        return [before + here for before, here in zip(self.inherited, self.counts.examples, strict=True)]

    def majority(self) -> float:
        negative, positive = self.examples()
        return log((positive + 1) / (negative + 1))

    def bayes(self, features: AbstractSet[int]) -> float:
        return self.majority() + self.counts.log_ratio(features)

    def log_odds(self, features: AbstractSet[int]) -> float:
        by_majority, by_bayes = self.right
        return self.bayes(features) if by_bayes >= by_majority else self.majority()


@dataclass(slots=True)
class _Branch:
    """Where examples with the feature go, and where the others."""

    feature: int
    without: _Leaf | _Branch
    with_it: _Leaf | _Branch


class HoeffdingTree:
    """Grows with its examples; none is kept.

    >>> tree = HoeffdingTree(HoeffdingSettings(grace=20))
    >>> for _ in range(300):
    ...     tree.learn([{1, 2}, {2}], [True, False])
    >>> tree.score({1}) > 0 > tree.score({2}), tree.leaves
    (True, 2)
    """

    def __init__(self, settings: HoeffdingSettings | None = None) -> None:
        self._settings = settings or HoeffdingSettings()
        self._root: _Leaf | _Branch = _begun([0, 0])
        self.leaves = 1

    def score(self, features: AbstractSet[int]) -> float:
        """Return the log-odds of the true class."""
        return self._place(features)[1].log_odds(features)

    def learn(self, examples: Sequence[AbstractSet[int]], labels: Sequence[bool]) -> None:
        """Learn a batch, one example after the other."""
        for features, label in zip(examples, labels, strict=True):
            self._learn_one(features, int(label))

    def _learn_one(self, features: AbstractSet[int], label: int) -> None:
        parent, leaf = self._place(features)
        _judge(leaf, features, label)
        leaf.counts.learn(features, label)
        examples = leaf.examples()
        seen = sum(examples)
        if seen - leaf.looked_at < self._settings.grace:
            return
        leaf.looked_at = seen
        feature = self._division(leaf) if all(examples) else None
        if feature is not None:
            self._divide(leaf, parent, feature)

    def _place(self, features: AbstractSet[int]) -> tuple[_Branch | None, _Leaf]:
        parent, node = None, self._root
        while isinstance(node, _Branch):
            parent, node = node, node.with_it if node.feature in features else node.without
        return parent, node

    def _division(self, leaf: _Leaf) -> int | None:
        """Return the feature to divide a leaf by, if one is good enough already."""
        best, second, feature = 0.0, 0.0, None
        examples = leaf.examples()
        for candidate in sorted(leaf.counts.features):
            gain = _information_gain(examples, leaf.counts, candidate)
            if gain > best:
                best, second, feature = gain, best, candidate
            elif gain > second:
                second = gain
        bound = sqrt(log(1 / self._settings.delta) / (2 * sum(examples)))
        return feature if best - second > bound or bound < self._settings.tie else None

    def _divide(self, leaf: _Leaf, parent: _Branch | None, feature: int) -> None:
        seen = leaf.counts.seen(feature)
        rest = [total - part for total, part in zip(leaf.counts.examples, seen, strict=True)]
        branch = _Branch(feature, _begun(rest), _begun(seen))
        self.leaves += 1
        if parent is None:
            self._root = branch
        elif parent.with_it is leaf:
            parent.with_it = branch
        else:
            parent.without = branch

    def save(self) -> dict[str, Any]:
        """Return the nodes, each before its two parts."""
        nodes: list[Any] = []
        waiting: list[_Leaf | _Branch] = [self._root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, _Branch):
                nodes.append(node.feature)
                waiting += [node.with_it, node.without]
            else:
                nodes.append([node.inherited, node.counts.save(), node.right, node.looked_at])
        return {"tree": nodes}

    def load(self, state: Mapping[str, Any]) -> None:
        # From the last node back, since a branch comes before its parts.
        built: list[_Leaf | _Branch] = []
        for saved in reversed(state["tree"]):
            if isinstance(saved, int):
                built.append(_Branch(saved, built.pop(), built.pop()))
            else:
                inherited, counts, right, looked_at = saved
                leaf = _Leaf(list(inherited), BernoulliCounts.loaded(counts), list(right), looked_at)
                built.append(leaf)
        self._root = built.pop()
        self.leaves = sum(not isinstance(saved, int) for saved in state["tree"])


def _information_gain(examples: Sequence[int], counts: BernoulliCounts, feature: int) -> float:
    """Return how many bits about the class a feature gives; less than nothing where a part is too small."""
    seen = counts.seen(feature)
    rest = [total - part for total, part in zip(counts.examples, seen, strict=True)]
    total, there = sum(counts.examples), sum(seen)
    if min(there, total - there) <= _LEAST_SHARE * total:
        return -1.0
    after = (there * _entropy(seen) + (total - there) * _entropy(rest)) / total
    return _entropy(examples) - after


def _entropy(parts: Sequence[int]) -> float:
    total = sum(parts)
    return -sum(part / total * log2(part / total) for part in parts if part)


def _begun(inherited: Sequence[int]) -> _Leaf:
    return _Leaf(list(inherited), BernoulliCounts(), [0, 0], sum(inherited))


def _judge(leaf: _Leaf, features: AbstractSet[int], label: int) -> None:
    """Count whether the majority and naive Bayes would have been right about an example."""
    for place, odds in enumerate((leaf.majority(), leaf.bayes(features))):
        leaf.right[place] += (odds > 0) == CLASSES[label]
