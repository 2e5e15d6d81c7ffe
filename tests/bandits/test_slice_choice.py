from __future__ import annotations

import random

import pytest

from coati.bandits.site_choice import Promises
from coati.bandits.slice_choice import SiteCounts, SliceChoice, SliceSizes
from coati.budget import Budget, Limit

SIZES = SliceSizes(first_requests=10, most_requests=40, seconds=60.0)


def all_chosen(choice: SliceChoice, now: float) -> list[int]:
    """Send out whatever may go out now."""
    sites = []
    while (chosen := choice.choose(now)) is not None:
        sites.append(chosen.site)
    return sites


def test_the_budget_is_kept_while_slices_are_out() -> None:
    choice = SliceChoice(["a", "b", "c"], Budget(max_requests=25), SIZES)
    sent = [choice.choose(0.0) for _ in range(3)]
    assert [chosen and chosen.requests for chosen in sent] == [10, 10, 5]
    assert choice.choose(0.0) is None
    # One came back early: what it did not use is there for others.
    choice.ended(0, SiteCounts(requests=4), now=5.0)
    last = choice.choose(6.0)
    assert last is not None
    assert (last.site, last.requests) == (0, 6)
    for site, requests in ((1, 10), (2, 5), (0, 10)):
        choice.ended(site, SiteCounts(requests=requests), now=7.0)
    assert choice.choose(8.0) is None
    assert (choice.requests, choice.limit(0.0)) == (25, Limit.REQUESTS)


def test_slices_grow_with_the_requests_of_a_site() -> None:
    choice = SliceChoice(["a"], Budget(), SIZES)
    lengths, asked = [], 0
    for _ in range(5):
        chosen = choice.choose(0.0)
        assert chosen is not None
        lengths.append(chosen.requests)
        asked += chosen.requests
        choice.ended(0, SiteCounts(requests=asked), now=0.0)
    assert lengths == [10, 10, 20, 40, 40]


def test_a_site_that_is_over_can_be_opened_again() -> None:
    choice = SliceChoice(["a", "b"], Budget(), SIZES)
    choice.resume(0, SiteCounts(requests=5), over=True)
    choice.resume(1, SiteCounts(requests=5), over=True)
    assert (choice.choose(0.0), choice.left) == (None, 0)
    choice.reopen(1, now=1.0)
    assert choice.left == 1
    assert choice.wakes_at() == 1.0
    chosen = choice.choose(1.0)
    assert chosen is not None
    assert (chosen.site, chosen.is_suspect) == (1, True)
    choice.ended(1, SiteCounts(requests=15), now=1.0, free_at=3.0)
    assert all_chosen(choice, 2.0) == []
    assert all_chosen(choice, 3.0) == [1]
    assert choice.requests == 20


def test_sites_of_one_group_are_never_out_at_once() -> None:
    choice = SliceChoice(["x.org", "x.org", "y.org"], Budget(), SIZES)
    assert all_chosen(choice, 0.0) == [0, 2]
    choice.ended(0, SiteCounts(requests=10), now=10.0, free_at=12.0)
    # The other one has to keep its distance, too.
    assert choice.choose(11.0) is None
    assert choice.wakes_at() == 12.0
    chosen = choice.choose(12.0)
    assert chosen is not None
    assert chosen.site == 1


def test_the_site_that_promises_most_goes_first_once_all_were_tried() -> None:
    choice = SliceChoice(["a", "b", "c"], Budget(), SIZES)
    for promise in (0.1, 0.9, 0.2):
        chosen = choice.choose(0.0)
        assert chosen is not None
        choice.ended(chosen.site, SiteCounts(100, 5, 0, Promises(promise, 5.0, 5.0)), now=0.0)
    chosen = choice.choose(0.0)
    assert chosen is not None
    assert chosen.site == 1


def test_of_suspects_one_is_out_at_a_time() -> None:
    choice = SliceChoice(["a", "b", "c", "d"], Budget(), SIZES)
    for site in range(3):
        assert choice.choose(0.0) is not None
        choice.died(site, now=0.0, until=5.0)
    first = choice.choose(1.0)
    assert first is not None
    assert first.site == 3
    choice.ended(3, SiteCounts(requests=10), now=2.0)
    assert all_chosen(choice, 6.0) == [0, 3]
    assert choice.wakes_at() is None
    # It was not the one: it may go on with the others, and the next suspect is tried.
    choice.ended(0, SiteCounts(requests=10), now=7.0)
    assert all_chosen(choice, 7.0) == [1, 0]
    choice.end(1)
    assert all_chosen(choice, 8.0) == [2]
    assert choice.left == 3


def test_suspects_are_out_at_once_where_there_are_workers_for_each_and_their_slices_are_short() -> None:
    choice = SliceChoice(["a", "b", "c"], Budget(), SIZES)
    for site in range(3):
        choice.resume(site, SiteCounts(requests=100))
    for _ in range(3):
        chosen = choice.choose(0.0)
        assert chosen is not None
        assert (chosen.requests, chosen.is_suspect) == (40, False)
    for site in range(3):
        choice.died(site, now=0.0)
    out = [choice.choose(1.0, suspects_at_once=2) for _ in range(3)]
    assert [chosen and (chosen.requests, chosen.is_suspect) for chosen in out] == [
        (10, True),
        (10, True),
        None,
    ]


def test_one_that_is_held_costs_nothing_and_comes_later() -> None:
    choice = SliceChoice(["a"], Budget(max_requests=10), SIZES)
    assert choice.choose(0.0) is not None
    choice.held(0, now=0.0, until=30.0)
    assert (choice.choose(29.0), choice.wakes_at(), choice.requests) == (None, 30.0, 0)
    again = choice.choose(30.0)
    assert again is not None
    assert again.requests == 10


def test_what_was_published_is_taken_over() -> None:
    choice = SliceChoice(["a", "b"], Budget(max_requests=100), SIZES)
    choice.resume(0, SiteCounts(requests=60, targets=6), over=True)
    choice.resume(1, SiteCounts(requests=35, targets=1, bytes=9))
    assert (choice.requests, choice.targets, choice.bytes, choice.left) == (95, 7, 9, 1)
    chosen = choice.choose(0.0)
    assert chosen is not None
    assert (chosen.site, chosen.requests) == (1, 5)


class World:
    """Sites whose slices come back, or do not, by chance; checks what must hold at each choice."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.groups = [f"group {self.chance.randrange(7)}" for _ in range(12)]
        self.budget = self.chance.choice([200, 1000])
        self.choice = SliceChoice(self.groups, Budget(max_requests=self.budget), SIZES, fair=bool(seed % 2))
        self.out: dict[int, int] = {}
        self.asked = [0] * len(self.groups)
        self.over: set[int] = set()
        self.suspects: set[int] = set()
        self.now = 0.0

    def send(self) -> None:
        chosen = self.choice.choose(self.now)
        if chosen is not None:
            assert chosen.site not in self.over
            assert self.groups[chosen.site] not in {self.groups[site] for site in self.out}
            assert not (chosen.site in self.suspects and self.suspects & set(self.out))
            self.out[chosen.site] = chosen.requests
            assert sum(self.asked) + sum(self.out.values()) <= self.budget

    def take_in(self, how: int) -> None:
        site = self.chance.choice(sorted(self.out))
        reserved = self.out.pop(site)
        if how == 0:
            self.suspects.add(site)
            self.choice.died(site, self.now, self.now + self.chance.random() * 9)
        elif how == 1:
            self.choice.held(site, self.now, self.now + 3)
        elif how == 2 and len(self.over) < 9:
            self.over.add(site)
            self.suspects.discard(site)
            self.choice.end(site)
        else:
            self.suspects.discard(site)
            self.asked[site] += self.chance.randrange(1, reserved + 1)
            counts = SiteCounts(requests=self.asked[site])
            self.choice.ended(site, counts, self.now, self.now + self.chance.random())


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_the_rules_hold(seed: int) -> None:
    world = World(seed)
    for _ in range(400):
        world.now += world.chance.random() * 5
        if world.chance.random() < 0.6:
            world.send()
        elif world.out:
            world.take_in(world.chance.randrange(4))
        assert (world.choice.out, world.choice.requests) == (len(world.out), sum(world.asked))
    # Nobody is forgotten: with time, and as others come back, everything is spent.
    for _ in range(1000):
        world.now += 20
        world.send()
        if world.out:
            world.take_in(3)
    assert sum(world.asked) == world.budget


@pytest.mark.parametrize(("budget", "requests"), [(None, 50), (10_000, 50), (200, 25), (30, 10), (4, 4)])
def test_first_slices_are_short_where_the_budget_is(budget: int | None, requests: int) -> None:
    choice = SliceChoice(["a", "b", "c", "d"], Budget(max_requests=budget))
    chosen = choice.choose(0.0)
    assert chosen is not None
    assert chosen.requests == requests
