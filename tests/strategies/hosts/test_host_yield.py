"""Our strategy over many hosts: what a host is worth, and in which order hosts are tried."""

from __future__ import annotations

from math import exp, log

import pytest

from coati.model import EVERY_HOST, Link, LinkList, Outcome, Page, Request
from coati.strategies.hosts.host_yield import HostYield, HostYieldSettings, ShrunkShares
from coati.strategies.hosts.page_features import FoundPage
from tests.strategies.hosts.small_web import crawl, small_web


def page(*urls: str, relevant: bool = False) -> Page:
    return Page(200, 1, LinkList([Link(url, ("a",)) for url in urls]), relevant=relevant)


def asked(strategy: HostYield, outcomes: dict[str, Outcome], most: int = 100) -> list[str]:
    urls: list[str] = []
    while len(urls) < most and isinstance(request := strategy.choose(0.0, EVERY_HOST), Request):
        urls.append(request.url)
        strategy.observe(request.id, outcomes.get(request.url, page()), 0.0)
    return urls


def test_a_share_is_that_of_the_section_the_host_and_the_address() -> None:
    shares = ShrunkShares(HostYieldSettings(address_weight=1.0, host_weight=2.0))
    first = FoundPage("http://a.example/shop/one")
    assert shares.promise(first) == 0.0
    shares.learn(first, relevant=True)
    # The regression has learnt as well; what it says of an address without known words and with its parent's
    # place is what a host with nothing else would get.
    unknown = FoundPage("http://a.example/blog/two")
    alone = ShrunkShares(HostYieldSettings(address_weight=1e9, host_weight=0.0))
    alone.learn(first, relevant=True)
    by_address = 1 / (1 + exp(-alone.promise(unknown)))
    host = (1 + by_address) / 2
    assert shares.promise(unknown) == pytest.approx(log(host / (1 - host)), abs=1e-3)


def test_a_section_outweighs_its_host() -> None:
    shares = ShrunkShares(HostYieldSettings())
    for number in range(5):
        shares.learn(FoundPage(f"http://a.example/shop/{number}"), relevant=True)
        shares.learn(FoundPage(f"http://a.example/forum/{number}"), relevant=False)
    shop, forum, other = (
        shares.promise(FoundPage(f"http://a.example/{name}/new")) for name in ("shop", "forum", "blog")
    )
    assert shop > other > forum
    assert (shares.counted("a.example"), shares.counted("b.example")) == (10, 0)


def test_a_host_that_gave_something_goes_before_unknown_ones() -> None:
    rich = [f"http://rich.example/shop/{number}" for number in range(4)]
    outcomes: dict[str, Outcome] = {url: page(relevant=True) for url in rich}
    urls = asked(HostYield([rich[0], "http://b.example/x/1", *rich[1:]], 1), outcomes)
    good = [url for url in urls if url in rich]
    # Once its first page was relevant the others follow at once.
    assert urls[urls.index(good[0]) : urls.index(good[0]) + 4] == good


def test_of_unknown_hosts_the_one_with_more_pages_is_tried_first() -> None:
    many = [f"http://many.example/x/{number}" for number in range(8)]
    start = "http://start.example/"
    outcomes: dict[str, Outcome] = {start: page("http://one.example/x/0", *many, "http://two.example/x/0")}
    urls = asked(HostYield([start], 1), outcomes, most=2)
    assert urls[1] in many


def test_a_host_that_gave_nothing_is_left() -> None:
    poor = [f"http://poor.example/x/{number}" for number in range(9)]
    others = [f"http://other{number}.example/x/0" for number in range(3)]
    urls = asked(HostYield([*poor, *others], 1), {})
    assert set(urls[:6]) > set(others)


def test_requests_in_flight_go_to_different_hosts() -> None:
    urls = [f"http://{name}.example/x/{number}" for name in ("a", "b", "c") for number in range(3)]
    strategy = HostYield(urls, 1)
    requests = [strategy.choose(0.0, EVERY_HOST) for _ in range(3)]
    assert len({request.arm for request in requests if isinstance(request, Request)}) == 3


def test_sections_of_a_mixed_host_are_distinguished() -> None:
    shop = [f"http://a.example/shop/{number}" for number in range(6)]
    forum = [f"http://a.example/forum/{number}" for number in range(6)]
    mixed = [url for pair in zip(shop, forum, strict=True) for url in pair]
    urls = asked(HostYield(mixed, 1), {url: page(relevant=True) for url in shop})
    assert set(urls[:8]) >= set(shop)


def test_every_page_is_fetched_once() -> None:
    web = small_web()
    urls = [request.url for request in crawl(HostYield(web.start_urls, 1), web)]
    assert len(urls) == len(set(urls))
    assert set(urls) == {link for url in urls for link in web.pages[url][1]} | set(web.start_urls)
