"""The heap of arms gives what a search through all of them gives."""

from __future__ import annotations

from random import Random

from coati.bandits.arm_heap import ArmHeap, tie_breaker


def test_the_best_is_that_of_a_search() -> None:
    chance, heap = Random(1), ArmHeap(seed=3)
    held: dict[int, tuple[float, float, int]] = {}
    for _ in range(4000):
        arm = chance.randrange(60)
        if arm in held and chance.random() < 0.3:
            heap.remove(arm)
            del held[arm]
        else:
            score, second = chance.randrange(4) / 4, chance.randrange(3) / 4
            heap.put(arm, score, second)
            held[arm] = (score, second, tie_breaker(arm, 3))
        assert len(heap) == len(held)
        if held:
            best = max(held, key=held.__getitem__)
            assert (heap.best(), heap.score(best)) == (best, held[best][0])


def test_luck_differs_between_arms_and_seeds() -> None:
    assert len({tie_breaker(arm, 1) for arm in range(10_000)}) == 10_000
    first = [max(range(50), key=lambda arm: tie_breaker(arm, seed)) for seed in range(40)]
    assert len(set(first)) > 10
