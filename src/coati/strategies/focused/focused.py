"""FOCUSED: the classic focused crawler, as the EDBT 2026 paper compares with it.

A logistic regression on the depth of a link, the pairs of characters of its URL and those of its anchor tells
targets from everything else. The first requests go breadth-first. Then the model is trained once and all that
waits is scored; from there on it learns whenever ten fetches were labelled, and a link is scored once, when
it is added. What failed is not an example.

The paper leaves open what a redirect passes on: here the location has the depth and the anchor of the link
that led there. Scores are log-odds, since probabilities of this regression are 0 or 1 most of the time.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coati.learners.bags import bag_of
from coati.learners.linear_sgd import LinearSgd
from coati.learners.url_bigrams import DIMENSIONS
from coati.model import Failure, Refused, Target
from coati.strategies.best_first import NO_PAGE, BestFirstStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.learners.bags import Bag
    from coati.model import Link, Outcome
    from coati.strategies.state import State

# The depth is a number among counts: its position is in the bag as often as the link is deep, up to a
# maximum.
_DEPTH_AT = 2 * DIMENSIONS
_DEEPEST = 1000
# After few trainings many links have the same score except for the order of summation; those are equals.
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class FocusedSettings:
    """The paper's parameters, with its defaults: requests before the first training, labels per training."""

    warm_up: int = 100
    batch: int = 10


class FocusedValues:
    """The log-odds that a link is a target."""

    def __init__(self, settings: FocusedSettings) -> None:
        self._settings = settings
        self._model = LinearSgd(_DEPTH_AT + 1)
        self._depths = array("H")
        # Of links that were not fetched yet.
        self._anchors: dict[int, str] = {}
        self._bags: list[Bag] = []
        self._labels: list[bool] = []
        self._answered = 0
        self._trained = False

    def add(self, number: int, link: Link, source: int) -> float:
        """Score a new link; 0 before the first training."""
        return self._enter(
            number, link.url, link.anchor, 0 if source == NO_PAGE else self._depths[source] + 1
        )

    def redirect(self, number: int, url: str, source: int) -> float:
        """Score the location of a redirect."""
        return self._enter(number, url, self._anchors[source], self._depths[source])

    def observe(self, number: int, url: str, outcome: Outcome) -> float | None:
        """Keep an example, and train when the warm-up ends or a batch is full."""
        anchor = self._anchors.pop(number)
        if isinstance(outcome, Refused):
            return None
        self._answered += 1
        if not isinstance(outcome, Failure):
            self._bags.append(self._bag(url, anchor, self._depths[number]))
            self._labels.append(isinstance(outcome, Target))
        if self._trained and len(self._bags) >= self._settings.batch:
            self._train()
        return None

    def needs_revaluing(self) -> bool:
        """Train for the first time, when the warm-up is over."""
        if self._trained or self._answered < self._settings.warm_up:
            return False
        self._train()
        self._trained = True
        return True

    def value(self, number: int, url: str) -> float:
        """Score a link that waits."""
        bag = self._bag(url, self._anchors[number], self._depths[number])
        return round(self._model.score(bag), _DECIMALS)

    def arm(self, number: int) -> int | None:
        """Return None: each link is scored by itself."""
        return None

    def label(self, arm: int) -> str:
        """Name the only arm there is."""
        return f"all links ({arm})"

    def _enter(self, number: int, url: str, anchor: str, depth: int) -> float:
        self._depths.append(min(depth, _DEEPEST))
        self._anchors[number] = anchor
        return self.value(number, url) if self._trained else 0.0

    def _train(self) -> None:
        self._model.learn(self._bags, self._labels)
        self._bags, self._labels = [], []

    @staticmethod
    def _bag(url: str, anchor: str, depth: int) -> Bag:
        return np.concatenate([bag_of((url, anchor)), np.full(depth, _DEPTH_AT, np.intp)])

    def save(self) -> State:
        """Return the model, the examples that wait, and what is known of links."""
        return {
            **self._model.save(),
            "example_sizes": [len(bag) for bag in self._bags],
            "examples": np.concatenate([*self._bags, np.zeros(0, np.intp)]).astype(np.int32),
            "example_labels": list(self._labels),
            "depths": np.array(self._depths, np.uint16),
            "anchors": list(self._anchors.items()),
            "focused_counters": [self._answered, self._trained],
        }

    def load(self, state: State) -> None:
        self._model.load(state)
        ends = np.cumsum(state["example_sizes"], dtype=np.intp)
        self._bags = np.split(state["examples"].astype(np.intp), ends)[:-1]
        self._labels = list(state["example_labels"])
        self._depths = array("H", state["depths"].tobytes())
        self._anchors = dict(state["anchors"])
        self._answered, self._trained = state["focused_counters"]


def focused(start_urls: Sequence[str], settings: FocusedSettings | None = None) -> BestFirstStrategy:
    """Crawl the link that looks most like a target first (FOCUSED)."""
    return BestFirstStrategy(start_urls, FocusedValues(settings or FocusedSettings()))
