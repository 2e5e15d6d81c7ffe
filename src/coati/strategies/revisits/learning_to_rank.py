"""LTR: weights that put the pages with most new links first, found by coordinate ascent.

A cycle is a query, the visited pages are its documents, and the label is log(1 + new links). What is made
large is the mean of NDCG over the cycles of the window; since a cycle has k visits, NDCG@k is NDCG. The hour
and the day are the same for all pages of a cycle: they cannot change an order, and have no weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.features import OWN
from coati.strategies.revisits.predicting import VisitExample

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

# As in RankLib: how often to begin from equal weights, the first step (or the part of a weight that is
# smaller), how often it doubles, and the gain in all without which a start is given up.
_STARTS, _STEP, _PART, _STEPS, _TOLERANCE = 5, 0.001, 0.05, 25, 0.001
# The sum of steps that double.
_TOTALS = 2.0 ** np.arange(1, _STEPS + 1) - 1


class Queries:
    """Visited pages by cycle, in arrays; a cycle without new links orders nothing and is left out."""

    def __init__(self, examples: list[VisitExample]) -> None:
        by_moment: dict[float, list[VisitExample]] = {}
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


def ascend(queries: Queries, rng: np.random.Generator) -> Floats:
    """Return the best weights of several starts, all from equal weights, in other orders of the features."""
    found = [_ascend_once(queries, rng) for _ in range(_STARTS)]
    return max(found, key=lambda each: each[1])[0]


def _ascend_once(queries: Queries, rng: np.random.Generator) -> tuple[Floats, float]:
    """Change one weight after the other until nearly all in a row gain nothing."""
    weights = np.full(OWN, 1 / OWN)
    best = begun = queries.ndcg(queries.features @ weights)
    in_vain = 0
    while in_vain < OWN - 1:
        for place in rng.permutation(OWN).tolist():
            before = best
            weights, best = _ascend_along(queries, weights, place, best)
            in_vain = 0 if best > before else in_vain + 1
        if best - begun < _TOLERANCE:
            break
    return weights, best


def _ascend_along(queries: Queries, weights: Floats, place: int, best: float) -> tuple[Floats, float]:
    """Search along one weight: upwards, if that gains nothing downwards, else without the feature."""
    scores, column = queries.features @ weights, queries.features[:, :, place]
    weight = abs(weights[place])
    first = _STEP if not weight or weight / 2 >= _STEP else _PART * weight
    for steps in (first * _TOTALS, -first * _TOTALS, [-weights[place]]):
        values = [queries.ndcg(scores + step * column) for step in steps]
        chosen = int(np.argmax(values))
        if values[chosen] > best:
            changed = weights.copy()
            changed[place] += steps[chosen]
            return changed / np.abs(changed).sum(), values[chosen]
    return weights, best


class CoordinateAscent:
    """Linear weights for an order (`coati.strategies.revisits.predicting.Predictor`)."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._examples: list[VisitExample] = []
        self._weights = np.full(OWN, 1 / OWN)

    def add(self, example: VisitExample) -> None:
        """Take one more example."""
        self._examples.append(example)

    def train(self, since: float, now: float) -> None:
        """Find weights from scratch.

        To begin from the weights that there are would be faster, and would never forget: as soon as pages
        that were just visited seem best, no other is visited that could tell otherwise.
        """
        self._examples = [example for example in self._examples if example.moment >= since]
        queries = Queries(self._examples)
        if len(queries):
            self._weights = ascend(queries, np.random.default_rng([self._seed, int(now)]))

    def predict(self, own: Floats, now: float) -> Floats:
        """Return a score for each page."""
        scores: Floats = own @ self._weights
        return scores

    def save(self) -> State:
        return {**save_examples(self._examples), "weights": self._weights}

    def load(self, state: State) -> None:
        self._examples, self._weights = load_examples(state), np.array(state["weights"])


def save_examples(examples: list[VisitExample]) -> dict[str, npt.NDArray[np.float64]]:
    """Return examples as one array."""
    rows = [[example.moment, float(example.new), *example.own] for example in examples]
    return {"examples": np.array(rows).reshape(-1, 2 + OWN)}


def load_examples(state: State) -> list[VisitExample]:
    """Take over saved examples."""
    return [VisitExample(float(row[0]), row[2:].copy(), int(row[1])) for row in state["examples"]]
