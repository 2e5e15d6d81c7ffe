from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from coati.strategies.scent.link_queues import BLOCK, EMPTY, LinkQueues
from coati.strategies.state import pack, unpack


def row(key: int) -> np.ndarray:
    return np.array([key, key * 7 + 1], np.uint32)


class Frontier(RuleBasedStateMachine):
    """The kinds against a dictionary of queues, through saving and loading."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = LinkQueues(2, seed=3)
        self.queues: dict[int, deque[int]] = {}
        self.scores: dict[int, float] = {}
        self.passed: dict[int, int] = {}
        self.links = 0

    # Few kinds, so that queues grow long; and many, so that blocks do.
    @rule(key=st.integers(1, 4) | st.integers(1, 600), score=st.integers(0, 50))
    def push(self, key: int, score: int) -> None:
        kind = self.kinds.place(row(key))
        queue = self.queues.setdefault(key, deque())
        self.kinds.push(kind, self.links)
        queue.append(self.links)
        self.kinds.set_score(kind, score / 10)
        self.scores[key] = self.kinds.score(kind)
        self.links += 1

    @precondition(lambda self: self.queues)
    @rule(data=st.data(), score=st.integers(0, 50))
    def score_many(self, data: st.DataObject, score: int) -> None:
        keys = data.draw(st.lists(st.sampled_from(sorted(self.queues)), min_size=1, max_size=5, unique=True))
        kinds = [self.kinds.place(row(key)) for key in keys]
        self.kinds.set_scores(np.array(kinds), np.full(len(kinds), score / 10, np.float32))
        for key, kind in zip(keys, kinds, strict=True):
            self.scores[key] = self.kinds.score(kind)

    @precondition(lambda self: self.queues)
    @rule()
    def pop_best(self) -> None:
        kind = self.kinds.best()
        assert kind is not None
        key = int(self.kinds.row(kind)[0])
        assert self.scores[key] == max(self.scores.values())
        assert self.kinds.first(kind) == self.queues[key][0]
        self.kinds.take(self.queues[key].popleft())
        self._forget_if_empty(key)

    @precondition(lambda self: self.queues)
    @rule(data=st.data())
    def take_any(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.queues)))
        number = data.draw(st.sampled_from(sorted(self.queues[key])))
        kind = self.kinds.kind_of(number)
        assert kind is not None
        assert int(self.kinds.row(kind)[0]) == key
        self.queues[key].remove(number)
        self.kinds.take(number)
        assert self.kinds.kind_of(number) is None
        self._forget_if_empty(key)

    @precondition(lambda self: self.queues)
    @rule(data=st.data())
    def skip_ahead(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.queues)))
        self.kinds.skip_ahead(self.kinds.place(row(key)))
        self.passed[key] = min(64, 2 * self.passed.get(key, 0) or 1)
        self.queues[key].rotate(-self.passed[key])

    @precondition(lambda self: self.queues)
    @rule(data=st.data())
    def stop_skipping(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.queues)))
        self.kinds.stop_skipping(self.kinds.place(row(key)))
        self.passed.pop(key, None)

    @rule()
    def reload(self) -> None:
        state = unpack(pack(self.kinds.save()))
        self.kinds = LinkQueues(2, seed=3)
        self.kinds.load(state)

    @invariant()
    def same_size(self) -> None:
        assert len(self.kinds) == len(self.queues)
        assert (self.kinds.best() is None) == (not self.queues)
        for key, queue in self.queues.items():
            assert self.kinds.first(self.kinds.place(row(key))) == queue[0]

    @invariant()
    def the_best_is_the_first_with_the_highest_score(self) -> None:
        scores = [self.kinds.score(kind) for kind in range(max(1, self.kinds.blocks) * BLOCK)]
        assert self.kinds.best() == (scores.index(max(scores)) if self.queues else None)

    def _forget_if_empty(self, key: int) -> None:
        if not self.queues[key]:
            del self.queues[key], self.scores[key]
            self.passed.pop(key, None)


Frontier.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestFrontier = Frontier.TestCase


def test_a_whole_block_is_scored_at_once() -> None:
    kinds = LinkQueues(2)
    for key in range(BLOCK + 20):
        kinds.push(kinds.place(row(key + 1)), key)
        kinds.set_score(key, 0.1)
    assert kinds.blocks == 2
    waiting = kinds.waiting_in(1)
    assert waiting.tolist() == list(range(BLOCK, BLOCK + 20))
    kinds.set_scores(waiting, np.linspace(0.2, 0.9, 20, dtype=np.float32))
    assert kinds.best() == BLOCK + 19


def test_what_does_not_wait_has_no_kind() -> None:
    assert LinkQueues(2).kind_of(3) is None
    assert LinkQueues(2).score(0) == EMPTY


def queue_of(kinds: LinkQueues, kind: int) -> list[int]:
    """Take a kind's links in the order in which they wait."""
    taken = []
    while kinds.score(kind) != EMPTY:
        taken.append(kinds.first(kind))
        kinds.take(taken[-1])
    return taken


def one_kind(links: int) -> tuple[LinkQueues, int]:
    kinds = LinkQueues(2)
    kind = kinds.place(row(1))
    for number in range(links):
        kinds.push(kind, number)
    kinds.set_score(kind, 0.5)
    return kinds, kind


def test_leaps_double_until_something_is_found() -> None:
    kinds, kind = one_kind(40)
    for _ in range(3):
        kinds.skip_ahead(kind)
    assert kinds.first(kind) == 1 + 2 + 4
    kinds.stop_skipping(kind)
    kinds.skip_ahead(kind)
    assert kinds.first(kind) == 8
    assert queue_of(kinds, kind) == [*range(8, 40), *range(8)]


def test_leaps_have_an_end() -> None:
    kinds, kind = one_kind(10_000)
    places = []
    for _ in range(10):
        kinds.skip_ahead(kind)
        places.append(kinds.first(kind))
    assert places[-1] - places[-2] == places[-2] - places[-3] == 64


def test_a_kind_of_one_link_passes_over_nothing() -> None:
    kinds, kind = one_kind(1)
    for _ in range(5):
        kinds.skip_ahead(kind)
    assert queue_of(kinds, kind) == [0]


def test_leaps_are_forgotten_with_the_kind_and_kept_by_saving() -> None:
    kinds, kind = one_kind(30)
    kinds.skip_ahead(kind)
    kinds.skip_ahead(kind)
    twin = LinkQueues(2)
    twin.load(unpack(pack(kinds.save())))
    for each in (kinds, twin):
        each.skip_ahead(kind)
        assert each.first(kind) == 7
        queue_of(each, kind)
        again = each.place(row(2))
        assert again == kind
        for number in range(100, 110):
            each.push(again, number)
        each.set_score(again, 0.5)
        each.skip_ahead(again)
        assert each.first(again) == 101


def test_a_place_holds_a_row_only_while_links_of_it_wait_there() -> None:
    kinds, kind = one_kind(2)
    assert kinds.holds(kind, row(1))
    assert not kinds.holds(kind, row(2))
    queue_of(kinds, kind)
    assert not kinds.holds(kind, row(1))
    kinds.push(kinds.place(row(2)), 9)
    assert kinds.holds(kind, row(2))
    assert not kinds.holds(kind, row(1))


def test_ties_are_drawn_by_the_seed_and_smaller_than_what_means_something() -> None:
    ties = []
    for seed in (1, 1, 2):
        kinds = LinkQueues(2, seed)
        for key in range(40):
            kinds.push(kinds.place(row(key + 1)), key)
        ties.append([kinds.tie(kind) for kind in range(40)])
    assert ties[0] == ties[1] != ties[2]
    assert all(0 <= tie < 1e-4 for tie in ties[0])
    assert len(set(ties[0])) > 30


def test_the_best_of_a_block_are_those_with_the_highest_scores() -> None:
    kinds = LinkQueues(2)
    for key in range(50):
        kinds.push(kinds.place(row(key + 1)), key)
        kinds.set_score(key, (key * 7 % 50) / 50)
    best = kinds.best_in(0, 5)
    assert sorted(key * 7 % 50 for key in best.tolist()) == [45, 46, 47, 48, 49]
    assert len(kinds.best_in(0, 500)) == 50


def test_the_best_of_all_kinds_are_found_in_any_block_and_their_links_counted() -> None:
    kinds = LinkQueues(2)
    for key in range(3 * BLOCK):
        kinds.push(kinds.place(row(key + 1)), key)
        kinds.set_score(key, key % BLOCK / BLOCK)
    assert sorted(kinds.best_kinds(3).tolist()) == [BLOCK - 1, 2 * BLOCK - 1, 3 * BLOCK - 1]
    kinds.take(BLOCK - 1)
    assert sorted(kinds.best_kinds(2).tolist()) == [2 * BLOCK - 1, 3 * BLOCK - 1]
    assert len(kinds.best_kinds(9999)) == 3 * BLOCK - 1
    for number in (5000, 5001, 5002):
        kinds.push(7, number)
    assert [kinds.count(7, most) for most in (9, 4, 2, 0)] == [4, 4, 2, 0]
    assert kinds.count(BLOCK - 1, 9) == 0


def test_kinds_beyond_the_first_blocks_are_found_too() -> None:
    kinds = LinkQueues(2, seed=5)
    for key in range(4 * BLOCK):
        kinds.push(kinds.place(row(key + 1)), key)
        kinds.set_score(key, key % 300 / 300)
    twin = LinkQueues(2, seed=5)
    twin.load(unpack(pack(kinds.save())))
    order = sorted(range(4 * BLOCK), key=lambda kind: (-(kind % 300), kind))
    for each in (kinds, twin):
        for expected in order[:50]:
            assert each.best() == expected
            each.take(each.first(expected))
        ties = [each.tie(kind) for kind in range(4 * BLOCK)]
        again = each.place(row(9_999))
        assert ties.count(each.tie(again)) < 3
    assert kinds.tie(order[49]) == twin.tie(order[49])
