"""A watch: what counts as new, when cycles begin, and what becomes of pages that move, fail or wait."""

from __future__ import annotations

import pytest

from coati.assembly import StrategySettings, build_strategy
from coati.errors import ConfigError
from coati.model import (
    EVERY_HOST,
    Deferred,
    Failure,
    Later,
    Link,
    LinkList,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Unchanged,
)
from coati.strategies.revisits.by_age import RoundRobin
from coati.strategies.revisits.links import Sites
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.scheduler import AGAIN, DATED, EXPLORED, FIRST_LOOK
from coati.strategies.revisits.watch import Watch, WatchSettings
from coati.web.out_links import with_out_links

A, B = "http://a.test/", "http://a.test/b"
HOUR = 3600.0


def page(*urls: str) -> Page:
    links = LinkList([Link(url, ("html", "body", "a")) for url in urls])
    return with_out_links(Page(200, 9, links))


def watch_of(*urls: str, **settings: object) -> Watch:
    return Watch(urls, RoundRobin(), WatchSettings(**settings))  # type: ignore[arg-type]


def visit(watch: Watch, outcome: Outcome, now: float) -> float | None:
    """Make one visit, and return its reward if it has one."""
    request = watch.choose(now, EVERY_HOST)
    assert isinstance(request, Request), request
    settled = watch.observe(request.id, outcome, now)
    return settled[0].reward if settled else None


def test_the_first_look_brings_nothing_new_and_defines_what_is_known() -> None:
    watch = watch_of(A, B, per_cycle=1)
    assert visit(watch, page("http://a.test/1"), 10.0) == 0
    assert visit(watch, page("http://a.test/2"), 11.0) == 0
    assert watch.new_links() == []
    assert watch.choose(12.0, EVERY_HOST) == Later(HOUR)
    assert visit(watch, page("http://a.test/1", "http://a.test/2", "http://a.test/3"), HOUR) == 1
    assert [(link.url, link.page, link.cycle) for link in watch.new_links()] == [("http://a.test/3", A, 1)]
    assert watch.new_links() == []


def test_a_cold_start_takes_everything_for_new() -> None:
    watch = watch_of(A, per_cycle=1, cold=True)
    assert visit(watch, page("http://a.test/1"), 10.0) == 1


def test_only_links_within_the_site_count_and_watched_pages_do_not() -> None:
    watch = watch_of(A, B, per_cycle=2, cold=True)
    assert visit(watch, page("http://other.test/1", "http://www.a.test/1", "http://x.a.test/2", B), 10.0) == 2


def test_a_link_that_another_site_showed_first_is_new_on_its_own() -> None:
    watch = watch_of(A, "http://other.test/", per_cycle=2)
    visit(watch, page(), 1.0)
    visit(watch, page(), 2.0)
    shown = {A: page("http://a.test/1"), "http://other.test/": page("http://a.test/1")}
    rewards = {}
    for _ in shown:
        request = watch.choose(HOUR, EVERY_HOST)
        assert isinstance(request, Request)
        rewards[request.url] = watch.observe(request.id, shown[request.url], HOUR)[0].reward
    assert rewards == {A: 1.0, "http://other.test/": 0.0}


def test_two_pages_of_a_cycle_both_have_what_neither_had_before() -> None:
    watch = watch_of(A, B, per_cycle=2)
    visit(watch, page(), 1.0)
    visit(watch, page(), 2.0)
    assert visit(watch, page("http://a.test/1"), HOUR) == 1
    assert visit(watch, page("http://a.test/1"), HOUR + 1) == 1
    assert len(watch.new_links()) == 1
    assert visit(watch, page("http://a.test/1"), 2 * HOUR) == 0


def test_a_missed_cycle_is_skipped() -> None:
    watch = watch_of(A, per_cycle=1)
    visit(watch, page(), 10.0)
    visit(watch, page(), 5.5 * HOUR)
    assert watch.cycle == 5
    assert watch.choose(5.9 * HOUR, EVERY_HOST) == Later(6 * HOUR)


def test_the_clock_may_stand_or_go_back() -> None:
    watch = watch_of(A, per_cycle=1)
    visit(watch, page(), 5.5 * HOUR)
    assert watch.choose(1.0, EVERY_HOST) == Later(6 * HOUR)


def test_a_page_that_moved_is_visited_where_it_is_now() -> None:
    watch = watch_of(A, per_cycle=1)
    assert visit(watch, Redirect(301, 0, B), 1.0) is None
    again = watch.choose(2.0, EVERY_HOST)
    assert isinstance(again, Request)
    assert (again.url, again.arm) == (B, FIRST_LOOK)
    watch.observe(again.id, page(), 2.0)
    later = watch.choose(HOUR, EVERY_HOST)
    assert isinstance(later, Request)
    assert later.url == B


def test_redirects_without_end_are_a_failure() -> None:
    watch = watch_of(A, per_cycle=1)
    for hop in range(5):
        assert visit(watch, Redirect(302, 0, f"{A}{hop}"), 1.0) is None
    assert visit(watch, Redirect(302, 0, f"{A}more"), 1.0) == 0
    assert watch.choose(2.0, EVERY_HOST) == Later(HOUR)


def test_an_outage_is_requested_again_and_counts_once() -> None:
    watch = watch_of(A, B, per_cycle=1)
    visit(watch, page(), 1.0)
    visit(watch, page(), 2.0)
    assert visit(watch, Deferred(0, 0, "refused", HOUR + 60), HOUR) is None
    # The cycle has a visit left, and takes the other page.
    assert visit(watch, page(), HOUR + 1) == 0
    assert watch.choose(HOUR + 2, EVERY_HOST) == Later(HOUR + 60)
    again = watch.choose(HOUR + 60, EVERY_HOST)
    assert isinstance(again, Request)
    assert (again.url, again.arm) == (A, AGAIN)


def test_failures_and_unchanged_pages_are_visits_without_news() -> None:
    watch = watch_of(A, per_cycle=1)
    outcomes: list[Outcome] = [
        page("http://a.test/1"),
        Unchanged(304, 0),
        Failure(500, 0, "broken"),
        Refused("robots.txt"),
    ]
    assert [visit(watch, outcome, HOUR * cycle) for cycle, outcome in enumerate(outcomes)] == [0, 0, 0, 0]


def test_pages_that_are_added_get_a_first_look() -> None:
    watch = watch_of(A, per_cycle=1)
    visit(watch, page(), 1.0)
    watch.add_pages([A, B])
    assert visit(watch, page("http://a.test/1"), 2.0) == 0
    assert watch.new_links() == []


def test_relevance() -> None:
    path = ("html", "div.box sports#a.b", "a")
    sold = Link("http://a.test/x/House-Prices.csv", path, "Sold houses", "by year")
    for text, expected in {
        "types": True,
        "keywords=prices": True,
        "keywords=house": True,
        "keywords=hous": False,
        "keywords=rent, year": True,
        "label=sports": True,
        "label=sport": False,
    }.items():
        relevant = parse_relevance(text, ["csv"])
        assert relevant is not None
        assert relevant(sold) is expected, text
    assert parse_relevance(" ", []) is None


@pytest.mark.parametrize("text", ["typo", "types=csv", "keywords=", "label= ,", "label"])
def test_relevance_that_is_none(text: str) -> None:
    with pytest.raises(ConfigError, match="relevant is"):
        parse_relevance(text, [])


def test_a_focused_watch_counts_relevant_links_only() -> None:
    settings = StrategySettings(watch=WatchSettings(per_cycle=1, cold=True), relevant="keywords=rain")
    watch = build_strategy("rr", [A], settings=settings)
    request = watch.choose(1.0, EVERY_HOST)
    assert isinstance(request, Request)
    assert watch.observe(request.id, page(A + "rain", A + "sun"), 1.0)[0].reward == 1


@pytest.mark.parametrize("wrong", [{"per_cycle": 0}, {"per_site": 0}, {"every_seconds": 0.0}])
def test_settings_that_make_no_cycle(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        WatchSettings(**wrong)  # type: ignore[arg-type]


def test_sites() -> None:
    sites = Sites(["http://news.a.test/", "http://a.test/", "http://www.b.test/"])
    urls = ("http://a.test/", "http://news.a.test/x", "http://c.b.test/")
    assert [sites.of(url) for url in urls] == [0, 0, 1]
    assert sites.add("http://new.test/") == 2
    assert len(sites) == 3


def test_a_page_that_joins_during_a_cycle_and_is_prioritised_waits_for_the_next() -> None:
    watch = watch_of(A, B, per_cycle=2)
    visit(watch, page(), 1.0)
    visit(watch, page(), 2.0)
    visit(watch, page(), HOUR)
    added = A + "added"
    watch.add_pages([added])
    watch.prioritise(added)
    asked = []
    for now in (HOUR, HOUR, 2 * HOUR):
        request = watch.choose(now, EVERY_HOST)
        assert isinstance(request, Request)
        asked.append((request.arm, request.url))
        watch.observe(request.id, page(), now)
    assert asked == [(FIRST_LOOK, added), (EXPLORED, B), (DATED, added)]
