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
    # Cycle, page, number of new links; and what each page showed in each cycle.
    visits: list[tuple[int, int, int]] = field(default_factory=list)
    seen: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    similarity: dict[tuple[int, int], float] = field(default_factory=dict)
    model: tuple[np.ndarray, float] = (np.zeros(35), 0.0)
    trained: int = -99

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
        if count:
            past.visits.append((cycle, page, len(own - past.known)))
        found |= own
    past.known |= found
    for one in visited:
        for other in visited:
            if one < other and made.site_of[one] == made.site_of[other]:
                _compare(past, one, other)


def _compare(past: Past, one: int, other: int) -> None:
    if (past.cycle, one) in past.seen and (past.cycle, other) in past.seen:
        links, more = past.seen[past.cycle, one], past.seen[past.cycle, other]
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
    return sorted(pages, key=lambda page: (-past.mean(page, cycle), -past.age(page, cycle)))[:k]


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
