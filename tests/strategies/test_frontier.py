from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.strategies.chance import draw
from coati.strategies.frontier import Fifo, Frontier, Lifo, Pool


class SlowPool:
    """A pool as its words say it: the last takes the place of the one that was drawn."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def place(self, waiting: list[int], turn: int) -> int:
        return draw(self.seed, turn, len(waiting))

    def take(self, waiting: list[int], place: int) -> int:
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
        return waiting.pop()


def slow_pop(kind: str, waiting: list[int], turn: int) -> int:
    if kind == "fifo":
        return waiting.pop(0)
    if kind == "lifo":
        return waiting.pop()
    pool = SlowPool(3)
    return pool.take(waiting, pool.place(waiting, turn))


def slow_remove(kind: str, waiting: list[int], number: int) -> None:
    if kind == "pool":
        SlowPool(3).take(waiting, waiting.index(number))
    else:
        waiting.remove(number)


MAKE: dict[str, Callable[[], Frontier]] = {"fifo": Fifo, "lifo": Lifo, "pool": lambda: Pool(3)}
STEPS = st.lists(st.sampled_from(["push", "push", "push", "pop", "remove", "reload"]), max_size=60)


@pytest.mark.parametrize("kind", MAKE)
@given(steps=STEPS, data=st.data())
def test_frontiers_agree_with_plain_lists(kind: str, steps: list[str], data: st.DataObject) -> None:
    frontier, waiting = MAKE[kind](), list[int]()
    for turn, step in enumerate(steps):
        if step == "push":
            frontier.push(turn)
            waiting.append(turn)
        elif step == "pop" and waiting:
            assert frontier.peek(turn) == frontier.peek(turn)
            expected = frontier.peek(turn)
            assert frontier.pop(turn) == expected == slow_pop(kind, waiting, turn)
        elif step == "remove" and waiting:
            number = data.draw(st.sampled_from(waiting))
            frontier.remove(number)
            slow_remove(kind, waiting, number)
        elif step == "reload":
            saved = array("I", frontier.save())
            frontier = MAKE[kind]()
            frontier.load(saved)
        assert len(frontier) == len(waiting)
        assert list(frontier.save()) == waiting


@pytest.mark.parametrize("kind", MAKE)
def test_what_does_not_wait_cannot_be_taken(kind: str) -> None:
    frontier = MAKE[kind]()
    with pytest.raises(IndexError):
        frontier.pop(0)
    frontier.push(1)
    with pytest.raises(ValueError, match="not in"):
        frontier.remove(2)
    assert frontier.pop(0) == 1
    with pytest.raises(ValueError, match="not in"):
        frontier.remove(1)


def test_a_queue_lets_go_of_what_was_taken() -> None:
    queue = Fifo()
    for number in range(50_000):
        queue.push(number)
    taken = [queue.pop(turn) for turn in range(49_990)]
    assert taken == list(range(49_990))
    assert len(queue._numbers) < 5_000  # noqa: SLF001 - memory is not seen otherwise
    assert [queue.pop(0) for _ in range(10)] == list(range(49_990, 50_000))


def test_a_pool_draws_every_number_with_the_same_probability() -> None:
    firsts = [0] * 8
    for seed in range(8000):
        pool = Pool(seed)
        for number in range(8):
            pool.push(number)
        firsts[pool.pop(0)] += 1
    assert sum((count - 1000) ** 2 / 1000 for count in firsts) < 29.9
