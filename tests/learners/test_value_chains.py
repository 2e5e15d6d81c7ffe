from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coati.learners.hashed_table import HashedTable
from coati.learners.value_chains import ChainSettings, ValueChains
from coati.strategies.state import pack, unpack

CHAINS = ((0, 1, 2), (0, 3), (4,))


def row(*keys: int) -> np.ndarray:
    return np.array(keys, np.uint32)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[int], float]]:
    keys = st.lists(st.integers(0, 40), min_size=5, max_size=5)
    return draw(st.lists(st.tuples(keys, st.floats(0, 5)), min_size=1, max_size=60))


@settings(max_examples=60, deadline=None)
@given(histories())
def test_one_row_and_many_rows_are_predicted_alike(history: list[tuple[list[int], float]]) -> None:
    chains = ValueChains(CHAINS, table=HashedTable(3, 6, 8))
    for keys, value in history:
        chains.learn(row(*keys), value)
    rows = np.array([keys for keys, _ in history], np.uint32)
    means, doubts = chains.predict_all(rows.T)
    for at, keys in enumerate(rows):
        mean, doubt = chains.predict(keys)
        assert means[at] == pytest.approx(mean, rel=1e-3, abs=1e-4)
        assert doubts[at] == pytest.approx(doubt, rel=1e-2, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(histories())
def test_the_weights_of_the_chains_sum_up_to_one(history: list[tuple[list[int], float]]) -> None:
    chains = ValueChains(CHAINS, table=HashedTable(3, 6, 8))
    for keys, value in history:
        chains.learn(row(*keys), value)
    for keys, _ in history:
        assert sum(part.weight for part in chains.evidence(row(*keys))) == pytest.approx(1)


def test_what_was_saved_does_not_change_with_what_is_learnt_next() -> None:
    chains = ValueChains(CHAINS)
    share = chains.learn(row(1, 2, 3, 4, 5), 1.0)
    saved, shared = pack(chains.save()), share.tolist()
    state = chains.save()
    chains.learn(row(1, 2, 3, 4, 5), 3.0)
    assert pack(state) == saved
    assert share.tolist() == shared


@settings(max_examples=60, deadline=None)
@given(histories(), st.floats(0, 5))
def test_means_stay_within_what_was_seen_and_doubt_is_finite(
    history: list[tuple[list[int], float]], revised: float
) -> None:
    chains = ValueChains(CHAINS, table=HashedTable(3, 6, 8))
    for keys, value in history:
        share = chains.learn(row(*keys), value)
        chains.revise(row(*keys), value, revised, share)
    for keys, _ in history:
        mean, doubt = chains.predict(row(*keys))
        assert -0.01 <= mean <= max(5.0, ChainSettings().prior_mean) + 0.01
        assert 0 <= doubt < 10


def test_a_revised_value_is_as_if_it_had_been_learnt_so() -> None:
    first, second = ValueChains(CHAINS), ValueChains(CHAINS)
    keys = row(1, 2, 3, 4, 5)
    share = first.learn(keys, 0.5)
    first.revise(keys, 0.5, 2.0, share)
    second.learn(keys, 2.0)
    assert first.predict(keys) == pytest.approx(second.predict(keys), rel=1e-5)


def test_one_barren_page_is_not_counted_once_a_level() -> None:
    deep, flat = ValueChains([(0, 1, 2, 3)]), ValueChains([(0,)])
    keys = row(1, 2, 3, 4)
    deep.learn(keys, 0.0)
    flat.learn(keys, 0.0)
    assert deep.predict(keys)[0] == pytest.approx(flat.predict(keys)[0], rel=1e-5)


def test_a_new_key_among_barren_pages_is_not_a_promise_and_among_differing_ones_it_is() -> None:
    barren, mixed = ValueChains([(0, 1)]), ValueChains([(0, 1)])
    for at in range(30):
        barren.learn(row(1, 100 + at), 0.0)
        mixed.learn(row(1, 100 + at), 2.0 * (at % 2))
    new = row(1, 999)
    assert barren.predict(new)[1] < 0.3 * mixed.predict(new)[1]


def test_many_visits_of_one_child_do_not_speak_for_its_siblings() -> None:
    chains = ValueChains([(0, 1)])
    for child in range(5):
        chains.learn(row(1, 10 + child), 2.0)
    for _ in range(500):
        chains.learn(row(1, 99), 0.0)
    assert chains.predict(row(1, 99))[0] < 0.1
    assert chains.predict(row(1, 77))[0] > 5 * chains.predict(row(1, 99))[0]


def test_a_table_that_grows_forgets_nothing() -> None:
    small = ValueChains([(0,)], table=HashedTable(3, 4, 12))
    large = ValueChains([(0,)], table=HashedTable(3, 12, 12))
    for chains in (small, large):
        for key in range(1, 4):
            for _ in range(20):
                chains.learn(row(key), float(key))
        for key in range(4, 600):
            chains.learn(row(key), 1.0)
    for key in range(1, 4):
        assert small.predict(row(key))[0] == pytest.approx(large.predict(row(key))[0], abs=0.4)


def test_what_was_saved_predicts_the_same() -> None:
    chains = ValueChains(CHAINS)
    for at in range(50):
        chains.learn(row(1, 2, at + 5, 4, at % 3 + 60), at % 4)
    twin = ValueChains(CHAINS)
    twin.load(chains.save())
    keys = row(1, 2, 7, 4, 61)
    assert twin.predict(keys) == chains.predict(keys)
    assert twin.learn(keys, 1.0).tolist() == chains.learn(keys, 1.0).tolist()
    assert twin.predict(keys) == chains.predict(keys)


def test_evidence_names_the_most_specific_key_that_was_seen() -> None:
    chains = ValueChains([(0, 1)])
    chains.learn(row(1, 2), 1.0)
    assert chains.evidence(row(1, 2))[0].column == 1
    assert chains.evidence(row(1, 3))[0].column == 0


@settings(max_examples=60, deadline=None)
@given(histories(), st.permutations([(0, 1, 2), (0, 3), (4,), (3, 1), (2,)]))
def test_the_order_of_the_chains_does_not_matter(
    history: list[tuple[list[int], float]], order: list[tuple[int, ...]]
) -> None:
    first, second = (ValueChains(chains, table=HashedTable(3, 6, 8)) for chains in (sorted(order), order))
    for keys, value in history:
        for chains in (first, second):
            share = chains.learn(row(*keys), value)
            chains.revise(row(*keys), value, value / 2, share)
    rows = np.array([keys for keys, _ in history], np.uint32)
    for one, other in zip(first.predict_all(rows.T), second.predict_all(rows.T), strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)
    for keys in rows:
        assert first.predict(keys) == pytest.approx(second.predict(keys), rel=1e-4, abs=1e-5)
        weights = [sorted(part.weight for part in chains.evidence(keys)) for chains in (first, second)]
        assert weights[0] == pytest.approx(weights[1], rel=1e-4)


@settings(max_examples=40, deadline=None)
@given(histories())
def test_one_row_and_many_are_alike_with_revisions_and_after_saving(
    history: list[tuple[list[int], float]],
) -> None:
    settings = ChainSettings(memory=5.0, fresh=1.0, tail=0.4)
    chains = ValueChains(CHAINS, settings, table=HashedTable(3, 6, 8))
    for keys, value in history:
        share = chains.learn(row(*keys), value)
        chains.revise(row(*keys), value, 5 - value, share)
    twin = ValueChains(CHAINS, settings, table=HashedTable(3, 6, 8))
    twin.load(unpack(pack(chains.save())))
    rows = np.array([keys for keys, _ in history] + [[7, 7, 7, 7, 7], [0, 0, 0, 0, 0]], np.uint32)
    means, doubts = chains.predict_all(rows.T)
    for at, keys in enumerate(rows):
        mean, doubt = chains.predict(keys)
        assert means[at] == pytest.approx(mean, rel=1e-3, abs=1e-3)
        assert doubts[at] == pytest.approx(doubt, rel=1e-2, abs=1e-2)
        assert twin.predict(keys) == (mean, doubt)


def test_evidence_tells_what_a_key_has_seen_from_what_is_made_of_it() -> None:
    chains = ValueChains([(0, 1)])
    for _ in range(4):
        chains.learn(row(1, 2), 3.0)
    (said,) = chains.evidence(row(1, 2))
    assert (said.visits, said.own, said.weight) == pytest.approx((4.0, 3.0, 1.0))
    assert ChainSettings().prior_mean < chains.predict(row(1, 2))[0] < said.own


def test_of_two_keys_with_equal_means_the_one_that_varies_promises_more() -> None:
    chains = ValueChains([(0,)], ChainSettings(tail=0.5))
    for at in range(40):
        chains.learn(row(1), 1.0)
        chains.learn(row(2), 2.0 * (at % 2))
    assert chains.predict(row(2))[0] > chains.predict(row(1))[0] + 0.2


@pytest.mark.parametrize(("memory", "least"), [(ChainSettings().memory, 1.2), (1e9, 0.0)])
def test_old_values_fade_so_that_a_key_follows_what_came_last(memory: float, least: float) -> None:
    chains = ValueChains([(0,)], ChainSettings(memory=memory))
    for value in [0.0] * 400 + [2.0] * 60:
        chains.learn(row(1), value)
    mean, _ = chains.predict(row(1))
    assert least < mean < least + 0.6
