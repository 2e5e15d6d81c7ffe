"""Our models of bags against scikit-learn's, batch by batch, in the order of a crawl."""

from __future__ import annotations

import warnings
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from coati.learners.bags import BagModel, bag_of
from coati.learners.linear_sgd import LinearSgd, Loss
from coati.learners.naive_bayes import MultinomialBayes
from coati.learners.passive_aggressive import PassiveAggressive
from coati.learners.url_bigrams import DIMENSIONS
from coati.strategies.state import pack, unpack

FIELDS = 2


def links(count: int, seed: int) -> tuple[list[tuple[str, str]], list[bool]]:
    """Make URLs with anchors that tell the class most of the time."""
    rng = Random(seed)
    texts, labels = [], []
    for number in range(count):
        label = rng.random() < 0.4
        end = rng.choice([".csv", ".xlsx", "/download"]) if label else rng.choice([".html", "/", "?p=2"])
        noise = "".join(rng.choice("abcdeéf-_/0123") for _ in range(rng.randrange(20)))
        texts.append((f"http://a.test/{noise}/{number}{end}", rng.choice(["", "Data", "More", "Get it"])))
        labels.append(label)
    return texts, labels


SPARSE = CountVectorizer(
    analyzer=lambda texts: map(str, bag_of(texts).tolist()), vocabulary=map(str, range(FIELDS * DIMENSIONS))
)


def batches(
    texts: list[tuple[str, str]], labels: list[bool]
) -> list[tuple[list[tuple[str, str]], list[bool]]]:
    sizes = [10, 10, 1, 7, 100, 10, 12]
    starts = np.cumsum([0, *sizes]).tolist()
    return [(texts[a:b], labels[a:b]) for a, b in pairwise(starts)]


SGD: dict[str, tuple[BagModel, dict[str, Any]]] = {
    "log": (LinearSgd(FIELDS * DIMENSIONS, Loss.LOG), {"loss": "log_loss"}),
    "hinge": (LinearSgd(FIELDS * DIMENSIONS, Loss.HINGE), {"loss": "hinge"}),
    "pa": (
        PassiveAggressive(FIELDS * DIMENSIONS),
        {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": 1.0},
    ),
}


@pytest.mark.parametrize("name", SGD)
def test_same_scores_as_scikit_learn(name: str) -> None:
    model, options = SGD[name]
    reference = SGDClassifier(random_state=42, **options)
    texts, labels = links(150, 1)
    test_texts, _ = links(60, 2)
    for some, answers in batches(texts, labels):
        model.learn([bag_of(t) for t in some], answers)
        reference.partial_fit(SPARSE.transform(some), answers, classes=[False, True])
        expected = reference.decision_function(SPARSE.transform(test_texts))
        ours = [model.score(bag_of(t)) for t in test_texts]
        assert np.allclose(ours, expected, rtol=1e-7, atol=1e-7)


def test_same_odds_as_scikit_learns_naive_bayes() -> None:
    model, reference = MultinomialBayes(FIELDS * DIMENSIONS), MultinomialNB()
    texts, labels = links(150, 3)
    labels[:2] = [True, False]
    test_texts, _ = links(60, 4)
    for some, answers in batches(texts, labels):
        model.learn([bag_of(t) for t in some], answers)
        reference.partial_fit(SPARSE.transform(some), answers, classes=[False, True])
        odds = reference.predict_joint_log_proba(SPARSE.transform(test_texts))
        ours = [model.score(bag_of(t)) for t in test_texts]
        assert np.allclose(ours, odds[:, 1] - odds[:, 0])


@pytest.mark.parametrize("label", [False, True])
def test_naive_bayes_knows_one_class_until_it_has_seen_the_other(label: bool) -> None:  # noqa: FBT001
    model, reference = MultinomialBayes(DIMENSIONS), MultinomialNB()
    assert model.score(bag_of(["/a"])) == 0
    model.learn([bag_of(["/a"])], [label])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference.partial_fit(np.ones((1, 3)), [label], classes=[False, True])
        expected = reference.predict(np.ones((1, 3)))[0]
    assert (model.score(bag_of(["/b.csv"])) > 0) is label is bool(expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearSgd(FIELDS * DIMENSIONS, Loss.HINGE),
        lambda: PassiveAggressive(FIELDS * DIMENSIONS),
        lambda: MultinomialBayes(FIELDS * DIMENSIONS),
    ],
)
def test_a_loaded_model_continues_as_the_saved_one(make: type[BagModel]) -> None:
    texts, labels = links(80, 6)
    bags = [bag_of(t) for t in texts]
    one, other = make(), make()
    one.learn(bags[:40], labels[:40])
    other.load(unpack(pack(one.save())))
    for model in (one, other):
        model.learn(bags[40:], labels[40:])
    assert [one.score(bag) for bag in bags] == [other.score(bag) for bag in bags]


@pytest.mark.parametrize("text", ["", "x", "é", "\n\n"])
def test_a_text_without_pairs_is_an_example_like_any_other(text: str) -> None:
    for model in (LinearSgd(DIMENSIONS), PassiveAggressive(DIMENSIONS), MultinomialBayes(DIMENSIONS)):
        model.learn([bag_of([text])] * 3, [True, False, True])
        assert np.isfinite(model.score(bag_of([text])))
