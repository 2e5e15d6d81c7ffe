"""Which site gets the next request of one budget."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from coati.bandits.site_choice import Promises, SiteChoice


def asked(choice: SiteChoice, arm: int, targets: int, promise: float | None) -> None:
    choice.pull(arm)
    choice.observe(arm, targets, promise)


def best(choice: SiteChoice) -> int:
    chosen = choice.choose()
    assert chosen is not None
    return chosen.arm


def awake(sites: int, **settings: float | bool) -> SiteChoice:
    choice = SiteChoice(**settings)  # type: ignore[arg-type]
    for arm in range(sites):
        choice.wake(arm)
    return choice


def test_every_site_gets_a_request_before_any_gets_another() -> None:
    choice = awake(3)
    seen = []
    for _ in range(3):
        arm = best(choice)
        seen.append(arm)
        asked(choice, arm, 0, 0.9 - arm / 10)
    assert seen == [0, 1, 2]
    assert best(choice) == 0


def test_the_site_that_promises_most_goes_next() -> None:
    choice = awake(2)
    asked(choice, 0, 0, 0.3)
    asked(choice, 1, 0, 0.6)
    assert best(choice) == 1
    asked(choice, 1, 0, 0.1)
    assert best(choice) == 0


def test_promises_that_are_not_kept_are_worth_less() -> None:
    choice = awake(2, doubt=0.0)
    asked(choice, 0, 0, 0.8)
    asked(choice, 1, 0, 0.5)
    for _ in range(20):
        asked(choice, 0, 0, 0.8)
    assert best(choice) == 1


def test_what_was_tried_little_has_the_benefit_of_the_doubt() -> None:
    choice = awake(2, doubt=1.0)
    asked(choice, 0, 0, 0.5)
    asked(choice, 1, 0, 0.5)
    for number in range(30):
        asked(choice, 0, number % 2, 0.55)
    assert best(choice) == 1


def test_without_promises_the_yield_decides() -> None:
    choice = awake(2, doubt=0.0)
    for _ in range(10):
        asked(choice, 0, 0, None)
        asked(choice, 1, 1, None)
    assert best(choice) == 1


def test_a_site_that_sleeps_or_is_done_is_not_chosen() -> None:
    choice = awake(3)
    for arm in range(3):
        asked(choice, arm, 0, 0.9 - arm / 10)
    choice.sleep(0)
    assert best(choice) == 1
    choice.end(1)
    choice.wake(1)
    assert best(choice) == 2
    choice.sleep(2)
    assert choice.choose() is None
    choice.wake(0)
    assert best(choice) == 0


def test_a_fair_share_goes_to_the_site_with_the_fewest_requests() -> None:
    choice = awake(4, fair=True)
    for arm in range(4):
        asked(choice, arm, 0, 0.9 if arm == 0 else 0.01)
    for _ in range(200):
        asked(choice, best(choice), 0, None)
    requests = [0] * 4
    for _ in range(200):
        arm = best(choice)
        requests[arm] += 1
        asked(choice, arm, int(arm == 0), 0.9 if arm == 0 else 0.01)
    assert min(requests) >= 200 // 2 // 4 - 4


def test_a_pull_that_was_taken_back_leaves_no_trace() -> None:
    choice = awake(2)
    asked(choice, 0, 0, 0.4)
    asked(choice, 1, 0, 0.3)
    before = choice.value(0), choice.value(1)
    choice.pull(0)
    choice.undo_pull(0)
    assert (choice.value(0), choice.value(1)) == before
    assert best(choice) == 0


def test_what_is_resumed_is_worth_the_same() -> None:
    choice = SiteChoice()
    choice.wake(0)
    promises = Promises()
    for _ in range(5):
        asked(choice, 0, 1, 0.7)
        promises = promises.after(1, 0.7)
    again = SiteChoice()
    again.resume(0, requests=5, targets=5, promises=promises)
    assert again.choose() is None
    again.wake(0)
    assert again.value(0) == choice.value(0)


def test_a_resumed_site_is_taken_at_its_word_where_nobody_knows_what_it_promised() -> None:
    again = SiteChoice(doubt=0.0)
    again.resume(0, requests=50, targets=3, promises=Promises(0.4))
    assert again.value(0) == 0.4


def test_a_site_that_is_exhausted_does_not_live_on_promises_it_kept() -> None:
    choice = SiteChoice(doubt=0.0)
    choice.wake(0)
    for _ in range(1000):
        asked(choice, 0, 1, 0.8)
    for _ in range(150):
        asked(choice, 0, 0, 0.2)
    # Of the thirty targets that the last requests promised none came.
    assert choice.value(0) < 0.2


@given(st.integers(0, 1000))
def test_the_heap_finds_what_looking_at_all_sites_finds(seed: int) -> None:
    draw = random.Random(seed)
    choice = awake(6)
    sleeping: set[int] = set()
    for _ in range(60):
        arm = draw.randrange(6)
        action = draw.random()
        if action < 0.2:
            choice.sleep(arm)
            sleeping.add(arm)
        elif action < 0.4:
            choice.wake(arm)
            sleeping.discard(arm)
        else:
            asked(choice, arm, draw.randrange(2), draw.random())
        chosen = choice.choose()
        there = [arm for arm in range(6) if arm not in sleeping]
        if chosen is None:
            assert not there
        else:
            assert chosen.score == max(choice.value(arm) for arm in there)
