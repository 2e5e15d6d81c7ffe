import pytest

from coati.live import StopReason
from coati.live.outcomes import forbids_following
from coati.live.robots import MAX_RULES_BYTES
from tests.live.crawling import crawl_from
from tests.live.plain_spider import run_spider
from tests.live.scripted import Exchange, Route, answer, page, scripted

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


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_error_forbids_everything(status: int) -> None:
    # Its body must not be taken for rules that allow.
    def fails(exchange: Exchange) -> None:
        exchange.answer(status, body="User-agent: *\nAllow: /\n", media_type="text/plain", Retry_After="0")

    with scripted({**SITE, "/robots.txt": fails}) as server:
        crawled = crawl_from(server.start, max_delay_seconds=0.1)
    assert set(server.paths) == {"/robots.txt"}
    assert crawled.result.stop is StopReason.REFUSED
    assert crawled.result.first_failure == "robots.txt"


def test_no_answer_forbids_everything() -> None:
    with scripted({**SITE, "/robots.txt": lambda exchange: exchange.raw(b"")}) as server:
        crawled = crawl_from(server.start)
    assert set(server.paths) == {"/robots.txt"}
    assert crawled.result.stop is StopReason.REFUSED


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
