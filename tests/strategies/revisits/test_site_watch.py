from collections.abc import Callable, Sequence
from random import Random

import pytest

from coati.model import (
    EVERY_HOST,
    Failure,
    Later,
    Link,
    LinkList,
    Outcome,
    Page,
    Redirect,
    Request,
    Target,
    Unchanged,
)
from coati.readers.listed import PAGES_OF_SITEMAP, SITEMAPS_OF_INDEX, SITEMAPS_OF_ROBOTS
from coati.strategies.revisits.by_age import RoundRobin
from coati.strategies.revisits.departures import VISITS_UNTIL_BARREN
from coati.strategies.revisits.fair_queue import FairQueue, LinkToFollow
from coati.strategies.revisits.file_checks import FileChecks
from coati.strategies.revisits.following import MOST_WAITING, Following, link_shape
from coati.strategies.revisits.scheduler import DATED, EXPLORED, FIRST_LOOK
from coati.strategies.revisits.site_watch import CHECK, FOLLOW, SiteWatch, SiteWatchSettings
from coati.strategies.revisits.watch import Watch, WatchSettings
from coati.strategies.state import pack, unpack
from coati.testing.checks import check_strategy
from coati.testing.site import Site
from coati.web.urls import extension_of, url_hash

ROOT = "http://example.org/"
HOUR = 3600.0


def value(link: Link, _page: str) -> float:
    return 1.0 if extension_of(link.url) == "csv" else 0.1


def page(*names: str) -> Page:
    links = LinkList([Link(ROOT + name, ("html", "body", "a"), name) for name in names])
    return Page(200, 100, links, out_links=sorted(url_hash(url) for url in links.urls))


def target() -> Target:
    return Target(200, 10, "text/csv")


def site_watch(files: Sequence[str] = (), known: Sequence[str] = (), **settings: int) -> SiteWatch:
    watch = Watch([ROOT], RoundRobin(), WatchSettings(per_cycle=1, misses_until_gone=3))
    hashes = frozenset(url_hash(ROOT + name) for name in known)
    return SiteWatch(watch, value, SiteWatchSettings(**settings), [ROOT + name for name in files], hashes)


def run_cycle(strategy: SiteWatch, hour: int, answers: Callable[[str], Outcome]) -> list[tuple[int, str]]:
    """Drive one cycle to its end; returns arms and addresses."""
    now = hour * HOUR + 1
    asked: list[tuple[int, str]] = []
    while True:
        request = strategy.choose(now, EVERY_HOST)
        if not isinstance(request, Request):
            assert request == Later((hour + 1) * HOUR)
            return asked
        asked.append((request.arm or 0, request.url.removeprefix(ROOT)))
        strategy.observe(request.id, answers(request.url.removeprefix(ROOT)), now)


def names(asked: Sequence[tuple[int, str]], arm: int) -> list[str]:
    return [name for why, name in asked if why == arm]


def test_new_links_are_followed_the_most_promising_first_and_known_ones_are_not() -> None:
    strategy = site_watch(known=["old.html"])
    first = run_cycle(strategy, 0, lambda _: page("a.csv", "b.html"))
    assert names(first, FOLLOW) == []

    answers: dict[str, Outcome] = {
        "": page("a.csv", "b.html", "news.html", "c.csv", "old.html"),
        "c.csv": target(),
        "news.html": page("deep.csv", "a.csv"),
        "deep.csv": target(),
    }
    assert names(run_cycle(strategy, 1, answers.__getitem__), FOLLOW) == ["c.csv", "news.html", "deep.csv"]
    assert names(run_cycle(strategy, 2, answers.__getitem__), FOLLOW) == []


def test_what_a_cycle_cannot_follow_waits_for_the_next() -> None:
    strategy = site_watch(follow_per_cycle=2)
    run_cycle(strategy, 0, lambda _: page())
    many = page("1.csv", "2.csv", "3.csv")
    answers: Callable[[str], Outcome] = lambda name: target() if name else many  # noqa: E731 - a table of two rows
    assert names(run_cycle(strategy, 1, answers), FOLLOW) == ["1.csv", "2.csv"]
    assert names(run_cycle(strategy, 2, answers), FOLLOW) == ["3.csv"]


def test_a_redirect_of_a_new_link_is_followed_and_ends() -> None:
    strategy = site_watch()
    run_cycle(strategy, 0, lambda _: page())
    hops: dict[str, Outcome] = {
        "": page("x0"),
        **{f"x{n}": Redirect(302, 0, f"{ROOT}x{n + 1}") for n in range(9)},
    }
    asked = names(run_cycle(strategy, 1, hops.__getitem__), FOLLOW)
    assert asked == [f"x{number}" for number in range(6)]


def test_a_day_without_an_answer_loses_nothing() -> None:
    strategy = site_watch(files=["old.csv"])
    run_cycle(strategy, 0, lambda _: page("old.csv"))
    for hour in range(1, 25):
        run_cycle(strategy, hour, lambda _: Failure(0, 0, "no route to host"))
    answers: dict[str, Outcome] = {"": page("old.csv", "new.csv"), "old.csv": target(), "new.csv": target()}
    for hour in range(25, 40):
        asked = run_cycle(strategy, hour, answers.__getitem__)
        if asked:
            break
    assert names(asked, FOLLOW) == ["new.csv"]
    assert "old.csv" in names(asked, CHECK)


def test_known_files_are_asked_about_in_turn_and_gone_after_three_cycles() -> None:
    strategy = site_watch(files=["a.csv", "b.csv", "c.csv"], check_per_cycle=2)
    run_cycle(strategy, 0, lambda _: page())

    def answers(name: str) -> Outcome:
        return Failure(404, 0, "not found") if name == "a.csv" else Unchanged(304, 0)

    cycles = [names(run_cycle(strategy, hour, answers), CHECK) for hour in range(1, 6)]
    assert cycles == [
        ["a.csv", "b.csv"],
        ["a.csv", "c.csv"],
        ["a.csv", "b.csv"],
        ["c.csv", "b.csv"],
        ["c.csv", "b.csv"],
    ]


def test_no_file_is_asked_about_twice_in_a_cycle() -> None:
    checks = FileChecks(["a"])
    assert checks.next(1) == "a"
    checks.present("a")
    assert checks.next(1) is None
    assert checks.next(2) == "a"


def test_a_page_that_makes_new_addresses_for_ever_is_not_followed_for_ever() -> None:
    strategy = site_watch(follow_per_cycle=10)
    run_cycle(strategy, 0, lambda _: page())
    followed = 0
    for hour in range(1, 20):
        advertisements = page(*(f"ad/{hour}{number}?sid={hour}" for number in range(10)))
        asked = run_cycle(strategy, hour, lambda name, now=advertisements: page() if name else now)  # type: ignore[misc]
        followed += len(names(asked, FOLLOW))
    # Forty, and of the 150 others the first, second, fourth and so on.
    assert followed == 48


def test_addresses_that_lead_nowhere_do_not_make_a_page_worth_a_visit() -> None:
    strategy = site_watch(follow_per_cycle=100)
    run_cycle(strategy, 0, lambda _: page())
    found = []
    for hour in range(1, 5):
        advertisements = page(*(f"ad/{hour}{number:02d}" for number in range(40)))
        before = len(strategy.watch.found())
        run_cycle(strategy, hour, lambda name, now=advertisements: page() if name else now)  # type: ignore[misc]
        found.append(len(strategy.watch.found()) - before)
    assert found[0] == 40
    assert sum(found[1:]) == len([1, 2, 4, 8, 16, 32, 64])


def test_what_is_left_alone_is_taken_up_again_once_it_leads_to_a_file() -> None:
    strategy = site_watch(follow_per_cycle=100)
    run_cycle(strategy, 0, lambda _: page())

    def visit(hour: int, *, published: bool) -> list[str]:
        news = page(*(f"news/{hour}{number:02d}" for number in range(60)))

        def answer(name: str) -> Outcome:
            return (target() if published else page()) if name else news

        return names(run_cycle(strategy, hour, answer), FOLLOW)

    assert len(visit(1, published=False)) == 40
    assert len(visit(2, published=False)) == len([1, 2, 4, 8, 16, 32])
    assert len(visit(3, published=True)) == len([64])
    assert len(visit(4, published=True)) == 60


def test_a_shape_that_brought_files_is_not_given_up_for_a_row_without() -> None:
    queue = Following()
    queue.learn("http://a.org/0", led_to_file=True)
    for number in range(1, 80):
        queue.learn(f"http://a.org/{number}", led_to_file=False)
    assert not queue.skips("http://a.org/80")
    queue.learn("http://a.org/80", led_to_file=False)
    left = [queue.skips(f"http://a.org/{number}") for number in range(81, 85)]
    assert left == [False, False, True, False]


def test_what_waits_goes_with_the_shape_that_is_left_alone() -> None:
    queue = Following()
    for name in ("news/100", "page"):
        queue.push(LinkToFollow(f"http://a.org/{name}", "http://a.org/", 0.5))
    for number in range(40):
        queue.learn(f"http://a.org/news/{number}", led_to_file=False)
    again = Following()
    again.load(unpack(pack({"queue": queue.save()}))["queue"])
    for each in (queue, again):
        assert len(each) == 1
        assert each.pop().url == "http://a.org/page"
        left = [each.skips(f"http://a.org/news/{number}") for number in range(3)]
        assert left == [False, False, True]


def test_a_queue_that_is_restored_or_redone_takes_the_same_turns() -> None:
    rng = Random(1)

    def fill(queue: FairQueue, numbers: range) -> None:
        for number in numbers:
            queue.push(
                LinkToFollow(f"u{number}", f"p{number % 7 * (number % 3)}", (number * 37 % 100 - 20) / 100)
            )

    queue, redone = FairQueue(), FairQueue()
    fill(queue, range(60))
    fill(redone, range(60))
    for _ in range(25):
        link = queue.pop()
        assert redone.take(link.url) == link
    dropped = {f"u{rng.randrange(60)}" for _ in range(10)}
    for each in (queue, redone):
        each.keep(lambda url: url not in dropped)
    restored = FairQueue.load(unpack(pack({"queue": queue.save()}))["queue"])
    assert queue.in_order() == redone.in_order() == restored.in_order()
    for each in (queue, redone, restored):
        fill(each, range(60, 80))
    orders = [[each.pop() for _ in range(len(each))] for each in (queue, redone, restored)]
    assert orders[0] == orders[1] == orders[2]
    assert not queue
    with pytest.raises(IndexError):
        queue.pop()


@pytest.mark.parametrize("seed", range(20))
def test_pages_whose_links_promise_the_same_take_the_same_turns_when_restored(seed: int) -> None:
    rng = Random(seed)
    queue = FairQueue()
    for number in range(100):
        link = LinkToFollow(f"u{number}", f"p{rng.randrange(4)}", rng.choice((0.3, 0.9)), cycle=number // 10)
        queue.push(link)
        if rng.random() < 0.4:
            assert queue.in_order()[0] == queue.pop()
    restored = FairQueue.load(queue.save())
    assert [queue.pop() for _ in range(len(queue))] == [restored.pop() for _ in range(len(restored))]


def test_a_page_with_more_links_than_can_be_followed_does_not_hold_up_others() -> None:
    front, quiet = ROOT + "front", ROOT + "quiet"
    watch = Watch([front, quiet], RoundRobin(), WatchSettings(per_cycle=2))
    strategy = SiteWatch(watch, value, SiteWatchSettings(follow_per_cycle=2))
    followed = []
    for hour in range(12):
        files = [f"{chr(97 + hour)}{number}.csv" for number in range(10)]
        shown = {"front": page(*files), "quiet": page(*["quiet.csv"] * (hour > 9))}
        asked = run_cycle(strategy, hour, lambda name, now=shown: now.get(name) or target())  # type: ignore[misc]
        followed.append(names(asked, FOLLOW))
    assert "quiet.csv" in followed[10]
    # What waits of the front page is not forgotten.
    assert [len(each) for each in followed[1:]] == [2] * 11


def test_of_a_page_with_more_links_than_can_be_followed_the_newest_are() -> None:
    watch = Watch([ROOT + "front"], RoundRobin(), WatchSettings(per_cycle=1))
    strategy = SiteWatch(watch, value, SiteWatchSettings(follow_per_cycle=2))
    for day in range(1, 8):
        files = [f"{'abcdefgh'[day]}{number}.csv" for number in range(4)]
        shown = page() if day == 1 else page(*files)
        asked = run_cycle(strategy, day, lambda name, now=shown: now if name == "front" else target())  # type: ignore[misc]
        # The top of a page comes first, and what was left behind before does not come in between.
        assert names(asked, FOLLOW) == ([] if day == 1 else files[:2])
    quiet = run_cycle(strategy, 8, lambda name: page() if name == "front" else target())
    assert names(quiet, FOLLOW) == ["h2.csv", "h3.csv"]


def test_newer_links_do_not_pass_much_better_ones() -> None:
    queue = FairQueue()
    queue.push(LinkToFollow("a table", ROOT, 0.9, cycle=1))
    queue.push(LinkToFollow("a story", ROOT, 0.2, cycle=2))
    assert [queue.pop().url, queue.pop().url] == ["a table", "a story"]


def test_a_followed_page_that_holds_several_files_is_watched_from_then_on() -> None:
    strategy = site_watch()
    run_cycle(strategy, 0, lambda _: page())
    files = ["1.csv", "2.csv", "3.csv"]

    def answers(name: str) -> Outcome:
        return {"": page("series.html"), "series.html": page(*files)}.get(name) or target()

    assert (FIRST_LOOK, "series.html") in run_cycle(strategy, 1, answers)
    run_cycle(strategy, 2, answers)
    assert names(run_cycle(strategy, 3, answers), EXPLORED) == ["series.html"]


def test_the_queue_keeps_the_best_and_counts_what_it_drops() -> None:
    queue = Following()
    for number in range(MOST_WAITING + 1):
        queue.push(LinkToFollow(f"{ROOT}{chr(97 + number % 26) * (number // 26 + 1)}", ROOT, number / 1e5))
    assert (len(queue), queue.dropped) == (MOST_WAITING * 9 // 10, MOST_WAITING + 1 - MOST_WAITING * 9 // 10)
    assert queue.pop().score == MOST_WAITING / 1e5


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("news/2026-05/12", "news/2025-11/7", True),
        ("a?sid=1", "a?sid=2", True),
        ("a?sid=1", "a?page=2", False),
        ("news/spring", "news/autumn", True),
        ("news/spring", "files/autumn", False),
    ],
)
def test_shapes(one: str, other: str, *, same: bool) -> None:
    assert (link_shape(ROOT + one) == link_shape(ROOT + other)) is same


def test_a_saved_site_watch_continues_as_if_nothing_had_been() -> None:
    def answers(name: str) -> Outcome:
        if name == "":
            return page("1.csv", "2.csv", "news.html")
        return page("deep.csv") if name == "news.html" else target()

    whole, stopped = (site_watch(files=["old.csv"], follow_per_cycle=1) for _ in range(2))
    for strategy in (whole, stopped):
        run_cycle(strategy, 0, lambda _: page())
        run_cycle(strategy, 1, answers)
    again = site_watch(files=["old.csv"], follow_per_cycle=1)
    again.load(unpack(pack(stopped.save())))
    for hour in range(2, 6):
        assert run_cycle(again, hour, answers) == run_cycle(whole, hour, answers)


def make(site: Site, _seed: int) -> SiteWatch:
    watch = Watch(
        [site.start_url], RoundRobin(), WatchSettings(per_cycle=1, every_seconds=30.0, cycles=4, cold=True)
    )
    return SiteWatch(watch, value, SiteWatchSettings(follow_per_cycle=9, check_per_cycle=2))


def test_contract() -> None:
    check_strategy(make, in_flight=[1, 4], revisits=True)


def listing(path: tuple[str, ...], *names: str) -> Page:
    links = LinkList([Link(ROOT + name, path) for name in names])
    return Page(200, 100, links, out_links=sorted(url_hash(url) for url in links.urls))


def test_sitemaps_that_robots_txt_names_are_watched_and_it_is_looked_at_once() -> None:
    watch = Watch([ROOT, ROOT + "robots.txt"], RoundRobin(), WatchSettings(per_cycle=3, misses_until_gone=3))
    strategy = SiteWatch(watch, value)
    answers: dict[str, Outcome] = {
        "": page(),
        "robots.txt": listing(SITEMAPS_OF_ROBOTS, "index.xml", "missing.xml"),
        "missing.xml": Failure(404, 0, "not found"),
        "index.xml": listing(SITEMAPS_OF_INDEX, "1.xml"),
        "1.xml": listing(PAGES_OF_SITEMAP, "old.csv"),
    }
    first = run_cycle(strategy, 0, answers.__getitem__)
    assert first == [(FIRST_LOOK, name) for name in ("", "robots.txt", "index.xml", "missing.xml", "1.xml")]
    answers["index.xml"] = listing(SITEMAPS_OF_INDEX, "1.xml", "2.xml")
    answers["2.xml"] = listing(PAGES_OF_SITEMAP, "new.csv")
    answers["new.csv"] = target()
    second = run_cycle(strategy, 1, answers.__getitem__)
    assert names(second, EXPLORED) == ["", "index.xml", "1.xml"]
    assert names(second, FOLLOW) == ["2.xml", "new.csv"]
    third = run_cycle(strategy, 2, answers.__getitem__) + run_cycle(strategy, 3, answers.__getitem__)
    assert "2.xml" in names(third, EXPLORED)


def test_a_barren_page_makes_room_for_a_discovered_one() -> None:
    watch = Watch([ROOT, ROOT + "barren"], RoundRobin(), WatchSettings(per_cycle=2, misses_until_gone=3))
    strategy = SiteWatch(watch, value, SiteWatchSettings(most_pages=2))
    files = ["1.csv", "2.csv", "3.csv"]
    run_cycle(strategy, 0, lambda _: page())

    def answers(name: str) -> Outcome:
        found = {"": page(f"n{hour}"), "barren": page(), "series": page(*files)}
        return found.get(name) or (target() if name.endswith("csv") else page())

    for hour in range(1, VISITS_UNTIL_BARREN + 1):
        run_cycle(strategy, hour, answers)
    hour = VISITS_UNTIL_BARREN + 1
    run_cycle(strategy, hour, lambda name: page("series") if not name else answers(name))
    assert names(run_cycle(strategy, hour + 1, answers), EXPLORED) == ["", "series"]
    assert watch.watched_count == 2


def dated(**dates: float) -> Page:
    links = LinkList([Link(ROOT + name, PAGES_OF_SITEMAP) for name in dates])
    hashes = sorted(url_hash(url) for url in links.urls)
    return Page(200, 100, links, {"entry_dates": [[ROOT + name, at] for name, at in dates.items()]}, hashes)


def watch_of_dates(per_cycle: int) -> SiteWatch:
    urls = [ROOT + name for name in ("s.xml", "a", "b", "c", "d", "e")]
    return SiteWatch(Watch(urls, RoundRobin(), WatchSettings(per_cycle=per_cycle)), value)


def test_a_page_that_a_sitemap_dates_later_is_visited_before_others() -> None:
    strategy = watch_of_dates(2)
    dates = dict.fromkeys("abcde", 1.0)
    answers = {"s.xml": dated(**dates)}
    run_cycle(strategy, 0, lambda name: answers.get(name) or page())
    answers["s.xml"] = dated(**{**dates, "d": 2.0, "e": 2.0})
    first = run_cycle(strategy, 1, lambda name: answers.get(name) or page())
    # Of two visits, one goes to what has changed.
    assert first == [(EXPLORED, "s.xml"), (DATED, "d")]
    again = watch_of_dates(2)
    again.load(unpack(pack(strategy.save())))
    for each in (strategy, again):
        second = run_cycle(each, 2, lambda name: answers.get(name) or page())
        assert second == [(DATED, "e"), (EXPLORED, "a")]


def test_a_sitemap_that_dates_everything_anew_is_not_believed_for_ever() -> None:
    strategy = watch_of_dates(2)
    whys = []
    for hour in range(120):
        sitemap = dated(**dict.fromkeys("abcde", hour * HOUR + 1))
        whys += run_cycle(strategy, hour, lambda name, now=sitemap: now if name == "s.xml" else page())  # type: ignore[misc]
    dated_visits = [place for place, (why, _) in enumerate(whys) if why == DATED]
    assert 5 <= len(dated_visits) <= 20
    assert dated_visits[-1] < len(whys) / 2


def test_a_date_far_ahead_does_not_hide_the_true_ones_after_it() -> None:
    strategy = watch_of_dates(6)
    whys = [
        run_cycle(strategy, hour, lambda name, date=date: dated(e=date) if name == "s.xml" else page())  # type: ignore[misc]
        for hour, date in enumerate((1.0, 1e10, HOUR + 2))
    ]
    assert [names(why, DATED) for why in whys] == [[], [], ["e"]]


def test_a_page_that_was_visited_in_the_same_cycle_is_not_prioritised() -> None:
    strategy = watch_of_dates(6)
    answers = {"s.xml": dated(a=1.0)}
    run_cycle(strategy, 0, lambda name: answers.get(name) or page())
    # The sitemap is the last page of the cycle.
    strategy.watch.visits.requested_at[0] += 1
    answers["s.xml"] = dated(a=2.0)
    run_cycle(strategy, 1, lambda name: answers.get(name) or page())
    assert names(run_cycle(strategy, 2, lambda name: answers.get(name) or page()), DATED) == []


def test_a_day_and_a_time_of_one_change_prioritise_a_page_once() -> None:
    day, feed = 24 * HOUR, dated(a=1.0)
    for first, second in ((day, day + 9.5 * HOUR), (day + 9.5 * HOUR, day)):
        urls = [ROOT + name for name in ("s.xml", "feed.xml", "a", "b", "c", "d")]
        strategy = SiteWatch(Watch(urls, RoundRobin(), WatchSettings(per_cycle=4)), value)
        answers = {"s.xml": dated(a=1.0), "feed.xml": feed}
        told = []
        for hour in range(40):
            if hour == 34:
                answers["s.xml"] = dated(a=first)
            if hour == 38:
                answers["feed.xml"] = dated(a=second)
            told += names(run_cycle(strategy, hour, lambda name, now=answers: now.get(name) or page()), DATED)  # type: ignore[misc]
        assert told == ["a"]


def test_a_day_that_has_begun_in_the_east_only_is_that_of_the_time_before_it() -> None:
    """In Australia it is the next day already when a page changes shortly before midnight in UTC."""
    midnight = 48 * HOUR
    changed = midnight - 0.1 * HOUR
    for first, second in ((changed, midnight), (midnight, changed)):
        urls = [ROOT + name for name in ("s.xml", "feed.xml", "a", "b", "c", "d")]
        strategy = SiteWatch(Watch(urls, RoundRobin(), WatchSettings(per_cycle=4)), value)
        told = []
        for hour in range(60):
            answers = {
                "s.xml": dated(a=first if hour >= 48 else 1.0),
                "feed.xml": dated(a=second if hour >= 52 else 1.0),
            }
            told += names(run_cycle(strategy, hour, lambda name, now=answers: now.get(name) or page()), DATED)  # type: ignore[misc]
        assert told == ["a"]


def test_a_time_before_the_visit_prioritises_nothing_where_a_cycle_takes_a_day() -> None:
    day = 24 * HOUR
    urls = [ROOT + name for name in ("s.xml", "feed.xml", "a", "b", "c", "d")]
    strategy = SiteWatch(Watch(urls, RoundRobin(), WatchSettings(per_cycle=4, every_seconds=day)), value)
    # It changes at two, and is visited at three because of the sitemap; the feed tells a day later.
    sitemap, feed = [1.0, *[day] * 4], [1.0, 1.0, *[day + 2 * HOUR] * 3]
    told = []
    for number in range(5):
        now = number * day + 3 * HOUR
        answers = {ROOT + "s.xml": dated(a=sitemap[number]), ROOT + "feed.xml": dated(a=feed[number])}
        while isinstance(request := strategy.choose(now, EVERY_HOST), Request):
            told += [(number, request.url)] if request.arm == DATED else []
            strategy.observe(request.id, answers.get(request.url) or page(), now)
    assert told == [(1, ROOT + "a")]


def test_a_day_prioritises_a_page_that_was_visited_on_that_day() -> None:
    strategy = watch_of_dates(6)
    for hour in range(24, 27):
        sitemap = dated(e=24 * HOUR if hour > 25 else 1.0)
        asked = run_cycle(strategy, hour, lambda name, now=sitemap: now if name == "s.xml" else page())  # type: ignore[misc]
    assert names(asked, DATED) == ["e"]
