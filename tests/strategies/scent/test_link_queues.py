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
    """The queues against a dictionary of deques, through saving and loading."""

    def __init__(self) -> None:
        super().__init__()
        self.queues = LinkQueues(2, seed=3)
        self.links_by_key: dict[int, deque[int]] = {}
        self.scores: dict[int, float] = {}
        self.skipped: dict[int, int] = {}
        self.pushed = 0

    # Few queues, so that they grow long; and many, so that blocks do.
    @rule(key=st.integers(1, 4) | st.integers(1, 600), score=st.integers(0, 50))
    def push(self, key: int, score: int) -> None:
        queue = self.queues.place(row(key))
        links = self.links_by_key.setdefault(key, deque())
        self.queues.push(queue, self.pushed)
        links.append(self.pushed)
        self.queues.set_score(queue, score / 10)
        self.scores[key] = self.queues.score(queue)
        self.pushed += 1

    @precondition(lambda self: self.links_by_key)
    @rule(data=st.data(), score=st.integers(0, 50))
    def score_many(self, data: st.DataObject, score: int) -> None:
        keys = data.draw(
            st.lists(st.sampled_from(sorted(self.links_by_key)), min_size=1, max_size=5, unique=True)
        )
        queues = [self.queues.place(row(key)) for key in keys]
        self.queues.set_scores(np.array(queues), np.full(len(queues), score / 10, np.float32))
        for key, queue in zip(keys, queues, strict=True):
            self.scores[key] = self.queues.score(queue)

    @precondition(lambda self: self.links_by_key)
    @rule()
    def pop_best(self) -> None:
        queue = self.queues.best()
        assert queue is not None
        key = int(self.queues.row(queue)[0])
        assert self.scores[key] == max(self.scores.values())
        assert self.queues.first(queue) == self.links_by_key[key][0]
        self.queues.take(self.links_by_key[key].popleft())
        self._forget_if_empty(key)

    @precondition(lambda self: self.links_by_key)
    @rule(data=st.data())
    def take_any(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.links_by_key)))
        number = data.draw(st.sampled_from(sorted(self.links_by_key[key])))
        queue = self.queues.queue_of(number)
        assert queue is not None
        assert int(self.queues.row(queue)[0]) == key
        self.links_by_key[key].remove(number)
        self.queues.take(number)
        assert self.queues.queue_of(number) is None
        self._forget_if_empty(key)

    @precondition(lambda self: self.links_by_key)
    @rule(data=st.data())
    def skip_ahead(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.links_by_key)))
        self.queues.skip_ahead(self.queues.place(row(key)))
        self.skipped[key] = min(64, 2 * self.skipped.get(key, 0) or 1)
        self.links_by_key[key].rotate(-self.skipped[key])

    @precondition(lambda self: self.links_by_key)
    @rule(data=st.data())
    def stop_skipping(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.links_by_key)))
        self.queues.stop_skipping(self.queues.place(row(key)))
        self.skipped.pop(key, None)

    @rule()
    def reload(self) -> None:
        state = unpack(pack(self.queues.save()))
        self.queues = LinkQueues(2, seed=3)
        self.queues.load(state)

    @invariant()
    def same_size(self) -> None:
        assert len(self.queues) == len(self.links_by_key)
        assert (self.queues.best() is None) == (not self.links_by_key)
        for key, links in self.links_by_key.items():
            assert self.queues.first(self.queues.place(row(key))) == links[0]

    @invariant()
    def the_best_is_the_first_with_the_highest_score(self) -> None:
        scores = [self.queues.score(queue) for queue in range(max(1, self.queues.blocks) * BLOCK)]
        assert self.queues.best() == (scores.index(max(scores)) if self.links_by_key else None)

    def _forget_if_empty(self, key: int) -> None:
        if not self.links_by_key[key]:
            del self.links_by_key[key], self.scores[key]
            self.skipped.pop(key, None)


Frontier.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestFrontier = Frontier.TestCase


def test_a_whole_block_is_scored_at_once() -> None:
    queues = LinkQueues(2)
    for key in range(BLOCK + 20):
        queues.push(queues.place(row(key + 1)), key)
        queues.set_score(key, 0.1)
    assert queues.blocks == 2
    waiting = queues.waiting_in(1)
    assert waiting.tolist() == list(range(BLOCK, BLOCK + 20))
    queues.set_scores(waiting, np.linspace(0.2, 0.9, 20, dtype=np.float32))
    assert queues.best() == BLOCK + 19


def test_what_does_not_wait_has_no_queue() -> None:
    assert LinkQueues(2).queue_of(3) is None
    assert LinkQueues(2).score(0) == EMPTY


def links_of(queues: LinkQueues, queue: int) -> list[int]:
    """Take a queue's links in the order in which they wait."""
    taken = []
    while queues.score(queue) != EMPTY:
        taken.append(queues.first(queue))
        queues.take(taken[-1])
    return taken


def one_queue(links: int) -> tuple[LinkQueues, int]:
    queues = LinkQueues(2)
    queue = queues.place(row(1))
    for number in range(links):
        queues.push(queue, number)
    queues.set_score(queue, 0.5)
    return queues, queue


def test_leaps_double_until_something_is_found() -> None:
    queues, queue = one_queue(40)
    for _ in range(3):
        queues.skip_ahead(queue)
    assert queues.first(queue) == 1 + 2 + 4
    queues.stop_skipping(queue)
    queues.skip_ahead(queue)
    assert queues.first(queue) == 8
    assert links_of(queues, queue) == [*range(8, 40), *range(8)]


def test_leaps_have_an_end() -> None:
    queues, queue = one_queue(10_000)
    places = []
    for _ in range(10):
        queues.skip_ahead(queue)
        places.append(queues.first(queue))
    assert places[-1] - places[-2] == places[-2] - places[-3] == 64


def test_a_queue_of_one_link_skips_nothing() -> None:
    queues, queue = one_queue(1)
    for _ in range(5):
        queues.skip_ahead(queue)
    assert links_of(queues, queue) == [0]


def test_leaps_are_forgotten_with_the_queue_and_kept_by_saving() -> None:
    queues, queue = one_queue(30)
    queues.skip_ahead(queue)
    queues.skip_ahead(queue)
    twin = LinkQueues(2)
    twin.load(unpack(pack(queues.save())))
    for each in (queues, twin):
        each.skip_ahead(queue)
        assert each.first(queue) == 7
        links_of(each, queue)
        again = each.place(row(2))
        assert again == queue
        for number in range(100, 110):
            each.push(again, number)
        each.set_score(again, 0.5)
        each.skip_ahead(again)
        assert each.first(again) == 101


def test_a_place_holds_a_row_only_while_links_of_it_wait_there() -> None:
    queues, queue = one_queue(2)
    assert queues.holds(queue, row(1))
    assert not queues.holds(queue, row(2))
    links_of(queues, queue)
    assert not queues.holds(queue, row(1))
    queues.push(queues.place(row(2)), 9)
    assert queues.holds(queue, row(2))
    assert not queues.holds(queue, row(1))


def test_ties_are_drawn_by_the_seed_and_smaller_than_what_means_something() -> None:
    ties = []
    for seed in (1, 1, 2):
        queues = LinkQueues(2, seed)
        for key in range(40):
            queues.push(queues.place(row(key + 1)), key)
        ties.append([queues.tie(queue) for queue in range(40)])
    assert ties[0] == ties[1] != ties[2]
    assert all(0 <= tie < 1e-4 for tie in ties[0])
    assert len(set(ties[0])) > 30


def test_the_best_of_a_block_are_those_with_the_highest_scores() -> None:
    queues = LinkQueues(2)
    for key in range(50):
        queues.push(queues.place(row(key + 1)), key)
        queues.set_score(key, (key * 7 % 50) / 50)
    best = queues.best_in(0, 5)
    assert sorted(key * 7 % 50 for key in best.tolist()) == [45, 46, 47, 48, 49]
    assert len(queues.best_in(0, 500)) == 50


def test_the_best_of_all_queues_are_found_in_any_block_and_their_links_counted() -> None:
    queues = LinkQueues(2)
    for key in range(3 * BLOCK):
        queues.push(queues.place(row(key + 1)), key)
        queues.set_score(key, key % BLOCK / BLOCK)
    assert sorted(queues.best_queues(3).tolist()) == [BLOCK - 1, 2 * BLOCK - 1, 3 * BLOCK - 1]
    queues.take(BLOCK - 1)
    assert sorted(queues.best_queues(2).tolist()) == [2 * BLOCK - 1, 3 * BLOCK - 1]
    assert len(queues.best_queues(9999)) == 3 * BLOCK - 1
    for number in (5000, 5001, 5002):
        queues.push(7, number)
    assert [queues.count(7, most) for most in (9, 4, 2, 0)] == [4, 4, 2, 0]
    assert queues.count(BLOCK - 1, 9) == 0


def test_queues_beyond_the_first_blocks_are_found_too() -> None:
    queues = LinkQueues(2, seed=5)
    for key in range(4 * BLOCK):
        queues.push(queues.place(row(key + 1)), key)
        queues.set_score(key, key % 300 / 300)
    twin = LinkQueues(2, seed=5)
    twin.load(unpack(pack(queues.save())))
    order = sorted(range(4 * BLOCK), key=lambda queue: (-(queue % 300), queue))
    for each in (queues, twin):
        for expected in order[:50]:
            assert each.best() == expected
            each.take(each.first(expected))
        ties = [each.tie(queue) for queue in range(4 * BLOCK)]
        again = each.place(row(9_999))
        assert ties.count(each.tie(again)) < 3
    assert queues.tie(order[49]) == twin.tie(order[49])
