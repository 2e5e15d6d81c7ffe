import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from coati.live import EventKind, StopReason
from coati.live.outcomes import forbids_following
from coati.live.robots import MAX_RULES_BYTES
from coati.web.rules import Rules, Scope
from tests.live.crawling import crawl_from, crawl_into
from tests.live.plain_spider import run_spider
from tests.live.scripted import Exchange, Route, answer, in_turn, page, scripted

SITE = {"/": page("/open", "/closed/a"), "/open": page(), "/closed/a": page()}
RULES = "User-agent: *\nDisallow: /closed/\n"


def rules(text: str) -> Route:
    return lambda exchange: exchange.answer(body=text, media_type="text/plain")


def test_what_is_forbidden_is_not_asked_for_costs_nothing_and_is_listed() -> None:
    with scripted({**SITE, "/robots.txt": rules(RULES)}) as server:
        crawled = crawl_from(server.start)
    assert server.paths == ["/robots.txt", "/", "/open"]
    assert crawled.skipped == {server.base + "/closed/a": "robots.txt"}
    progress = crawled.result.progress
    assert (progress.requests, progress.refused, progress.robots_requests) == (2, 1, 1)


def test_rules_for_us_by_name_come_first() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: coati\nDisallow: /open\n"
    with scripted({**SITE, "/robots.txt": rules(text)}) as server:
        crawled = crawl_from(server.start)
    assert list(crawled.skipped) == [server.base + "/open"]


@pytest.mark.parametrize("banned", ["coati", "mybot"])
def test_another_name_is_told_and_escapes_no_rules(banned: str) -> None:
    text = f"User-agent: *\nDisallow:\n\nUser-agent: {banned}\nDisallow: /open\n"
    with scripted({**SITE, "/robots.txt": rules(text)}) as server:
        crawled = crawl_from(server.start, agent="MyBot/2.0", contact="us@example.org")
    assert list(crawled.skipped) == [server.base + "/open"]
    assert {asked.headers["user-agent"] for asked in server.asked} == {"MyBot/2.0 (+us@example.org)"}


@pytest.mark.parametrize("named", ["coati", "mybot"])
def test_tags_for_any_of_our_names_are_kept(named: str) -> None:
    def tagged(exchange: Exchange) -> None:
        exchange.answer(body="<a href=/b>b</a>", X_Robots_Tag=f"{named}: nofollow")

    with scripted({"/": page("/a"), "/a": tagged, "/b": page()}) as server:
        crawled = crawl_from(server.start, agent="MyBot/2.0")
    assert server.base + "/b" in crawled.skipped


def test_the_longest_delay_for_any_of_our_names_is_kept() -> None:
    text = "User-agent: coati\nCrawl-delay: 0.02\n\nUser-agent: mybot\nCrawl-delay: 0.05\n"
    with scripted({**SITE, "/robots.txt": rules(text)}) as server:
        crawled = crawl_from(server.start, agent="MyBot/2.0")
    asked = [event.data["seconds"] for event in crawled.events if event.what is EventKind.WAITING]
    assert 0.05 in asked


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_error_forbids_everything_but_is_no_refusal(status: int) -> None:
    # Its body must not be taken for rules that allow.
    def fails(exchange: Exchange) -> None:
        exchange.answer(status, body="User-agent: *\nAllow: /\n", media_type="text/plain", Retry_After="0")

    with scripted({**SITE, "/robots.txt": fails}) as server:
        crawled = crawl_from(server.start, max_delay_seconds=0.1)
    assert server.paths == ["/robots.txt"] * 3
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "robots.txt could not be fetched"
    assert crawled.result.progress.requests == 0


def test_rules_that_come_at_the_second_try_are_rules() -> None:
    busy = in_turn(answer(503, Retry_After="0"), rules(RULES))
    with scripted({**SITE, "/robots.txt": busy}) as server:
        crawled = crawl_from(server.start, max_delay_seconds=0.1)
    assert server.paths == ["/robots.txt", "/robots.txt", "/", "/open"]
    assert crawled.result.stop is StopReason.FINISHED
    assert crawled.result.progress.requests == 2


def test_no_answer_forbids_everything_but_is_no_refusal() -> None:
    with scripted({**SITE, "/robots.txt": lambda exchange: exchange.raw(b"")}) as server:
        crawled = crawl_from(server.start)
    assert set(server.paths) == {"/robots.txt"}
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "connection lost"
    assert crawled.result.progress.requests == 0


def test_a_host_that_is_not_there_is_unreachable(own_port: int) -> None:
    crawled = crawl_from(f"http://127.0.0.1:{own_port}/")
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.stop.exit_code == 3
    assert crawled.result.first_failure == "connection refused"
    assert (crawled.result.progress.failures, crawled.result.progress.deferred) == (0, 1)


def test_a_name_that_nobody_knows_is_unreachable() -> None:
    crawled = crawl_from("http://nobody.invalid/", allow_private=True)
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "host not found"


def test_rules_that_do_not_come_in_time_are_no_refusal() -> None:
    def hangs(exchange: Exchange) -> None:
        exchange.connection.recv(1)
        exchange.close_connection = True

    with scripted({**SITE, "/robots.txt": hangs}) as server:
        crawled = crawl_from(server.start, answer_timeout_seconds=0.3)
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "no response in time"


def test_resuming_while_the_site_is_away_loses_nothing(tmp_path: Path, own_port: int) -> None:
    wide = {"/": page(*(f"/{number}" for number in range(50))), "*": page()}
    with scripted(wide, port=own_port) as server:
        crawl_into(tmp_path / "run", server.start, max_requests=5)
        start = server.start
    for _ in range(3):
        crawled = crawl_into(tmp_path / "run", start, max_delay_seconds=0.01)
        assert crawled.result.stop is StopReason.SITE_SILENT
        assert crawled.result.stop.resumable
        assert (crawled.result.progress.failures, crawled.result.progress.requests) == (0, 5)
    with scripted(wide, port=own_port):
        crawled = crawl_into(tmp_path / "run", start, max_delay_seconds=0.01)
    assert crawled.result.stop is StopReason.FINISHED
    assert (crawled.result.progress.pages, crawled.result.progress.deferred) == (51, 0)


def test_a_host_that_never_was_there_is_tried_a_few_times_and_ends_no_crawl() -> None:
    gone = [f"http://127.0.0.2:1/{number}" for number in range(30)]
    with scripted({"/": page(*gone, "/open"), "/open": page()}) as server:
        crawled = crawl_from(server.start, rules=Rules(server.start, Scope.ANY), retries=2)
    assert crawled.result.stop is StopReason.FINISHED
    assert crawled.result.progress.failures == 30
    # One for the host that is there, and not one for each address of the other.
    assert 2 <= crawled.result.progress.robots_requests <= 5
    assert crawled.result.progress.requests == 2


def test_another_host_that_is_not_there_costs_nothing() -> None:
    with scripted({"/": page("http://127.0.0.1:1/a", "/open"), "/open": page()}) as server:
        crawled = crawl_from(server.start)
    assert crawled.result.progress.pages == 2


@pytest.mark.parametrize("status", [404, 403, 410])
def test_no_rules_allow_everything(status: int) -> None:
    def missing(exchange: Exchange) -> None:
        exchange.answer(status, body=RULES, media_type="text/plain")

    with scripted({**SITE, "/robots.txt": missing}) as server:
        crawl_from(server.start)
    assert set(server.paths) == {"/robots.txt", *SITE}


def test_redirected_rules_are_rules() -> None:
    moved = {"/robots.txt": answer(301, Location="/rules"), "/rules": answer(302, Location="/rules.txt")}
    with scripted({**SITE, **moved, "/rules.txt": rules(RULES)}) as server:
        crawled = crawl_from(server.start)
    assert "/closed/a" not in server.paths
    assert crawled.result.progress.robots_requests == 3


def test_endless_redirects_of_rules_are_no_rules() -> None:
    with scripted({**SITE, "/robots.txt": answer(301, Location="/robots.txt?")}) as server:
        crawled = crawl_from(server.start, max_redirects=4)
    assert crawled.result.progress.pages == 3


def test_of_very_long_rules_the_beginning_counts() -> None:
    filler = "# nothing to see here\n" * (2 * MAX_RULES_BYTES // 22)
    with scripted({**SITE, "/robots.txt": rules(RULES + filler + "Disallow: /open\n")}) as server:
        crawl_from(server.start)
    assert server.paths == ["/robots.txt", "/", "/open"]


def test_without_robots_nobody_asks() -> None:
    with scripted({**SITE, "/robots.txt": rules("User-agent: *\nDisallow: /\n")}) as server:
        crawl_from(server.start, robots=False)
    assert server.paths == list(SITE)


def test_alone_in_a_spider_a_server_error_forbids() -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"coati.live.robots.RobotsAnswerMiddleware": 110},
        "ROBOTSTXT_OBEY": True,
        "RETRY_ENABLED": False,
    }
    with scripted({**SITE, "/robots.txt": answer(503)}) as server:
        spider = run_spider([server.start], settings)
    assert server.paths == ["/robots.txt"]
    assert [str(error) for error in spider.errors] == ["Forbidden by robots.txt"]


@pytest.mark.parametrize(
    ("values", "forbidden"),
    [
        (["nofollow"], True),
        (["NoIndex, NoFollow"], True),
        (["none"], True),
        (["noindex"], False),
        (["otherbot: nofollow"], False),
        (["coati: nofollow"], True),
        (["otherbot: none", "noindex, nofollow"], True),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST"], False),
        (["", ":", ","], False),
    ],
)
def test_robots_tags_are_read(values: list[str], *, forbidden: bool) -> None:
    assert forbids_following(values) is forbidden


def test_links_are_not_followed_where_a_page_asks_for_it() -> None:
    meta = '<meta name="robots" content="nofollow"><a href=/c>'
    routes = {
        "/": page("/a", "/b"),
        "/a": lambda exchange: exchange.answer(body="<a href=/c>", X_Robots_Tag="noindex, nofollow"),
        "/b": lambda exchange: exchange.answer(body=meta.replace("/c", "/d")),
    }
    with scripted(routes) as server:
        crawled = crawl_from(server.start)
    assert server.paths == ["/robots.txt", "/", "/a", "/b"]
    assert crawled.skipped == {server.base + "/c": "X-Robots-Tag", server.base + "/d": "nofollow"}


def rows_of_rules(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        return database.execute("SELECT url, status, reason FROM robots ORDER BY id").fetchall()


def test_what_came_for_robots_is_in_the_log(tmp_path: Path) -> None:
    busy = in_turn(answer(503, Retry_After="0"), rules(RULES))
    with scripted({**SITE, "/robots.txt": busy}) as server:
        crawled = crawl_into(tmp_path / "run", server.start, max_delay_seconds=0.1)
    url = server.base + "/robots.txt"
    assert rows_of_rules(tmp_path / "run") == [
        (url, 503, "robots.txt could not be fetched"),
        (url, 200, None),
    ]
    assert [told["status"] for told in crawled.told(EventKind.ROBOTS)] == [503, 200]
