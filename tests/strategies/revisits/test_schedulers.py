"""Every published scheduler visits what a slow literal version of its text visits."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from coati.strategies.revisits.boosted_ranking import BoostedRanking
from coati.strategies.revisits.exploring import RATIOS, BanditShare
from coati.strategies.revisits.learning_to_rank import CoordinateAscent, Queries, ascend
from coati.strategies.revisits.predicting import VisitExample
from coati.strategies.revisits.scheduler import Scheduler
from coati.strategies.revisits.schedulers import SCHEDULERS, SchedulerInputs
from coati.strategies.state import pack, unpack
from tests.strategies.revisits import literal
from tests.strategies.revisits.histories import BEGIN, HOUR, Made

METHODS = {
    "rr": literal.rr,
    "od-win": literal.od_win,
    "cov": literal.cov,
    "cliq-win": literal.cliq_win,
    "reg": literal.reg,
    "reg-rr": literal.reg_rr,
    "bandit": literal.bandit,
    "ltr": literal.ltr,
    "greedy": literal.greedy,
}


def scheduler(name: str, made: Made) -> Scheduler:
    return SCHEDULERS[name].build(SchedulerInputs(0, made))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", METHODS)
def test_it_does_what_its_text_says(name: str, seed: int) -> None:
    made = Made(seed, cycles=26 if name == "ltr" else 40)
    expected = literal.run(made, METHODS[name], 3)
    assert made.watched(scheduler(name, made), 3) == expected


def test_it_forgets_what_leaves_the_window() -> None:
    made = Made(5, sites=2, pages=3, cycles=190)
    expected = literal.run(made, literal.od_win, 2)
    assert made.watched(scheduler("od-win", made), 2) == expected


def test_a_bandit_takes_the_first_of_equal_shares() -> None:
    shares = BanditShare()
    taken = []
    for _ in range(12):
        taken.append(shares.choose())
        shares.reward(7)
    assert taken == [*RATIOS, *RATIOS, 0.6, 0.7]


def ranked(weights: list[float], cycles: int) -> list[VisitExample]:
    """Return visits whose new links are a linear function of what was known of the pages."""
    rng, examples = Random(1), []
    for cycle in range(cycles):
        for _ in range(5):
            mean, age = rng.random() * 9, float(rng.randrange(1, 30))
            own = np.array([mean, rng.random(), age, mean * age])
            examples.append(VisitExample(BEGIN + HOUR * cycle, own, max(round(float(own @ weights)), 0)))
    return examples


@pytest.mark.parametrize("weights", [[3.0, 0, 0, 0], [0, 0, 0, 0.2], [0, 0, 1.0, 0], [5.0, 0, -1.0, 0]])
def test_coordinate_ascent_finds_the_order_that_there_is(weights: list[float]) -> None:
    queries = Queries(ranked(weights, 60))
    found = ascend(queries, np.random.default_rng(0))
    equal = queries.ndcg(queries.features.sum(axis=2))
    assert queries.ndcg(queries.features @ found) > max(equal, 0.99)


def test_a_linear_ranking_forgets_what_has_left_the_window() -> None:
    ranking = CoordinateAscent(0)
    # Those that waited least bring most; later all wait for an hour.
    for example in ranked([5.0, 0, -1.0, 0], 60):
        ranking.add(example)
    ranking.train(BEGIN, BEGIN + 60 * HOUR)
    young, old = np.array([[4.0, 0.5, 1.0, 4.0]]), np.array([[4.0, 0.5, 20.0, 80.0]])
    assert ranking.predict(young, 0) > ranking.predict(old, 0)
    for cycle in range(60, 120):
        for mean in (1.0, 2.0, 3.0):
            ranking.add(VisitExample(BEGIN + HOUR * cycle, np.array([mean, 0.0, 1.0, mean]), int(mean)))
    ranking.train(BEGIN + 60 * HOUR, BEGIN + 120 * HOUR)
    assert ranking.predict(young, 0) < ranking.predict(old, 0)


def test_boosted_trees_rank_what_brought_more_first() -> None:
    ranking = BoostedRanking()
    rng = Random(1)
    for cycle in range(40):
        for _ in range(5):
            mean = rng.random()
            own = np.array([mean, 0.0, 1.0, mean])
            ranking.add(VisitExample(BEGIN + HOUR * cycle, own, round(9 * mean)))
    ranking.train(BEGIN, BEGIN + 40 * HOUR)
    own = np.array([[0.9, 0.0, 1.0, 0.9], [0.1, 0.0, 1.0, 0.1]])
    before = ranking.predict(own, BEGIN)
    assert before[0] > before[1]
    loaded = BoostedRanking()
    loaded.load(unpack(pack(ranking.save())))
    assert loaded.predict(own, BEGIN) == pytest.approx(before)


@pytest.mark.parametrize("name", [name for name in SCHEDULERS if name != "ltr-gbdt"])
def test_a_site_gets_no_more_than_its_share(name: str) -> None:
    made = Made(1)
    for pages in made.watched(scheduler(name, made), 3, per_site=1):
        assert len({made.site_of[page] for page in pages}) == 3
