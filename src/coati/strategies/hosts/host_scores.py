"""Which host promises most: the scoring functions of Anthelion (CIKM 2014), by name.

A host has pages that were relevant (good), pages that were not (bad), and a best page among those that wait,
with the probability that it is relevant. Scores without sampling lie in a heap; the two with sampling draw
once per group of hosts with equal counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from coati.bandits.arm_heap import ArmHeap
from coati.bandits.policy import Choice
from coati.bandits.thompson_groups import ThompsonGroups
from coati.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Score = Callable[[int, int, float], float]

SCORES: Final = {
    "negative-bad": "fewest pages that were not relevant",
    "best": "the best page that waits",
    "success-rate": "(good + 1) / (bad + 1)",
    "thompson": "a draw from Beta(good + 1, bad + 1)",
    "good*best": "good times the best page",
    "thompson*best": "a draw times the best page",
    "success-rate*best": "success rate times the best page",
    "good": "most relevant pages (published code only)",
}

_FORMULAS: dict[str, Score] = {
    "negative-bad": lambda _good, bad, _best: -float(bad),
    "best": lambda _good, _bad, best: best,
    "success-rate": lambda good, bad, _best: (good + 1) / (bad + 1),
    "good*best": lambda good, _bad, best: good * best,
    "success-rate*best": lambda good, bad, best: (good + 1) / (bad + 1) * best,
    "good": lambda good, _bad, _best: float(good),
}


class HostScores(Protocol):
    """The hosts that may be chosen."""

    def put(self, host: int, good: int, bad: int, best: float) -> None:
        """Add a host, or change what is known of it."""

    def remove(self, host: int) -> None:
        """Remove a host."""

    def choose(self, turn: int) -> Choice:
        """Return the host with the best score; ``turn`` counts the choices made. There must be a host."""

    def save(self) -> Mapping[str, Any]:
        """Return what the hosts alone do not say."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Load it, before the hosts are added again."""


class HeapScores:
    """Scores by a formula; ties go to the host with the better page, then to any."""

    def __init__(self, score: Score, seed: int) -> None:
        self._score = score
        self._heap = ArmHeap(seed)

    def put(self, host: int, good: int, bad: int, best: float) -> None:
        self._heap.put(host, self._score(good, bad, best), best)

    def remove(self, host: int) -> None:
        self._heap.remove(host)

    def choose(self, turn: int) -> Choice:
        """Return the host with the best score."""
        host = self._heap.best()
        return Choice(host, self._heap.score(host))

    def save(self) -> Mapping[str, Any]:
        """Return nothing: the order of a heap changes no choice."""
        return {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over nothing."""


class SampledScores:
    """Scores that are drawn; ``weighted`` says whether a draw is multiplied by the best page."""

    def __init__(self, seed: int, *, weighted: bool) -> None:
        self._seed = seed
        self._weighted = weighted
        self._groups = ThompsonGroups(weighted=weighted)

    def put(self, host: int, good: int, bad: int, best: float) -> None:
        self._groups.put(host, good, bad, best)

    def remove(self, host: int) -> None:
        self._groups.remove(host)

    def choose(self, turn: int) -> Choice:
        """Draw for all hosts."""
        chance = np.random.Generator(np.random.Philox(key=[self._seed, turn]))
        return self._groups.choose(chance)

    def save(self) -> Mapping[str, Any]:
        """Return the groups."""
        return self._groups.save()

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over the groups."""
        self._groups = ThompsonGroups(weighted=self._weighted)
        self._groups.load(state)


def make_scores(name: str, seed: int) -> HostScores:
    """Make the ranking of hosts with this scoring function."""
    if name not in SCORES:
        raise unknown_name("score of hosts", name, SCORES)
    if name in _FORMULAS:
        return HeapScores(_FORMULAS[name], seed)
    return SampledScores(seed, weighted=name.endswith("*best"))
