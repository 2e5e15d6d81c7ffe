"""Whose turn it is, when crawls of several sites spend one budget."""

from __future__ import annotations

from coati.budget import Budget, Limit
from coati.live.site_turns import SiteTurns, Usage
from coati.stop_reasons import StopReason


class Site:
    """A crawl that was never crawled."""

    def __init__(self, promise: float | None = None, spent: Usage = Usage(0, 0, 0)) -> None:  # noqa: B008
        self.promise = promise
        self.before = spent
        self.rest = 0.0
        self.woken = 0
        self.ended: StopReason | None = None
        self.gone = False
        self.seconds = 0.0

    def spent(self) -> Usage:
        return self.before

    def seconds_before(self) -> float:
        return self.seconds

    def expects(self) -> float | None:
        return self.promise

    def rests_seconds(self) -> float:
        return self.rest

    def wake(self) -> None:
        self.woken += 1

    @property
    def open_count(self) -> int:
        return 0

    def stop(self, reason: StopReason) -> None:
        self.ended = reason

    def abandon(self) -> None:
        self.gone = True


ONE = Usage(1, 10, 0)


def turns_of(sites: list[Site], at_once: int = 1, budget: Budget | None = None) -> SiteTurns:
    turns = SiteTurns(budget or Budget(), at_once)
    for number, site in enumerate(sites):
        turns.add(number, site)
    return turns


def tried(sites: list[Site], at_once: int = 1, budget: Budget | None = None) -> SiteTurns:
    """Let each site make its first request, one after the other."""
    turns = turns_of(sites, at_once, budget)
    for number in range(len(sites)):
        assert turns.may_choose(number)
        turns.observed(number, Usage(1, 10, 0))
        turns.yield_turn(number)
    return turns


def test_one_site_at_a_time_and_the_best_of_those_that_wait_is_next() -> None:
    sites = [Site(0.2), Site(0.9), Site(0.5)]
    turns = tried(sites)
    assert turns.may_choose(0)
    assert not turns.may_choose(1)
    assert not turns.may_choose(2)
    turns.observed(0, ONE)
    # It keeps its turn until it is ready again; then the best of all three goes.
    assert [site.woken for site in sites] == [0, 0, 0]
    assert not turns.may_choose(0)
    assert [site.woken for site in sites] == [0, 1, 0]
    assert turns.may_choose(1)


def test_several_at_once() -> None:
    sites = [Site(0.2), Site(0.9), Site(0.5)]
    turns = tried(sites, at_once=2)
    assert [turns.may_choose(number) for number in range(3)] == [True, True, False]


def test_a_turn_that_is_not_used_goes_to_another() -> None:
    sites = [Site(0.9), Site(0.5)]
    turns = tried(sites)
    assert turns.may_choose(0)
    assert not turns.may_choose(1)
    turns.yield_turn(0)
    assert sites[1].woken == 1
    assert turns.may_choose(1)


def test_a_site_that_ends_frees_its_turn() -> None:
    sites = [Site(0.9), Site(0.5)]
    turns = tried(sites)
    assert turns.may_choose(0)
    assert not turns.may_choose(1)
    turns.remove(0)
    turns.remove(0)
    assert turns.may_choose(1)


def test_a_site_that_has_to_rest_long_lets_others_go() -> None:
    sites = [Site(0.9), Site(0.5)]
    turns = tried(sites)
    assert turns.may_choose(0)
    assert not turns.may_choose(1)
    sites[0].rest = 600.0
    turns.observed(0, ONE)
    assert sites[1].woken == 1


def test_no_request_goes_beyond_the_budget() -> None:
    sites = [Site(0.9), Site(0.8), Site(0.7)]
    turns = tried(sites, at_once=3, budget=Budget(max_requests=5))
    assert [turns.may_choose(number) for number in range(3)] == [True, True, False]
    assert not turns.charge(0, 1)
    assert sites[2].ended is None
    # One that cost nothing gives its request back.
    turns.observed(0, Usage(0, 0, 0))
    assert sites[2].woken == 1
    assert turns.may_choose(2)
    turns.observed(1, ONE)
    assert sites[2].ended is None
    turns.observed(2, ONE)
    assert turns.limit is Limit.REQUESTS
    assert [site.ended for site in sites] == [StopReason.BUDGET_REQUESTS] * 3
    assert not turns.may_choose(0)


def test_targets_and_bytes_of_all_sites_count_together() -> None:
    for budget, limit in ((Budget(max_targets=2), Limit.TARGETS), (Budget(max_bytes=40), Limit.BYTES)):
        turns = tried([Site(0.9), Site(0.8)], at_once=2, budget=budget)
        for number in range(2):
            assert turns.may_choose(number)
            turns.observed(number, Usage(1, 10, 1))
        assert turns.limit is limit


def test_no_more_sites_have_a_turn_than_targets_are_left() -> None:
    sites = [Site(0.9), Site(0.8), Site(0.7)]
    turns = tried(sites, at_once=3, budget=Budget(max_targets=2))
    assert [turns.may_choose(number) for number in range(3)] == [True, True, False]
    # Another attempt brings no second target.
    assert turns.charge(0, 1)
    turns.observed(0, ONE)
    assert sites[2].woken == 1
    assert turns.may_choose(2)
    turns.observed(1, Usage(1, 10, 1))
    assert turns.limit is None
    turns.observed(2, Usage(1, 10, 1))
    assert turns.limit is Limit.TARGETS


def test_time_ends_it_too() -> None:
    clock = [0.0]
    turns = SiteTurns(Budget(max_seconds=10.0), 1, seconds=lambda: clock[0])
    site = Site(0.9)
    turns.add(0, site)
    assert turns.may_choose(0)
    clock[0] = 11.0
    turns.observed(0, ONE)
    assert site.ended is StopReason.BUDGET_SECONDS


def test_bodies_that_arrive_count_before_they_are_whole() -> None:
    sites = [Site(0.9), Site(0.8)]
    turns = turns_of(sites, at_once=2, budget=Budget(max_bytes=100))
    assert turns.of(0).received(60)
    assert turns.of(1).received(40)
    # One is no longer read: its rest is for the others.
    assert turns.of(1).received(-40)
    assert turns.of(0).received(40)
    assert (turns.limit, sites[0].gone) == (None, False)
    assert not turns.of(1).received(1)
    assert turns.limit is Limit.BYTES
    assert [(site.ended, site.gone) for site in sites] == [(StopReason.BUDGET_BYTES, True)] * 2


def test_the_time_of_earlier_sessions_counts() -> None:
    clock = [0.0]
    turns = SiteTurns(Budget(max_seconds=10.0), 2, seconds=lambda: clock[0])
    assert turns.of(0).seconds_left() == 10.0
    for number, seconds in enumerate((3.0, 6.0, 1.0)):
        site = Site(0.9)
        site.seconds = seconds
        turns.add(number, site)
    assert turns.of(0).seconds_left() == 4.0
    clock[0] = 5.0
    assert turns.of(0).seconds_left() == -1.0
    assert not turns.may_choose(0)
    assert turns.limit is Limit.SECONDS
    assert SiteTurns(Budget(), 1).of(0).seconds_left() is None


def test_what_earlier_sessions_spent_counts() -> None:
    sites = [Site(0.9, Usage(6, 0, 2)), Site(0.9, Usage(4, 0, 0))]
    turns = turns_of(sites, budget=Budget(max_requests=10))
    assert not turns.may_choose(0)
    assert turns.limit is Limit.REQUESTS
    assert turns.spent == Usage(10, 0, 2)
    assert turns.session_requests == 0
