"""The Tree-Frontier of TRES (Kontogiannis et al., 2021): a frontier that a regression tree keeps sorted.

Each link that waits has a row of features and lies in the leaf that the row leads to. Each step that was made
lies there too, with its reward. A leaf splits as soon as a split makes its rewards less various, and what
waits in it is divided likewise. So a crawler that looks at one random link of each leaf has looked at every
sort of link that makes a difference, and need not value the whole frontier.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coati.strategies.chance import draw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

# Rounding is not a variance.
_LEAST_GAIN = 1e-12
# Leaves draw from one seed; their draws at one turn must differ.
_DRAWS_PER_TURN = 1_000_003


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """The parameters of TRES, with its defaults: how deep the tree may be, how many steps may be split."""

    deepest: int = 18
    least_steps: int = 5


class Split(NamedTuple):
    """Rows of which this feature is above the threshold go right."""

    feature: int
    threshold: float
    gain: float


def best_split(rows: Rows, rewards: npt.NDArray[np.float64]) -> Split | None:
    """Find the split that makes the variance of rewards smallest; None if no split reduces it.

    >>> best_split(np.array([[0, 1], [0, 2], [1, 3]], np.float32), np.array([0.0, 1.0, 1.0]))[:2]
    (1, 1.5)
    """
    count, total = len(rewards), float(rewards.sum())
    best: Split | None = None
    ordered = np.argsort(rows, axis=0, kind="stable")
    for feature in range(rows.shape[1]):
        order = ordered[:, feature]
        values = rows[order, feature].astype(np.float64)
        places = np.flatnonzero(values[1:] > values[:-1])
        if not len(places):
            continue
        left = np.cumsum(rewards[order])[places]
        sizes = places + 1
        # The variance that is left falls as the squared sums of both sides, over their sizes, grow.
        gains = (left**2 / sizes + (total - left) ** 2 / (count - sizes) - total**2 / count) / count
        place = int(gains.argmax())
        gain = float(gains[place])
        if gain > _LEAST_GAIN and (best is None or gain > best.gain + _LEAST_GAIN):
            at = int(places[place])
            best = Split(feature, float((values[at] + values[at + 1]) / 2), gain)
    return best


class LeafPick(NamedTuple):
    """A link that waits: its leaf, its place there and its number."""

    leaf: int
    place: int
    number: int


class TreeFrontier:
    """Numbers that wait, by rows of this many features. Nodes are numbered in the order of their making.

    >>> frontier = TreeFrontier(features=1)
    >>> for number in range(4): frontier.push(number, np.array([number % 2], np.float32))
    >>> for reward in (0, 1, 0, 1, 0): frontier.learn(np.array([reward], np.float32), reward)
    >>> sorted(pick.number % 2 for pick in frontier.picks(seed=0, turn=0))
    [0, 1]
    """

    def __init__(self, features: int, settings: TreeSettings | None = None) -> None:
        self._features = features
        self._settings = settings or TreeSettings()
        # By node: how it splits (feature -1: it is a leaf), its right child (the left is the one before).
        self._splits: list[tuple[int, float]] = [(-1, 0.0)]
        self._right: list[int] = [0]
        self._above: list[int] = [-1]
        self._depth: list[int] = [0]
        self._waiting: list[array[int]] = [array("I")]
        self._steps: list[list[tuple[float, ...]]] = [[]]
        # Whether the rewards of a leaf differ: only then is there anything to split.
        self._various: list[bool] = [False]
        self._rows: dict[int, Rows] = {}
        # Leaves with something waiting, in no order that depends on anything but the calls.
        self._awake: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def leaves(self) -> int:
        """How many leaves the tree has."""
        return (len(self._splits) + 1) // 2

    def row(self, number: int) -> Rows:
        """Return the row of a number that waits."""
        return self._rows[number]

    def push(self, number: int, row: Rows) -> None:
        """Add a number to the leaf of its row."""
        self._rows[number] = row
        self._put(self._leaf(row), number)

    def picks(self, seed: int, turn: int) -> list[LeafPick]:
        """Draw one of each leaf in which anything waits, leaves in the order of their numbers."""
        found = []
        for leaf in sorted(self._awake):
            waiting = self._waiting[leaf]
            place = draw(seed, turn * _DRAWS_PER_TURN + leaf, len(waiting))
            found.append(LeafPick(leaf, place, waiting[place]))
        return found

    def find(self, number: int) -> LeafPick:
        """Find a number; raise `ValueError` if it does not wait."""
        if number not in self._rows:
            raise ValueError(f"number {number} is not waiting")
        leaf = self._leaf(self._rows[number])
        return LeafPick(leaf, self._waiting[leaf].index(number), number)

    def take(self, pick: LeafPick) -> Rows:
        """Take a number out, and return its row."""
        waiting = self._waiting[pick.leaf]
        last = waiting.pop()
        if pick.place < len(waiting):
            waiting[pick.place] = last
        if not waiting:
            del self._awake[pick.leaf]
        return self._rows.pop(pick.number)

    def learn(self, row: Rows, reward: float) -> None:
        """Add a step with its reward, and split its leaf if that helps."""
        leaf = self._leaf(row)
        steps = self._steps[leaf]
        steps.append((*map(float, row), reward))
        self._various[leaf] = self._various[leaf] or steps[0][-1] != reward
        if self._depth[leaf] >= self._settings.deepest or len(steps) < self._settings.least_steps:
            return
        if self._various[leaf]:
            table = np.array(steps)
            split = best_split(table[:, :-1].astype(np.float32), table[:, -1])
            if split is not None:
                self._split(leaf, split)

    def conditions(self, node: int) -> list[tuple[int, str, float]]:
        """Say what rows of a node have in common: features, whether above or not, and thresholds."""
        found = []
        while self._above[node] >= 0:
            above = self._above[node]
            feature, threshold = self._splits[above]
            found.append((feature, ">" if self._right[above] == node else "<=", threshold))
            node = above
        return found[::-1]

    def _leaf(self, row: Rows) -> int:
        node = 0
        while (split := self._splits[node])[0] >= 0:
            right = self._right[node]
            # In double precision, as the threshold was found: it may lie between two neighbours.
            node = right if float(row[split[0]]) > split[1] else right - 1
        return node

    def _put(self, leaf: int, number: int) -> None:
        self._waiting[leaf].append(number)
        self._awake[leaf] = None

    def _split(self, leaf: int, split: Split) -> None:
        left = self._grow(leaf)
        right = self._grow(leaf)
        self._splits[leaf] = (split.feature, split.threshold)
        self._right[leaf] = right
        for step in self._steps[leaf]:
            self._steps[right if step[split.feature] > split.threshold else left].append(step)
        self._steps[leaf] = []
        for side in (left, right):
            self._various[side] = _differ(self._steps[side])
        waiting, self._waiting[leaf] = self._waiting[leaf], array("I")
        self._awake.pop(leaf, None)
        for number in waiting:
            above = float(self._rows[number][split.feature]) > split.threshold
            self._put(right if above else left, number)

    def _grow(self, above: int) -> int:
        self._splits.append((-1, 0.0))
        self._right.append(0)
        self._above.append(above)
        self._depth.append(self._depth[above] + 1)
        self._waiting.append(array("I"))
        self._steps.append([])
        self._various.append(False)
        return len(self._splits) - 1

    def save(self) -> dict[str, Any]:
        """Return the tree, what waits in it and the steps."""
        numbers = [number for waiting in self._waiting for number in waiting]
        rows = [self._rows[number] for number in numbers]
        return {
            "tree_splits": [list(split) for split in self._splits],
            "tree_right": list(self._right),
            "tree_above": list(self._above),
            "tree_waiting_sizes": [len(waiting) for waiting in self._waiting],
            "tree_waiting": np.array(numbers, np.uint32),
            "tree_rows": np.array(rows, np.float32).reshape(len(rows), self._features),
            "tree_step_sizes": [len(steps) for steps in self._steps],
            "tree_steps": np.array([step for steps in self._steps for step in steps], np.float64),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._splits = [(feature, threshold) for feature, threshold in state["tree_splits"]]
        self._right, self._above = list(state["tree_right"]), list(state["tree_above"])
        self._depth = []
        for above in self._above:
            self._depth.append(self._depth[above] + 1 if above >= 0 else 0)
        numbers = state["tree_waiting"].tolist()
        self._rows = dict(zip(numbers, state["tree_rows"], strict=True))
        self._waiting = [array("I", part) for part in _parts(numbers, state["tree_waiting_sizes"])]
        self._awake = {leaf: None for leaf, waiting in enumerate(self._waiting) if waiting}
        steps = [tuple(step) for step in state["tree_steps"].tolist()]
        self._steps = [list(part) for part in _parts(steps, state["tree_step_sizes"])]
        self._various = [_differ(part) for part in self._steps]


def _differ(steps: Sequence[tuple[float, ...]]) -> bool:
    """Tell whether steps have different rewards."""
    return any(step[-1] != steps[0][-1] for step in steps)


def _parts(values: Sequence[Any], sizes: Sequence[int]) -> list[Sequence[Any]]:
    found, at = [], 0
    for size in sizes:
        found.append(values[at : at + size])
        at += size
    return found
