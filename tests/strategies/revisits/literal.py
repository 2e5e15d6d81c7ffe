"""The published schedulers as their text has them: slow, and all data in lists."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from coati.strategies.revisits.least_squares import _RIDGE
from tests.strategies.revisits.histories import BEGIN, HOUR, Made

WINDOW_HOURS, BOOTSTRAP_HOURS, RETRAIN_HOURS, SIMILAR = 168, 10, 3, 0.7


@dataclass
class Past:
    """Everything that a crawler has seen until a cycle, which is the time."""

    made: Made
    cycle: int = 0
    known: set[tuple[int, int]] = field(default_factory=set)
    # Cycle, page, number of new links; and what each page showed, and what of it was new, in each cycle.
    visits: list[tuple[int, int, int]] = field(default_factory=list)
    seen: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    new: dict[tuple[int, int], set[tuple[int, int]]] = field(default_factory=dict)
    similarity: dict[tuple[int, int], float] = field(default_factory=dict)
    model: tuple[np.ndarray, float] = (np.zeros(35), 0.0)
    trained: int = -99
    weights: list[float] = field(default_factory=lambda: [0.25] * 4)
    # The ratio that BANDIT took in each cycle, and how many new links each cycle brought.
    ratios: list[tuple[int, float]] = field(default_factory=list)
    found: dict[int, int] = field(default_factory=dict)

    def window(self, page: int, cycle: int) -> list[int]:
        """Return the numbers of new links in the visits of the window before a cycle."""
        return [
            new
            for at, other, new in self.visits
            if other == page and at < cycle and at >= cycle - WINDOW_HOURS
        ]

    def age(self, page: int, cycle: int) -> int:
        """Return the hours since the last visit before a cycle; all pages were visited at 0."""
        return cycle - max([at for at, other, _ in self.visits if other == page and at < cycle], default=0)

    def mean(self, page: int, cycle: int) -> float:
        """Return the mean of the window; 0 without a visit."""
        window = self.window(page, cycle)
        return sum(window) / len(window) if window else 0.0


Method = Callable[[Past, int], list[int]]
"""Which k pages to visit in the cycle."""


def run(made: Made, method: Method, per_cycle: int) -> list[list[int]]:
    """Return the pages that a method visits in each cycle."""
    past = Past(made)
    _look(past, range(len(made.urls)), count=False)
    chosen = []
    for cycle in range(1, len(made.shown)):
        past.cycle = cycle
        pages = method(past, per_cycle)
        _look(past, pages, count=True)
        chosen.append(pages)
    return chosen


def _look(past: Past, pages: object, *, count: bool) -> None:
    made, cycle = past.made, past.cycle
    found: set[tuple[int, int]] = set()
    visited = list(pages)  # type: ignore[call-overload]
    for page in visited:
        links = made.shown[cycle][page]
        own = {(made.site_of[page], link) for link in links or ()}
        if links is not None:
            past.seen[cycle, page] = links
            past.new[cycle, page] = own - past.known if count else set()
        if count:
            past.visits.append((cycle, page, len(own - past.known)))
        found |= own
    past.found[cycle] = len(found - past.known)
    past.known |= found
    for one in visited:
        for other in visited:
            if one < other and made.site_of[one] == made.site_of[other]:
                _compare(past, one, other)


def _compare(past: Past, one: int, other: int) -> None:
    if (past.cycle, one) in past.new and (past.cycle, other) in past.new:
        links, more = past.new[past.cycle, one], past.new[past.cycle, other]
        either = len(links | more)
        similarity = len(links & more) / either if either else 0.0
        past.similarity[one, other] = past.similarity[other, one] = similarity


def rr(past: Past, k: int) -> list[int]:
    """Take the k pages with the largest age."""
    return sorted(range(len(past.made.urls)), key=lambda page: -past.age(page, past.cycle))[:k]


def od_win(past: Past, k: int) -> list[int]:
    """Take the k pages with the highest mean; of equals the larger age."""
    cycle = past.cycle
    pages = range(len(past.made.urls))

    def key(page: int) -> tuple[bool, float, int]:
        # Pages without a visit in the window go first.
        return bool(past.window(page, cycle)), -past.mean(page, cycle), -past.age(page, cycle)

    return sorted(pages, key=key)[:k]


def features(past: Past, page: int, cycle: int) -> list[float]:
    """Return the 35 numbers."""
    made = past.made
    of_site = [
        new
        for at, other, new in past.visits
        if made.site_of[other] == made.site_of[page] and cycle - WINDOW_HOURS <= at < cycle
    ]
    of_all = [new for at, _, new in past.visits if cycle - WINDOW_HOURS <= at < cycle]
    window = past.window(page, cycle)
    mean = next((sum(part) / len(part) for part in (window, of_site, of_all) if part), 0.0)
    average = sum(window) / len(window) if window else 0.0
    deviation = math.sqrt(sum((new - average) ** 2 for new in window) / len(window)) if window else 0.0
    age = past.age(page, cycle)
    hour = [float(int((BEGIN + cycle * HOUR) // HOUR) % 24 == place) for place in range(24)]
    # The first day is a Wednesday.
    day = [float((cycle // 24 + 2) % 7 == place) for place in range(7)]
    return [mean, deviation, age, mean * age, *hour, *day]


def select(past: Past, scores: list[float], k: int) -> list[int]:
    """Take the best k times, and drop all that are similar to it; then the best of those."""
    left = sorted(range(len(scores)), key=lambda page: -scores[page])
    chosen: list[int] = []
    dropped: list[int] = []
    while left and len(chosen) < k:
        best = left.pop(0)
        chosen.append(best)
        similar = [page for page in left if past.similarity.get((best, page), 0.0) > SIMILAR]
        dropped += similar
        left = [page for page in left if page not in similar]
    dropped.sort(key=lambda page: (-scores[page], page))
    return chosen + dropped[: k - len(chosen)]


def fit(rows: list[list[float]], values: list[float]) -> tuple[np.ndarray, float]:
    """Fit by least squares with the standardised features."""
    table, wanted = np.array(rows), np.array(values)
    means, scales = table.mean(0), table.std(0)
    scales[scales < 1e-6 * np.abs(means)] = np.inf
    scales[scales == 0] = np.inf
    standard = (table - means) / scales
    # The penalty as further rows, so that the solver is another than that of the scheduler.
    size = standard.shape[1]
    penalty = np.sqrt(_RIDGE * len(table)) * np.eye(size)
    weights = np.linalg.lstsq(
        np.vstack([standard, penalty]), np.concatenate([wanted - wanted.mean(), np.zeros(size)]), rcond=None
    )[0]
    weights /= scales
    return weights, float(wanted.mean() - means @ weights)


def predictions(past: Past) -> list[float] | None:
    """Return what REG expects of each page; None within the bootstrap."""
    cycle = past.cycle
    if cycle - 1 < BOOTSTRAP_HOURS:
        return None
    if cycle - past.trained >= RETRAIN_HOURS:
        rows = [(at, page, new) for at, page, new in past.visits if at >= cycle - WINDOW_HOURS]
        inputs = [features(past, page, at) for at, page, _ in rows]
        past.model, past.trained = fit(inputs, [row[2] for row in rows]), cycle
    weights, constant = past.model
    return [
        float(np.dot(weights, features(past, page, cycle)) + constant) for page in range(len(past.made.urls))
    ]


def reg(past: Past, k: int) -> list[int]:
    """Predict, and select."""
    scores = predictions(past)
    return od_win(past, k) if scores is None else select(past, scores, k)


def reg_rr(past: Past, k: int) -> list[int]:
    """Select nine tenths of the k, and take the rest by age."""
    return _explore(past, k, 0.9)


def _explore(past: Past, k: int, ratio: float) -> list[int]:
    scores = predictions(past)
    if scores is None:
        return od_win(past, k)
    chosen = select(past, scores, round(ratio * k))
    oldest = [page for page in rr(past, len(scores)) if page not in chosen]
    return chosen + oldest[: k - len(chosen)]


def bandit(past: Past, k: int) -> list[int]:
    """Choose the ratio by UCB1 over what the cycles of each ratio brought, in parts of the most."""
    ratios = [0.6, 0.7, 0.8, 0.9, 1.0]
    if predictions(past) is None:
        return od_win(past, k)
    brought = [(ratio, past.found[cycle]) for cycle, ratio in past.ratios]
    most = max([1, *(new for _, new in brought)])

    def bound(ratio: float) -> float:
        own = [new / most for other, new in brought if other == ratio]
        if not own:
            return math.inf
        # Rounded, since ratios that brought as much as each other are equals.
        return round(sum(own) / len(own) + math.sqrt(2 * math.log(max(len(brought), 2)) / len(own)), 6)

    best = max(ratios, key=bound)
    past.ratios.append((past.cycle, best))
    return _explore(past, k, best)


def cov(past: Past, k: int) -> list[int]:
    """Cover most of all links that were ever seen on the pages."""
    ever: dict[int, set[tuple[int, int]]] = {page: set() for page in range(len(past.made.urls))}
    for (_, page), links in past.seen.items():
        ever[page] |= {(past.made.site_of[page], link) for link in links}
    return _cover(past, ever, k)


def greedy(past: Past, k: int) -> list[int]:
    """Cover most of the links that are there and not known."""
    made = past.made
    there = {
        page: {(made.site_of[page], link) for link in made.shown[past.cycle][page] or ()} - past.known
        for page in range(len(made.urls))
    }
    return _cover(past, there, k)


def _cover(past: Past, sets: dict[int, set[tuple[int, int]]], k: int) -> list[int]:
    covered: set[tuple[int, int]] = set()
    chosen: list[int] = []
    for _ in range(k):
        left = [page for page in sets if page not in chosen]
        best = max(left, key=lambda page: (len(sets[page] - covered), past.age(page, past.cycle), -page))
        chosen.append(best)
        covered |= sets[best]
    return chosen


def cliq_win(past: Past, k: int) -> list[int]:
    """Take the page with the highest mean of each group, then the next of each."""
    groups: list[list[int]] = []
    for page in range(len(past.made.urls)):
        for group in groups:
            if all(past.similarity.get((page, other), 0.0) > SIMILAR for other in group):
                group.append(page)
                break
        else:
            groups.append([page])
    order = od_win(past, len(past.made.urls))
    ranked = [sorted(group, key=order.index) for group in groups]
    turn = {page: place for group in ranked for place, page in enumerate(group)}
    return sorted(order, key=lambda page: (turn[page], order.index(page)))[:k]


def ltr(past: Past, k: int) -> list[int]:
    """Rank by weights that coordinate ascent finds for NDCG; select."""
    cycle = past.cycle
    if cycle - 1 < BOOTSTRAP_HOURS:
        return od_win(past, k)
    if cycle - past.trained >= RETRAIN_HOURS:
        queries: dict[int, list[tuple[list[float], int]]] = {}
        for at, page, new in past.visits:
            if at >= cycle - WINDOW_HOURS:
                queries.setdefault(at, []).append((features(past, page, at)[:4], new))
        rng = np.random.default_rng([0, int(past.made.moments()[cycle])])
        past.weights, past.trained = _ascend(list(queries.values()), rng), cycle
    pages = range(len(past.made.urls))
    scores = [float(np.dot(past.weights, features(past, page, cycle)[:4])) for page in pages]
    return select(past, scores, k)


Queries = list[list[tuple[list[float], int]]]


def _ascend(queries: Queries, rng: np.random.Generator) -> list[float]:
    """Start five times from equal weights; the first best end counts."""
    ends = [_climb(queries, rng) for _ in range(5)]
    return next(weights for best, weights in ends if best == max(ends)[0])


def _climb(queries: Queries, rng: np.random.Generator) -> tuple[float, list[float]]:
    weights = [0.25] * 4
    best = begun = _ndcg(queries, weights)
    in_vain = 0
    while in_vain < 3:
        for place in map(int, rng.permutation(4)):
            in_vain += 1
            for direction in (1, -1, 0):
                ends = _line(queries, weights, place, direction)
                value = max(each for each, _ in ends)
                if value > best:
                    best, in_vain = value, 0
                    changed = next(end for each, end in ends if each == value)
                    weights = [weight / sum(map(abs, changed)) for weight in changed]
                    break
        if best - begun < 0.001:
            break
    return best, weights


def _line(
    queries: Queries, weights: list[float], place: int, direction: int
) -> list[tuple[float, list[float]]]:
    """Move a weight by steps that double, or to nothing; returns what each end is worth."""
    size, ends = abs(weights[place]), []
    step = 0.001 if size == 0 or size / 2 >= 0.001 else 0.05 * size
    moved = 0.0
    for _ in range(25 if direction else 1):
        moved += step
        step *= 2
        end = list(weights)
        end[place] = weights[place] + direction * moved if direction else 0.0
        ends.append((_ndcg(queries, end), end))
    return ends


def _ndcg(queries: Queries, weights: list[float]) -> float:
    values = []
    for query in queries:
        gains = [2 ** math.log(1 + new) - 1 for _, new in query]
        if not any(gains):
            continue
        scores = [round(sum(w * x for w, x in zip(weights, row, strict=True)), 9) for row, _ in query]
        order = sorted(range(len(query)), key=lambda place: -scores[place])
        gained = sum(gains[place] / math.log2(rank + 2) for rank, place in enumerate(order))
        ideal = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(sorted(gains, reverse=True)))
        values.append(gained / ideal)
    return sum(values) / len(values) if values else 0.0
