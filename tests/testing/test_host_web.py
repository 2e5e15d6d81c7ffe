"""The generated web of many hosts: the same from the same seed, whole, and like the paper's data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coati.errors import ConfigError
from coati.model import EVERY_HOST, Failure, Method, Page, Refused, Request
from coati.strategies.hosts.anthelion import random_host
from coati.testing.host_web import MIXED, POOR, RICH, HostWeb
from coati.testing.web_parameters import WebParameters

WEB = HostWeb(WebParameters.at_scale(0.001), seed=3)


def pages(web: HostWeb) -> list[tuple[int, int]]:
    return [(host, page) for host in range(web.hosts) for page in range(int(web.sizes[host]))]


def statements(web: HostWeb, host: int, page: int) -> list[int]:
    markup: Any = web.facts(host, page)["markup"]
    return [markup["statements"][syntax] for syntax in ("microdata", "rdfa", "microformats")]


def test_the_same_seed_gives_the_same_web() -> None:
    again, other = (HostWeb(WebParameters.at_scale(0.001), seed=seed) for seed in (3, 4))
    places = pages(WEB)[::17]
    assert [WEB.url(*place) for place in places] == [again.url(*place) for place in places]
    assert [WEB.facts(*place) for place in places] == [again.facts(*place) for place in places]
    assert [WEB.links(*place) for place in places] == [again.links(*place) for place in places]
    assert WEB.start_urls == again.start_urls != other.start_urls


def test_an_address_finds_its_page_and_no_two_are_alike() -> None:
    places = pages(WEB)
    urls = [WEB.url(*place) for place in places]
    assert len(set(urls)) == len(urls) == WEB.pages
    assert [WEB.find(url) for url in urls] == places


@pytest.mark.parametrize(
    "url",
    [
        "http://bababa0.example/none",
        "http://elsewhere.test/",
        "http://bababa999999.example/",
        WEB.url(0, 0).replace("0.example", "0.example/shop/ba-ba-1001.html"),
    ],
)
def test_what_is_not_there_is_not_found(url: str) -> None:
    assert WEB.respond(Request(0, Method.GET, url)) == Failure(404, 0, "HTTP 404")


def test_a_page_says_whether_it_is_relevant() -> None:
    for host, page in pages(WEB)[::29]:
        url = WEB.url(host, page)
        outcome = WEB.respond(Request(0, Method.GET, url))
        assert isinstance(outcome, Page)
        assert outcome.relevant == WEB.relevant(url)
        assert outcome.links.urls == WEB.links(host, page)
        assert all(WEB.find(link) is not None for link in outcome.links.urls)
    assert isinstance(WEB.respond(Request(0, Method.HEAD, WEB.start_urls[0])), Refused)


@pytest.mark.parametrize("goal", ["classic", "microdata>=5"])
def test_its_relevant_pages_are_counted(goal: str) -> None:
    web = HostWeb(WebParameters.at_scale(0.001), seed=3, goal=goal)
    assert web.relevant_pages() == sum(web.relevant(web.url(*place)) for place in pages(web)) > 0


def test_nearly_every_page_can_be_reached() -> None:
    crawl = random_host(WEB.start_urls, 1)
    reached = 0
    while isinstance(request := crawl.choose(float(reached), EVERY_HOST), Request):
        crawl.observe(request.id, WEB.respond(request), float(reached))
        reached += 1
    assert reached > 0.95 * WEB.pages


def test_the_figures_of_the_paper() -> None:
    web = HostWeb(WebParameters.at_scale(0.01), seed=1)
    assert web.pages / web.hosts == pytest.approx(5_500_000 / 456_000, rel=0.02)
    chosen = [web.page_at(number) for number in range(0, web.pages, 23)]
    counts = np.array([statements(web, *place) for place in chosen])
    assert (counts.sum(axis=1) > 0).mean() == pytest.approx(0.274, abs=0.06)
    assert (counts[:, 0] >= 5).mean() == pytest.approx(0.0325, abs=0.02)
    # Half of the hosts have one page, and the hundredth part of them half of all pages or so.
    largest = np.sort(web.sizes)[-web.hosts // 100 :]
    assert 0.25 < largest.sum() / web.pages < 0.75


def test_hosts_are_mostly_all_or_nothing() -> None:
    shares = {POOR: 0.0, RICH: 0.0, MIXED: 0.0}
    web = HostWeb(WebParameters.at_scale(0.002), seed=2)
    for sort in shares:
        hosts = [host for host in np.flatnonzero(web.sorts == sort).tolist() if web.sizes[host] >= 5]
        shares[sort] = float(
            np.mean([web.relevant(web.url(host, page)) for host in hosts for page in range(5)])
        )
    assert shares[POOR] < 0.05
    assert shares[RICH] > 0.9
    assert 0.2 < shares[MIXED] < 0.8


def test_goals_are_those_of_a_harvest() -> None:
    strict = HostWeb(WebParameters.at_scale(0.001), seed=3, goal="microdata>=5")
    urls = [WEB.url(*place) for place in pages(WEB)]
    assert 0 < sum(map(strict.relevant, urls)) < sum(map(WEB.relevant, urls))


def test_examples_are_drawn_from_all_pages() -> None:
    sample = list(WEB.sample(400, seed=1))
    assert [example.relevant for example in sample] == [WEB.relevant(example.page.url) for example in sample]
    assert len({example.page.url for example in sample}) > 300
    assert {example.page.parent for example in sample} == {None, True, False}


def test_a_scale_that_makes_no_sense_is_refused() -> None:
    for scale in (0.0, 1.5, 0.00001):
        with pytest.raises(ConfigError, match="scale"):
            WebParameters.at_scale(scale)
