"""The Hoeffding tree: against a slow one that keeps all examples, and beside river's."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, log2, sqrt
from random import Random
from typing import Any

import pytest
from river.tree import HoeffdingTreeClassifier

from coati.learners.hoeffding_tree import HoeffdingSettings, HoeffdingTree
from coati.strategies.state import pack, unpack

FEATURES = 10
GRACE = 50
DELTA = 0.01
SETTINGS = HoeffdingSettings(grace=GRACE, delta=DELTA)


def examples(seed: int, count: int) -> list[tuple[frozenset[int], bool]]:
    """The class is mostly feature 0, and among the rest feature 1 and 2 together."""
    chance = Random(seed)
    made = []
    for _ in range(count):
        features = frozenset(feature for feature in range(FEATURES) if chance.random() < 0.4)
        label = (0 in features) or {1, 2} <= features
        made.append((features, label if chance.random() < 0.9 else not label))
    return made


def entropy(labels: list[bool]) -> float:
    shares = [sum(labels) / len(labels), 1 - sum(labels) / len(labels)] if labels else []
    return -sum(share * log2(share) for share in shares if share)


@dataclass
class SlowLeaf:
    """Keeps its examples; ``before`` are the labels of those that came before it was a leaf of its own."""

    before: list[bool]
    examples: list[tuple[frozenset[int], bool]] = field(default_factory=list)
    looked_at: int = 0
    feature: int | None = None
    parts: tuple[SlowLeaf, SlowLeaf] | None = None

    def labels(self) -> list[bool]:
        return self.before + [label for _, label in self.examples]

    def at(self, features: frozenset[int]) -> SlowLeaf:
        if self.parts is None:
            return self
        return self.parts[self.feature in features].at(features)

    def learn(self, features: frozenset[int], *, label: bool) -> None:
        self.examples.append((features, label))
        labels = self.labels()
        if len(labels) - self.looked_at < GRACE:
            return
        self.looked_at = len(labels)
        if not 0 < sum(labels) < len(labels):
            return
        gains = sorted((self.gain(feature), -feature) for feature in range(FEATURES))
        (second, _), (best, number) = gains[-2:]
        bound = sqrt(log(1 / DELTA) / (2 * len(labels)))
        if best > 0 and (best - max(second, 0.0) > bound or bound < 0.05):
            self.feature = -number
            made = []
            for there in (False, True):
                own = [label for features, label in self.examples if (self.feature in features) is there]
                made.append(SlowLeaf(own, looked_at=len(own)))
            self.parts = (made[0], made[1])

    def gain(self, feature: int) -> float:
        parts = [
            [own for each, own in self.examples if (feature in each) is there] for there in (False, True)
        ]
        if min(map(len, parts)) <= 0.01 * len(self.examples):
            return -1.0
        after = sum(len(part) * entropy(part) for part in parts) / len(self.examples)
        return entropy(self.labels()) - after


def shape(slow: SlowLeaf) -> list[object]:
    if slow.parts is None:
        return [len(slow.labels())]
    return [slow.feature, shape(slow.parts[0]), shape(slow.parts[1])]


def tree_shape(tree: HoeffdingTree) -> list[object]:
    nodes = iter(tree.save()["tree"])

    def built() -> list[object]:
        node = next(nodes)
        if isinstance(node, int):
            return [node, built(), built()]
        return [sum(node[0]) + sum(node[1][0])]

    return built()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_divides_as_the_slow_tree_does(seed: int) -> None:
    tree, slow = HoeffdingTree(SETTINGS), SlowLeaf([])
    for features, label in examples(seed, 2500):
        tree.learn([features], [label])
        slow.at(features).learn(features, label=label)
    assert tree_shape(tree) == shape(slow)
    assert tree.leaves > 2


def test_it_divides_as_river_does_and_is_right_as_often() -> None:
    tree = HoeffdingTree(SETTINGS)
    river: Any = HoeffdingTreeClassifier(
        grace_period=GRACE, delta=DELTA, tau=0.05, nominal_attributes=list(range(FEATURES))
    )
    right = [0, 0]
    made = examples(4, 2500)
    for features, label in made:
        row = {feature: int(feature in features) for feature in range(FEATURES)}
        right[0] += (tree.score(features) > 0) == label
        right[1] += bool(river.predict_one(row)) == label
        tree.learn([features], [label])
        river.learn_one(row, label)
    assert tree.leaves == river.n_leaves
    assert abs(right[0] - right[1]) <= 0.01 * len(made)
    assert right[0] > 0.8 * len(made)


def test_a_saved_tree_continues_alike() -> None:
    tree = HoeffdingTree(SETTINGS)
    made = examples(5, 2000)
    for features, label in made[:1200]:
        tree.learn([features], [label])
    again = HoeffdingTree(SETTINGS)
    again.load(unpack(pack(tree.save())))
    for features, label in made[1200:]:
        assert again.score(features) == pytest.approx(tree.score(features), abs=1e-9)
        tree.learn([features], [label])
        again.learn([features], [label])
    assert (again.leaves, tree_shape(again)) == (tree.leaves, tree_shape(tree))
