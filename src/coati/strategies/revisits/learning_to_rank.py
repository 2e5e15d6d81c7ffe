"""LTR: weights that put the pages with most new links first, found by coordinate ascent.

A cycle is a query, the visited pages are its documents, and the label is log(1 + new links). What is made
large is the mean of NDCG over the cycles of the window; since a cycle has k visits, NDCG@k is NDCG. The hour
and the day are the same for all pages of a cycle: they cannot change an order, and have no weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.features import OWN
from coati.strategies.revisits.predicting import Example

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

# As in RankLib: the first step, by what it grows, how often, and the gain that is worth another round.
_STEP, _GROWTH, _STEPS, _TOLERANCE, _ROUNDS = 0.05, 2.0, 25, 0.001, 25
STEPS = np.array([0.0, *(sign * _STEP * _GROWTH**power for power in range(_STEPS) for sign in (1, -1))])


class Queries:
    """Visited pages by cycle, in arrays; a cycle without new links orders nothing and is left out."""

    def __init__(self, examples: list[Example]) -> None:
        by_moment: dict[float, list[Example]] = {}
        for example in examples:
            by_moment.setdefault(example.moment, []).append(example)
        found = [group for group in by_moment.values() if any(example.new for example in group)]
        size = max(map(len, found), default=0)
        self.features = np.zeros((len(found), size, OWN))
        self.gains = np.zeros((len(found), size))
        self.there = np.zeros((len(found), size), bool)
        for number, group in enumerate(found):
            self.features[number, : len(group)] = [example.own for example in group]
            labels = np.log1p([example.new for example in group])
            self.gains[number, : len(group)] = 2.0**labels - 1
            self.there[number, : len(group)] = True
        self._discounts = 1 / np.log2(np.arange(size) + 2.0)
        self._ideal = -np.sort(-self.gains, axis=1) @ self._discounts

    def __len__(self) -> int:
        """Count the cycles."""
        return len(self.gains)

    def ndcg(self, scores: Floats) -> float:
        """Return the mean NDCG of an order by falling scores; of equals the earlier visit is first."""
        order = np.argsort(np.where(self.there, -scores, np.inf), axis=1, kind="stable")
        gained = np.take_along_axis(self.gains, order, axis=1) @ self._discounts
        return float((gained / self._ideal).mean())


def ascend(queries: Queries, weights: Floats) -> Floats:
    """Change one weight after the other as long as that makes NDCG larger."""
    best = queries.ndcg(queries.features @ weights)
    for _ in range(_ROUNDS):
        before = best
        for place in range(len(weights)):
            weights, best = _ascend_along(queries, weights, place, best)
        if best - before < _TOLERANCE:
            break
    return weights


def _ascend_along(queries: Queries, weights: Floats, place: int, best: float) -> tuple[Floats, float]:
    scores, column = queries.features @ weights, queries.features[:, :, place]
    # A weight of nothing is tried, too.
    steps = [-weights[place], *STEPS[1:]]
    values = [queries.ndcg(scores + step * column) for step in steps]
    first = int(np.argmax(values))
    if values[first] <= best:
        return weights, best
    changed = weights.copy()
    changed[place] += steps[first]
    return changed / np.abs(changed).sum(), values[first]


class CoordinateAscent:
    """Linear weights for an order (`coati.strategies.revisits.predicting.Predictor`)."""

    def __init__(self) -> None:
        self._examples: list[Example] = []
        self._weights = np.full(OWN, 1 / OWN)

    def add(self, example: Example) -> None:
        """Take one more example."""
        self._examples.append(example)

    def train(self, since: float, now: float) -> None:
        """Ascend from the weights that there are."""
        self._examples = [example for example in self._examples if example.moment >= since]
        queries = Queries(self._examples)
        if len(queries):
            self._weights = ascend(queries, self._weights)

    def predict(self, own: Floats, now: float) -> Floats:
        """Return a score for each page."""
        scores: Floats = own @ self._weights
        return scores

    def save(self) -> State:
        """Return everything."""
        return {**save_examples(self._examples), "weights": self._weights}

    def load(self, state: State) -> None:
        """Take over a saved state."""
        self._examples, self._weights = load_examples(state), np.array(state["weights"])


def save_examples(examples: list[Example]) -> dict[str, npt.NDArray[np.float64]]:
    """Return examples as one array."""
    rows = [[example.moment, float(example.new), *example.own] for example in examples]
    return {"examples": np.array(rows).reshape(-1, 2 + OWN)}


def load_examples(state: State) -> list[Example]:
    """Take over saved examples."""
    return [Example(float(row[0]), row[2:].copy(), int(row[1])) for row in state["examples"]]
