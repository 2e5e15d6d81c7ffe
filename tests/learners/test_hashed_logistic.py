from __future__ import annotations

import numpy as np
import pytest

from coati.learners.hashed_logistic import HashedLogistic
from coati.learners.hashed_table import HashedTable


def model(bits: int = 10) -> HashedLogistic:
    return HashedLogistic((-1.0, -3.0), rate=0.15, table=HashedTable(4, bits, 14))


def row(*keys: int) -> np.ndarray:
    return np.array(keys, np.uint32)


def test_what_it_knows_before_it_learns_is_its_bias_and_its_priors() -> None:
    fresh = model()
    assert fresh.predict(row(5, 6)) == pytest.approx((0.2689, 0.0474), abs=1e-3)
    fresh.set_prior(5, (2.0, 0.0))
    assert fresh.predict(row(5, 6))[0] == pytest.approx(0.731, abs=1e-3)


def test_both_questions_are_learnt_from_the_same_rows() -> None:
    learnt = model()
    for _ in range(400):
        learnt.learn(row(1, 10), (True, False))
        learnt.learn(row(2, 10), (False, True))
        learnt.learn(row(3, 10), (False, False))
    file, dead, page = (learnt.predict(row(key, 10)) for key in (1, 2, 3))
    assert (file[0] > 0.8, file[1] < 0.2) == (True, True)
    assert (dead[1] > 0.8, dead[0] < 0.2) == (True, True)
    assert max(page) < 0.2


def test_one_row_and_many_rows_are_predicted_alike() -> None:
    learnt = model()
    rows = np.array([[key, key % 7 + 1, 0] for key in range(1, 50)], np.uint32)
    for at, keys in enumerate(rows):
        learnt.learn(keys, (at % 2 == 0, at % 3 == 0))
    for keys, first, second in zip(rows, *learnt.predict_all(rows.T), strict=True):
        assert learnt.predict(keys) == pytest.approx((first, second), rel=1e-4)


def test_no_key_has_no_weight() -> None:
    learnt = model()
    for _ in range(50):
        learnt.learn(row(0, 0, 9), (True, True))
    assert learnt.weights(row(0)).tolist() == [[0.0], [0.0]]


def test_a_table_that_grows_keeps_what_it_learnt() -> None:
    learnt = model(bits=4)
    for _ in range(30):
        learnt.learn(row(1), (True, False))
    before = learnt.predict(row(1))[0]
    for key in range(2, 16):
        learnt.learn(row(key), (False, False))
    assert learnt.save()["logistic_size"][0] > 16
    assert learnt.predict(row(1))[0] > before - 0.3


def test_what_was_saved_continues_the_same() -> None:
    learnt = model()
    for key in range(1, 60):
        learnt.learn(row(key, 3), (key % 2 == 0, False))
    twin = model()
    twin.load(learnt.save())
    for each in (learnt, twin):
        each.learn(row(8, 3), (True, False))
    assert twin.predict(row(8, 3)) == learnt.predict(row(8, 3))


def test_extreme_odds_do_not_overflow() -> None:
    far = model()
    far.set_prior(1, (1e6, -1e6))
    first, second = far.predict(row(1))
    assert (first, second) == pytest.approx((1.0, 0.0), abs=1e-9)
    assert np.isfinite(far.predict_all(np.array([[1]], np.uint32))).all()


def test_what_was_expected_within_the_tolerance_changes_nothing() -> None:
    learnt = model()
    while learnt.learn(row(1, 2), (True, False), tolerance=0.02):
        pass
    before = learnt.predict(row(1, 2))
    assert before == pytest.approx((1.0, 0.0), abs=0.02)
    assert not learnt.learn(row(1, 2), (True, False), tolerance=0.02)
    assert learnt.predict(row(1, 2)) == before
    assert learnt.learn(row(1, 2), (False, False), tolerance=0.02)
    assert learnt.predict(row(1, 2))[0] < before[0]


def test_what_is_kept_of_predictions_is_what_a_twin_predicts_that_kept_nothing() -> None:
    learnt, rows = model(bits=12), [row(key, key % 5 + 700) for key in range(1, 600)]
    for at, keys in enumerate(rows):
        learnt.learn(keys, (at % 2 == 0, at % 3 == 0))
    # More than are kept, and some of them twice.
    told = [learnt.predict(keys) for keys in (*rows, *rows[-10:])]
    assert told == [twin_of(learnt).predict(keys) for keys in (*rows, *rows[-10:])]
    assert not learnt.learn(rows[-1], (False, False), tolerance=1.0)
    assert learnt.predict(rows[-1]) == told[-1]
    assert learnt.learn(rows[-1], (False, False))
    after = learnt.predict(rows[-1])
    assert after[0] < told[-1][0]
    assert after == twin_of(learnt).predict(rows[-1])
    learnt.set_prior(int(rows[-1][0]), (5.0, 5.0))
    assert learnt.predict(rows[-1]) == twin_of(learnt).predict(rows[-1]) != after
    other = model()
    other.predict(rows[-1])
    other.load(learnt.save())
    assert other.predict(rows[-1]) == learnt.predict(rows[-1])


def twin_of(learnt: HashedLogistic) -> HashedLogistic:
    twin = model()
    twin.load(learnt.save())
    return twin
