"""How promising a page is before it is fetched: what chooses the page inside a host.

A promise is the log-odds that a page is relevant, rounded: scores that differ in nothing but the order of
summation are equal.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any, Final, Protocol

from coati.errors import unknown_name
from coati.learners.bernoulli_bayes import BernoulliBayes
from coati.learners.hoeffding_tree import HoeffdingTree
from coati.strategies.chance import draw
from coati.strategies.hosts.page_features import FeatureSettings, FoundPage, features_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coati.strategies.hosts.known_labels import KnownLabels, LabelledPage

LEARNERS: Final = {"nb": "naive Bayes", "ht": "a Hoeffding tree"}

# Promises are whole multiples of 1/RESOLUTION between -LIMIT and LIMIT: certain enough either way.
RESOLUTION = 1 << 16
LIMIT = 700.0


def rounded(log_odds: float) -> float:
    """Return log-odds as promises have them."""
    return round(max(-LIMIT, min(LIMIT, log_odds)) * RESOLUTION) / RESOLUTION


def probability(promise: float) -> float:
    """Return the probability that belongs to log-odds."""
    return 1 / (1 + exp(-promise)) if promise >= 0 else 1 - 1 / (1 + exp(promise))


class PageModel(Protocol):
    """Promises of pages, and what is learnt from those that were fetched."""

    def promise(self, page: FoundPage) -> float:
        """Return the log-odds that a page is relevant."""

    def learn(self, page: FoundPage, *, relevant: bool) -> None:
        """Learn what a page was."""

    def save(self) -> Mapping[str, Any]:
        """Return what `load` needs."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over a saved state."""


class Learner(Protocol):
    """An online classifier on sets of features."""

    def score(self, features: frozenset[int]) -> float: ...
    def learn(self, examples: Sequence[frozenset[int]], labels: Sequence[bool]) -> None: ...
    def save(self) -> dict[str, Any]: ...
    def load(self, state: Mapping[str, Any]) -> None: ...


def make_learner(name: str) -> Learner:
    """Make a learner by its name."""
    makers: dict[str, Callable[[], Learner]] = {"nb": BernoulliBayes, "ht": HoeffdingTree}
    if name not in makers:
        raise unknown_name("learner", name, LEARNERS)
    return makers[name]()


class OnlineModel:
    """Learns from every page that was fetched, some at a time."""

    def __init__(self, learner: str, features: FeatureSettings, batch: int) -> None:
        self._learner = make_learner(learner)
        self._features = features
        self._batch = batch
        self._examples: list[frozenset[int]] = []
        self._labels: list[bool] = []

    def promise(self, page: FoundPage) -> float:
        """Return the score of the learner as it is now."""
        return rounded(self._learner.score(features_of(page, self._features)))

    def learn(self, page: FoundPage, *, relevant: bool) -> None:
        """Keep an example; the learner gets them when a batch is full."""
        self._examples.append(features_of(page, self._features))
        self._labels.append(relevant)
        if len(self._examples) >= self._batch:
            self._learner.learn(self._examples, self._labels)
            self._examples, self._labels = [], []

    def save(self) -> Mapping[str, Any]:
        """Return the learner, and the examples that wait."""
        waiting = [sorted(example) for example in self._examples]
        return {**self._learner.save(), "examples": waiting, "example_labels": list(self._labels)}

    def load(self, state: Mapping[str, Any]) -> None:
        self._learner.load(state)
        self._examples = [frozenset(example) for example in state["examples"]]
        self._labels = list(state["example_labels"])


class _FixedModel:
    """A model that learns nothing, and is built the same again."""

    def learn(self, page: FoundPage, *, relevant: bool) -> None:
        """Learn nothing."""

    def save(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over nothing."""


class StaticModel(_FixedModel):
    """Was trained beforehand on pages drawn at random, and does not learn further."""

    def __init__(self, learner: str, features: FeatureSettings, examples: Iterable[LabelledPage]) -> None:
        self._learner = make_learner(learner)
        self._features = features
        for page, relevant in examples:
            self._learner.learn([features_of(page, features)], [relevant])

    def promise(self, page: FoundPage) -> float:
        """Return the score of the learner."""
        return rounded(self._learner.score(features_of(page, self._features)))


class RandomModel(_FixedModel):
    """Promises at random: inside a host any page is as likely as another."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made = 0

    def promise(self, page: FoundPage) -> float:
        """Draw between -1 and 1."""
        self._made += 1
        return draw(self._seed, self._made, 2 * RESOLUTION) / RESOLUTION - 1

    def save(self) -> Mapping[str, Any]:
        """Return the number of draws."""
        return {"promises": self._made}

    def load(self, state: Mapping[str, Any]) -> None:
        self._made = state["promises"]


class KnowingModel(_FixedModel):
    """Knows the label of each page: the bound."""

    def __init__(self, labels: KnownLabels) -> None:
        self._labels = labels

    def promise(self, page: FoundPage) -> float:
        """Return certainty."""
        return LIMIT if self._labels.relevant(page.url) else -LIMIT
