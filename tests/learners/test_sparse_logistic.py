"""The sparse regression: by definition, and saved."""

from __future__ import annotations

from math import exp, sqrt
from random import Random

import pytest

from coati.learners.sparse_logistic import SparseLogistic
from coati.strategies.state import pack, unpack


def test_steps_are_those_of_adagrad() -> None:
    chance = Random(1)
    model = SparseLogistic(dimensions=6, rate=0.2)
    weights, gradients = [0.0] * 7, [0.1] * 7
    for _ in range(60):
        features = [feature for feature in range(6) if chance.random() < 0.4]
        label = chance.random() < 0.5
        odds = weights[6] + sum(weights[feature] for feature in features)
        assert model.predict(features) == pytest.approx(1 / (1 + exp(-odds)))
        error = 1 / (1 + exp(-odds)) - label
        for feature in [*features, 6]:
            gradients[feature] += error**2
            weights[feature] -= 0.2 * error / sqrt(gradients[feature])
        model.learn(features, label=label)


def test_a_saved_model_is_the_same() -> None:
    model, again = SparseLogistic(100, 0.2), SparseLogistic(100, 0.2)
    for turn in range(30):
        model.learn({turn, 3}, label=turn % 3 == 0)
    again.load(unpack(pack(model.save())))
    for turn in range(40):
        assert again.predict({turn, 3}) == model.predict({turn, 3})
        model.learn({turn}, label=True)
        again.learn({turn}, label=True)
