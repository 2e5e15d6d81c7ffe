"""Naive Bayes on sets of features: by definition, and as river has it."""

from __future__ import annotations

from math import log
from random import Random
from typing import Any

import pytest
from river.naive_bayes import BernoulliNB

from coati.learners.bernoulli_bayes import BernoulliBayes
from coati.learners.bernoulli_counts import BernoulliCounts

Example = tuple[frozenset[int], bool]


def examples(seed: int, count: int = 200, features: int = 12) -> list[Example]:
    chance = Random(seed)
    made = []
    for _ in range(count):
        label = chance.random() < 0.3
        shares = [
            (0.1 + 0.05 * (feature % 5)) * (2 if label and feature < 4 else 1) for feature in range(features)
        ]
        made.append((frozenset(f for f in range(features) if chance.random() < shares[f]), label))
    return made


def by_definition(seen: list[Example], features: frozenset[int]) -> float:
    """The log-odds of the true class, feature by feature."""
    known = frozenset().union(*(each for each, _ in seen))
    totals = {label: sum(1 for _, each in seen if each is label) for label in (False, True)}
    odds = log((totals[True] + 1) / (totals[False] + 1))
    for feature in known:
        share = {
            label: (sum(1 for each, own in seen if own is label and feature in each) + 1)
            / (totals[label] + 2)
            for label in totals
        }
        there = feature in features
        odds += log(share[True] if there else 1 - share[True])
        odds -= log(share[False] if there else 1 - share[False])
    return odds


@pytest.mark.parametrize("seed", [1, 2])
def test_log_odds_are_those_of_the_definition(seed: int) -> None:
    model = BernoulliBayes()
    seen: list[Example] = []
    for features, label in examples(seed, 60):
        if seen:
            assert model.score(features) == pytest.approx(by_definition(seen, features), abs=1e-9)
        model.learn([features], [label])
        seen.append((features, label))


def test_probabilities_are_those_of_river() -> None:
    model = BernoulliBayes()
    river: Any = BernoulliNB(alpha=1)  # type: ignore[no-untyped-call]
    totals = {False: 0, True: 0}
    for features, label in examples(3):
        if all(totals.values()):
            likelihood = river.joint_log_likelihood(dict.fromkeys(features, 1))
            # river does not smooth the shares of the classes.
            shares = log(totals[True] / totals[False]) - log((totals[True] + 1) / (totals[False] + 1))
            assert model.score(features) + shares == pytest.approx(
                likelihood[True] - likelihood[False], abs=1e-6
            )
        model.learn([features], [label])
        river.learn_one(dict.fromkeys(features, 1), label)
        totals[label] += 1


def test_nothing_learnt_is_not_an_opinion() -> None:
    assert BernoulliBayes().score(frozenset({1})) == 0.0


def test_saved_counts_are_the_same() -> None:
    counts = BernoulliCounts()
    for features, label in examples(4):
        counts.learn(features, int(label))
    again = BernoulliCounts.loaded(counts.save())
    for features, _ in examples(5, 20):
        assert again.log_ratio(features) == pytest.approx(counts.log_ratio(features), abs=1e-12)
    assert again.save() == counts.save()
