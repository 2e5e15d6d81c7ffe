from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares import cookies
from scrapy.http import Response

from coati.live.cookies import MAX_COOKIES, MAX_DOMAIN_COOKIES, BoundedCookiesMiddleware
from coati.live.engine_settings import engine_settings
from coati.live.plan import CrawlPlan
from coati.strategies.baselines.simple_orders import breadth_first
from coati.web.rules import Rules
from tests.live.crawling import crawl_from
from tests.live.scripted import Exchange, Route, page, scripted

START = "http://a.test/"


def test_nobody_is_asked_for_the_list_of_public_suffixes() -> None:
    split = cookies._split_domain  # noqa: SLF001 - what Scrapy itself uses
    assert split.suffix_list_urls == ()
    assert split("data.example.co.uk").suffix == "co.uk"


def test_crawls_use_it() -> None:
    plan = CrawlPlan(new_strategy=lambda: breadth_first([START]), rules=Rules(START))
    middlewares = engine_settings(plan)["DOWNLOADER_MIDDLEWARES"]
    name = f"{BoundedCookiesMiddleware.__module__}.{BoundedCookiesMiddleware.__qualname__}"
    assert name in middlewares


def jar_after(*answers: tuple[str, str]) -> BoundedCookiesMiddleware:
    """Let hosts set cookies, in order."""
    middleware = BoundedCookiesMiddleware()
    for url, cookie in answers:
        middleware.process_response(Request(url), Response(url, headers={"Set-Cookie": cookie}))
    return middleware


def sent(middleware: BoundedCookiesMiddleware, url: str) -> dict[str, str]:
    request = Request(url)
    middleware.process_request(request)
    header = (request.headers.get("Cookie") or b"").decode()
    return dict(pair.split("=", 1) for pair in header.split("; ") if pair)


def test_what_a_domain_sets_is_bounded_and_the_oldest_go_first() -> None:
    middleware = jar_after(*((f"http://h{n % 7}.a.test/", f"c{n}={n}; Domain=a.test") for n in range(500)))
    assert list(sent(middleware, START)) == [f"c{n}" for n in range(500 - MAX_DOMAIN_COOKIES, 500)]


def test_long_cookies_are_bounded_together() -> None:
    middleware = jar_after(*((START, f"c{n}={'x' * 1000}") for n in range(50)), (START, f"huge={'x' * 9000}"))
    cookies = sent(middleware, START)
    assert list(cookies) == ["c46", "c47", "c48", "c49"]


def test_a_cookie_that_is_set_again_is_young_and_stands_once() -> None:
    middleware = jar_after((START, "first=1"), *((START, f"c{n}={n}") for n in range(49)), (START, "first=2"))
    middleware.process_response(Request(START), Response(START, headers={"Set-Cookie": "new=1"}))
    cookies = sent(middleware, START)
    assert len(cookies) == MAX_DOMAIN_COOKIES
    assert cookies["first"] == "2"
    assert "c0" not in cookies


def test_all_domains_together_are_bounded() -> None:
    middleware = jar_after(*((f"http://site{n}.test/", "a=1") for n in range(MAX_COOKIES + 10)))
    assert sum(len(jar) for jar in middleware.jars.values()) == MAX_COOKIES
    assert sent(middleware, "http://site9.test/") == {}
    assert sent(middleware, "http://site10.test/") == {"a": "1"}


def test_what_was_given_goes_to_its_origin_unless_the_site_sets_it_anew() -> None:
    middleware = jar_after((START, "lang=en"))
    middleware.given, middleware.given_for = {"id": "7", "lang": "fr"}, "http://a.test"
    assert sent(middleware, START) == {"lang": "en", "id": "7"}
    for url in ("https://a.test/", "http://a.test:8080/", "http://b.a.test/"):
        assert "id" not in sent(middleware, url)


def test_behind_a_limit_of_headers_a_site_that_sets_many_cookies_is_crawled_whole() -> None:
    def numbered(number: int) -> Route:
        def route(exchange: Exchange) -> None:
            too_long = sum(len(name) + len(value) for name, value in exchange.headers.items()) > 8000
            body = f"<a href=/{number + 1}>next</a>" if number < 120 else ""
            exchange.answer(431 if too_long else 200, body, Set_Cookie=f"visit{number}={'x' * 200}; Path=/")

        return route

    with scripted({"/": page("/0"), **{f"/{number}": numbered(number) for number in range(121)}}) as server:
        crawled = crawl_from(server.start, robots=False)
    assert crawled.result.progress.pages == 122
