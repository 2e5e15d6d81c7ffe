"""What `arrivals` expects, part by part."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coati.strategies.revisits.arrivals import Arrivals, ThompsonArrivals
from coati.strategies.revisits.daily_profile import DailyProfile
from coati.strategies.revisits.expected_cover import ExpectedCover
from coati.strategies.revisits.link_lives import departures, looked_back_on, mean_lives, worth_of_visits
from coati.strategies.revisits.link_samples import LinkSamples
from coati.strategies.revisits.longest_waits import MOST_ROUNDS
from coati.strategies.revisits.scheduler import EXPECTED, EXPLORED, Cycle
from coati.strategies.revisits.visits import Visit, Visits
from coati.strategies.state import pack, unpack

HOUR = 3600.0
START = 500_000 * HOUR


class Watched:
    """A scheduler that is told of visits, cycle by cycle, without a strategy around it."""

    def __init__(self, scheduler: Arrivals, pages: int) -> None:
        self.scheduler, self.visits = scheduler, Visits()
        self.known: set[int] = set()
        self.shown: dict[int, set[int]] = {}
        for _ in range(pages):
            self.visits.add_page(0)

    def see(self, page: int, cycle: int, links: list[int] | None, *, first: bool = False) -> None:
        new = [link for link in links or () if link not in self.known]
        there = set(links or ())
        left = len(self.shown.get(page, there) - there)
        if links is not None:
            self.shown[page] = there
        at = START + HOUR * cycle
        visit = Visit(page, at, cycle, new, links or [], left, seen=links is not None, first=first)
        self.visits.add(visit)
        self.scheduler.learn(visit, self.visits)
        self.known.update(new)

    def picks(self, cycle: int, count: int) -> list[tuple[int, float]]:
        now = Cycle(cycle, START + HOUR * cycle, count, None, self.visits)
        self.scheduler.begin(now)
        taken = []
        for _ in range(count):
            pick = self.scheduler.pick(now)
            assert pick is not None
            now.take(pick.page)
            self.scheduler.take(pick.page)
            taken.append((pick.page, pick.score))
        return taken


def test_the_page_where_more_came_is_first_and_visits_are_worth_more_with_time() -> None:
    watched = Watched(Arrivals(), 2)
    for page in (0, 1):
        watched.see(page, 0, [page], first=True)
    for cycle in range(1, 9):
        watched.see(0, cycle, [100 + cycle])
        watched.see(1, cycle, [1000 + 3 * cycle + number for number in range(3)])
    (first, more), (_, less) = watched.picks(9, 2)
    assert first == 1
    # A link per hour, and three; hours are as busy as each other.
    assert more == pytest.approx(3 * less, rel=0.15)
    assert watched.picks(11, 1)[0][1] > 1.5 * more


def test_a_visit_is_worth_what_waiting_would_lose() -> None:
    """The best times between visits to pages of different rates are those of equal worth."""
    life, (busy, calm) = 24.0, (2.0, 0.5)

    def found_per_hour(every: float, rate: float) -> float:
        return rate * life * (1 - math.exp(-every / life)) / every

    # Both pages share one visit per two hours: every split of it, and the best one.
    splits = np.linspace(0.05, 0.95, 1801)
    total = [found_per_hour(2 / share, busy) + found_per_hour(2 / (1 - share), calm) for share in splits]
    best = float(splits[int(np.argmax(total))])
    worth = worth_of_visits(np.array([2 / best, 2 / (1 - best)]), np.array(life), [(1.0, 1.0)])
    assert busy * worth[0] == pytest.approx(calm * worth[1], rel=0.02)


def test_a_page_whose_links_stay_may_wait() -> None:
    """Two pages get a link every other hour; one shows its last link alone, the other all of a week."""
    watched = Watched(Arrivals(), 2)
    watched.see(0, 0, [0], first=True)
    watched.see(1, 0, [1], first=True)
    for cycle in range(2, 41, 2):
        watched.see(0, cycle, [100 + cycle])
        watched.see(1, cycle, [1000 + each for each in range(2, cycle + 1, 2)])
    soon, late = dict(watched.picks(42, 2)), dict(watched.picks(90, 2))
    assert soon[0] > soon[1]
    # After two days most of what came to the one is lost, and all of what came to the other is there.
    assert late[1] > late[0]


def test_a_visit_looks_back_on_as_many_hours_as_links_stay() -> None:
    short, long = looked_back_on(np.array(240.0), np.array([12.0, 24_000.0]))
    assert short == pytest.approx(12, rel=0.05)
    assert long == pytest.approx(240, rel=0.05)


def test_the_mean_life_is_that_of_the_links_that_left() -> None:
    # Of 1,000 links that stay for 20 hours on average, these are there after ten.
    stayed = round(1000 * math.exp(-0.5))
    left = np.array([departures(1000, 1000 - stayed)])
    lives = mean_lives(left, np.array([1000 * 10.0]), usual=100.0)
    assert lives[0] == pytest.approx(20, rel=0.05)


def test_where_links_are_rare_a_visit_without_any_says_little() -> None:
    watched = Watched(Arrivals(), 40)
    for page in range(40):
        watched.see(page, 0, [page], first=True)
    # One link a day on forty pages; page 0 was looked at after six hours and had none.
    watched.see(1, 24, [100])
    watched.see(0, 18, [0])
    for page in range(2, 39):
        watched.see(page, 24, [page])
    expected = dict(watched.picks(48, 40))
    assert expected[39] / 2 < expected[0] < expected[39]


def test_pages_that_show_the_same_links_are_taken_once() -> None:
    watched = Watched(Arrivals(), 3)
    for page in range(3):
        watched.see(page, 0, [page], first=True)
    for cycle in range(1, 9):
        same = [100 + 2 * cycle, 101 + 2 * cycle]
        watched.see(0, cycle, same)
        watched.see(1, cycle, same)
        watched.see(2, cycle, [1000 + cycle])
    picks = watched.picks(9, 3)
    assert [page for page, _ in picks[1:]] == [2, 1 - picks[0][0]]
    # What is left is what may come to it alone, of which eight hours say little.
    assert picks[2][1] < picks[0][1] / 4


def test_a_link_that_was_known_before_is_not_an_arrival() -> None:
    samples = LinkSamples()
    assert samples.add(0, new=[7], there=[7], at=2 * HOUR, since=HOUR) == 1
    assert samples.add(1, new=[], there=[7], at=4 * HOUR, since=3 * HOUR) == 0
    assert samples.add(2, new=[], there=[7], at=4 * HOUR, since=HOUR) == 1
    links, pages = samples.pairs
    assert (links.tolist(), pages.tolist()) == ([0, 0], [0, 2])


def test_old_samples_are_forgotten() -> None:
    samples = LinkSamples()
    for hour in range(10):
        samples.add(hour % 2, new=[hour], there=[hour], at=hour * HOUR, since=-1.0)
    samples.forget(7 * HOUR)
    assert samples.found_at.tolist() == [7 * HOUR, 8 * HOUR, 9 * HOUR]
    links, pages = samples.pairs
    assert (links.tolist(), pages.tolist()) == ([0, 1, 2], [1, 0, 1])
    assert samples.add(5, new=[], there=[3, 8], at=10 * HOUR, since=-1.0) == 1


def test_a_page_that_shows_nothing_relevant_is_expected_to_bring_nothing() -> None:
    watched = Watched(Arrivals(), 3)
    watched.see(0, 0, [1], first=True)
    watched.see(1, 0, [*range(20, 60)], first=True)
    watched.see(2, 0, [], first=True)
    for cycle in range(1, 5):
        watched.see(0, cycle, [10 + cycle])
    expected = dict(watched.picks(5, 3))
    # Nothing but what it shows is known of page 1.
    assert expected[1] > expected[0] > 0
    assert expected[2] < expected[1] / 4


def test_each_failure_in_a_row_halves_what_is_expected() -> None:
    watched = Watched(Arrivals(), 1)
    watched.see(0, 0, [1], first=True)
    for cycle in range(1, 5):
        watched.see(0, cycle, [10 + cycle])
    before = watched.picks(5, 1)[0][1]
    watched.see(0, 5, None)
    watched.see(0, 5, None)
    assert watched.picks(5, 1)[0][1] == pytest.approx(before / 4, rel=1e-3)
    watched.see(0, 5, [15])
    assert watched.picks(6, 1)[0][1] > before / 2


def test_busy_hours_count_more() -> None:
    profile = DailyProfile()
    monday = 4 * 24 * HOUR
    for week in range(30):
        for hour in range(24):
            at = monday + (week * 168 + hour) * HOUR
            profile.learn(at, at + HOUR, 5 if hour == 12 else 1)
    profile.settle()
    noon = profile.between(np.array(monday + 12 * HOUR), monday + 13 * HOUR)
    night = profile.between(np.array(monday + 2 * HOUR), monday + 3 * HOUR)
    assert noon > 3 * night
    assert profile.between(np.array(monday), monday + 168 * HOUR) == pytest.approx(168)


def test_thompson_draws_the_same_for_the_same_seed_and_cycle() -> None:
    def scores(seed: int) -> list[tuple[int, float]]:
        watched = Watched(ThompsonArrivals(seed), 2)
        for page in (0, 1):
            watched.see(page, 0, [page], first=True)
            watched.see(page, 1, [10 + page])
        return watched.picks(2, 2)

    assert scores(1) == scores(1) != scores(2)


def test_beyond_the_candidates_pages_follow_in_the_order_of_their_scores() -> None:
    pages = 600
    visits = Visits()
    for _ in range(pages):
        visits.add_page(0)
    none = np.zeros(0, np.int32)
    cover = ExpectedCover(np.arange(pages, dtype=np.float64), none, none, np.zeros(0), per_cycle=1)
    cycle = Cycle(0, 0.0, pages, None, visits)
    taken = []
    for _ in range(pages):
        page = cover.best(cycle)
        assert page is not None
        cycle.take(page)
        cover.take(page)
        taken.append(page)
    assert taken == list(range(pages))[::-1]
    assert cover.best(cycle) is None


def test_where_nothing_came_yet_pages_that_show_more_are_still_visited_more_often() -> None:
    watched = Watched(Arrivals(), 40)
    for page in range(40):
        watched.see(page, 0, list(range(100 * page, 100 * page + (30 if page == 7 else 1))), first=True)
    taken = []
    for cycle in range(1, 200):
        ((page, _),) = watched.picks(cycle, 1)
        watched.see(page, cycle, sorted(watched.shown[page]))
        taken.append(page)
    assert taken.count(7) > 2 * taken.count(8) > 0


def test_a_page_that_nothing_is_expected_of_is_visited_after_twenty_rounds() -> None:
    watched = Watched(Arrivals(), 4)
    for page in range(4):
        watched.see(page, 0, [], first=True)
    # Three pages bring much in every cycle, and what is there leaves at once.
    number, waits = 100, []
    last = 0
    for cycle in range(1, 4 * MOST_ROUNDS * 3):
        (page,) = (page for page, _ in watched.picks(cycle, 1))
        watched.see(page, cycle, [] if page == 3 else list(range(number, number + 30)))
        number += 30
        if page == 3:
            waits.append(cycle - last)
            last = cycle
    # Others may be overdue at the same time.
    assert 4 * MOST_ROUNDS < max(waits) <= 4 * MOST_ROUNDS + 3


def test_pages_that_are_overdue_take_a_twentieth_of_a_cycle_and_a_restored_state_agrees() -> None:
    watched = Watched(Arrivals(), 60)
    for page in range(60):
        watched.see(page, 0, [], first=True)
    scheduler = watched.scheduler
    scheduler.begin(Cycle(0, START, 40, None, watched.visits))
    for _ in range(60 * MOST_ROUNDS):
        scheduler.take(0)
    again = Arrivals()
    again.load(unpack(pack(scheduler.save())))
    for each in (scheduler, again):
        cycle = Cycle(1, START + HOUR, 40, None, watched.visits)
        each.begin(cycle)
        whys = []
        for _ in range(40):
            pick = each.pick(cycle)
            assert pick is not None
            cycle.take(pick.page)
            each.take(pick.page)
            whys.append(pick.why)
        assert whys == [EXPLORED] * 2 + [EXPECTED] * 38
