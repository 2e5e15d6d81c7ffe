from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from coati.strategies.link_kinds import BLOCK, EMPTY, LinkKinds
from coati.strategies.state import pack, unpack


def row(key: int) -> np.ndarray:
    return np.array([key, key * 7 + 1], np.uint32)


class Frontier(RuleBasedStateMachine):
    """The kinds against a dictionary of queues, through saving and loading."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = LinkKinds(2, seed=3)
        self.queues: dict[int, deque[int]] = {}
        self.scores: dict[int, float] = {}
        self.links = 0

    @rule(key=st.integers(1, 600), score=st.integers(0, 50), front=st.booleans())
    def push(self, key: int, score: int, *, front: bool) -> None:
        kind = self.kinds.place(row(key))
        queue = self.queues.setdefault(key, deque())
        self.kinds.push(kind, self.links, front=front)
        queue.appendleft(self.links) if front else queue.append(self.links)
        self.kinds.set_score(kind, score / 10)
        self.scores[key] = score / 10
        self.links += 1

    @precondition(lambda self: self.queues)
    @rule()
    def pop_best(self) -> None:
        kind = self.kinds.best()
        assert kind is not None
        key = int(self.kinds.row(kind)[0])
        assert self.scores[key] == max(self.scores.values())
        assert self.kinds.peek(kind) == self.queues[key][0]
        assert self.kinds.pop(kind) == self.queues[key].popleft()
        self._forget_if_empty(key)

    @precondition(lambda self: self.queues)
    @rule(data=st.data())
    def bring_forward(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.queues)))
        number = data.draw(st.sampled_from(sorted(self.queues[key])))
        kind = self.kinds.bring_forward(number)
        assert int(self.kinds.row(kind)[0]) == key
        self.queues[key].remove(number)
        assert self.kinds.pop(kind) == number
        self._forget_if_empty(key)

    @rule()
    def reload(self) -> None:
        state = unpack(pack(self.kinds.save()))
        self.kinds = LinkKinds(2, seed=3)
        self.kinds.load(state)

    @invariant()
    def same_size(self) -> None:
        assert len(self.kinds) == len(self.queues)
        assert (self.kinds.best() is None) == (not self.queues)

    def _forget_if_empty(self, key: int) -> None:
        if not self.queues[key]:
            del self.queues[key], self.scores[key]


Frontier.TestCase.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
TestFrontier = Frontier.TestCase


def test_a_whole_block_is_scored_at_once() -> None:
    kinds = LinkKinds(2)
    for key in range(BLOCK + 20):
        kinds.push(kinds.place(row(key + 1)), key)
        kinds.set_score(key, 0.1)
    assert kinds.blocks == 2
    waiting = kinds.waiting_in(1)
    assert waiting.tolist() == list(range(BLOCK, BLOCK + 20))
    kinds.set_block(1, waiting, np.linspace(0.2, 0.9, 20, dtype=np.float32))
    assert kinds.best() == BLOCK + 19


def test_the_sweep_meets_each_kind_once_in_the_order_of_making() -> None:
    kinds = LinkKinds(2)
    for key in range(6):
        kinds.push(kinds.place(row(key + 1)), key)
        kinds.set_score(key, 0.0 if key == 2 else 0.5)
    kinds.pop(1)
    assert [kinds.sweep(0.1) for _ in range(5)] == [0, 3, 4, 5, None]


def test_what_does_not_wait_is_not_found() -> None:
    with pytest.raises(ValueError, match="does not wait"):
        LinkKinds(2).find(3)
    assert LinkKinds(2).score(0) == EMPTY
