from __future__ import annotations

import numpy as np
import pytest

from coati.learners.double_q import DoubleQ, QSettings, StepMemory
from coati.learners.small_network import SmallNetwork
from coati.learners.word_logistic import WordLogistic, words_of
from coati.strategies.state import pack, unpack


def test_the_gradient_is_the_slope_of_the_error() -> None:
    network, rng = SmallNetwork([3, 5, 4, 1], seed=2), np.random.default_rng(3)
    rows, wanted = rng.normal(size=(6, 3)), rng.normal(size=6)
    gradient = network.gradient(rows, wanted)
    state = network.save()

    def error(at: int, change: float) -> float:
        table = state["network"].copy()
        table[0, at] += change
        other = SmallNetwork([3, 5, 4, 1])
        other.load({**state, "network": table})
        return float(((other.predict(rows) - wanted) ** 2).mean())

    slopes = [(error(at, 1e-6) - error(at, -1e-6)) / 2e-6 for at in range(len(gradient))]
    assert np.allclose(gradient, slopes, atol=1e-6)


def test_values_come_to_tell_what_follows() -> None:
    """A step from A pays nothing and leads to B, which pays 1 and ends: A is worth the discount."""
    quick = QSettings(hidden=(8,), discount=0.5, start=10, every=1, copy_every=20, batch=20)
    learner = DoubleQ(2, quick, seed=1)
    a, b, end = (np.array(row, np.float32) for row in ([1, 0], [0, 1], [0, 0]))
    for _ in range(800):
        learner.learn(a, 0.0, b)
        learner.learn(b, 1.0, end)
        learner.learn(end, 0.0, end)
    assert learner.started
    assert learner.values(np.array([a, b, end])).tolist() == pytest.approx([0.5, 1.0, 0.0], abs=0.1)


@pytest.mark.parametrize("steps", [0, 5, 70, 200])
def test_a_loaded_learner_continues_as_the_saved_one(steps: int) -> None:
    quick = QSettings(memory=100, batch=7, start=10, copy_every=9)
    one, other = DoubleQ(2, quick, seed=4), DoubleQ(2, quick, seed=4)
    rng = np.random.default_rng(5)
    rows = rng.random((300, 2)).astype(np.float32)
    for step in range(steps):
        one.learn(rows[step], float(step % 2), rows[step + 1])
    other.load(unpack(pack(one.save())))
    for step in range(steps, steps + 90):
        for learner in (one, other):
            learner.learn(rows[step], float(step % 2), rows[step + 1])
    assert one.values(rows).tolist() == other.values(rows).tolist()


def test_the_memory_forgets_the_oldest() -> None:
    memory = StepMemory(1, QSettings(memory=5, batch=200), seed=0)
    for step in range(12):
        row = np.array([step], np.float32)
        memory.add(row, step, row)
    assert len(memory) == 5
    assert set(memory.sample()[0].ravel().tolist()) == {7, 8, 9, 10, 11}


def test_word_classes_weigh_the_same_whatever_their_number() -> None:
    model = WordLogistic(["data table"] * 3, ["our team"] * 300)
    assert model.probability("table of data") > 0.9
    assert model.probability("the team") < 0.1
    assert 0.2 < model.probability("") < 0.8
    assert model.probability("data " * 1_000_000) > 0.5


def test_words_are_bounded_and_any_text_has_some() -> None:
    assert len(words_of("x " * 100_000)) == 2000
    assert words_of("\ud800 \x00 été") == ["été"]
    assert 0 <= WordLogistic(["\ud800x"], ["y"]).probability("\ud800x") <= 1
