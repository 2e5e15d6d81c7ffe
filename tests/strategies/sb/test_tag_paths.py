from __future__ import annotations

import pytest

from coati.assembly import StrategySettings, build_strategy
from coati.model import (
    NO_LINKS,
    Failure,
    Link,
    LinkList,
    Method,
    Page,
    Redirect,
    Target,
)
from coati.strategies.sb.tag_paths import TagPathSettings, TagPathStrategy
from coati.strategies.sb.url_classes import LearntClasses
from coati.strategies.strategy import Strategy
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask, must_ask
from tests.strategies.sb.literal_sb import LiteralCrawl

START = "http://a.test/"


def drive(strategy: Strategy, responder: Responder) -> tuple[list[tuple[str, str]], dict[int, float]]:
    order, rewards = [], {}
    while (request := ask(strategy)) is not None:
        order.append((request.method.value, request.url))
        for settlement in strategy.observe(request.id, responder.outcome(request), 0.0):
            rewards[settlement.request_id] = settlement.reward
    return order, rewards


@pytest.mark.parametrize("seed", range(6))
def test_same_requests_and_rewards_as_the_literal_text(seed: int) -> None:
    site = generate_site(SiteParameters(pages=150), seed)
    responder = Responder(site)
    literal = LiteralCrawl(site.start_url, responder.outcome, seed)
    order, rewards = drive(build_strategy("sb-classifier", [site.start_url], seed), responder)
    assert order == literal.order
    assert rewards == literal.rewards
    assert len(order) > 150


def page(*urls: str, path: tuple[str, ...] = ("html", "a")) -> Page:
    return Page(200, 100, LinkList([Link(url, path) for url in urls]))


def test_first_links_are_requested_with_head_until_a_batch_of_examples_is_there() -> None:
    strategy = TagPathStrategy([START], LearntClasses(batch=3))
    links = [f"{START}{i}.html" for i in range(6)]
    strategy.observe(must_ask(strategy).id, page(*links), 0.0)
    methods = []
    for _ in range(3):
        request = must_ask(strategy)
        methods.append(request.method)
        strategy.observe(request.id, Page(200, 0, NO_LINKS), 0.0)
    assert methods == [Method.HEAD] * 3
    assert must_ask(strategy).method is Method.GET


def test_a_head_that_fails_drops_the_link_and_is_not_an_example() -> None:
    strategy = TagPathStrategy([START], LearntClasses(batch=1))
    strategy.observe(must_ask(strategy).id, page(START + "dead", START + "live"), 0.0)
    dead = must_ask(strategy)
    strategy.observe(dead.id, Failure(404, 0, "status 404"), 0.0)
    live = must_ask(strategy)
    assert (live.method, live.url) == (Method.HEAD, START + "live")
    strategy.observe(live.id, Page(200, 0, NO_LINKS), 0.0)
    assert must_ask(strategy).url == START + "live"


def test_a_target_told_by_head_is_fetched_at_once_and_pays_its_page() -> None:
    strategy = TagPathStrategy([START], LearntClasses(batch=2))
    root = must_ask(strategy)
    strategy.observe(root.id, page(START + "a.csv", START + "b.html"), 0.0)
    strategy.observe(must_ask(strategy).id, Target(200, 0, "text/csv"), 0.0)
    fetch = must_ask(strategy)
    assert (fetch.method, fetch.url) == (Method.GET, START + "a.csv")
    strategy.observe(fetch.id, Target(200, 10, "text/csv"), 0.0)
    settled = strategy.observe(must_ask(strategy).id, Page(200, 0, NO_LINKS), 0.0)
    assert [(s.request_id, s.reward) for s in settled] == [(root.id, 1)]


def test_redirect_to_a_known_url_ends_there() -> None:
    strategy = TagPathStrategy([START], LearntClasses())
    strategy.observe(must_ask(strategy).id, Redirect(301, 0, START), 0.0)
    assert ask(strategy) is None


def test_counting_pulls_at_pages_keeps_returning_to_dead_links() -> None:
    """The published code's way, which our default avoids: a group of dead links looks untried."""
    dead = [f"{START}dead{i}.html" for i in range(30)]
    live = [f"{START}live{i}.html" for i in range(30)]

    def first_live(settings: TagPathSettings) -> int:
        strategy = TagPathStrategy([START], LearntClasses(batch=1), settings=settings)
        links = [Link(START + "x.html", ("html", "body", "p", "a"))]
        links += [Link(url, ("html", "body", "div.dead", "ul", "li", "a")) for url in dead]
        links += [Link(url, ("html", "table.live", "tr", "td", "b")) for url in live]
        strategy.observe(must_ask(strategy).id, Page(200, 1, LinkList(links)), 0.0)
        for step in range(80):
            request = must_ask(strategy)
            if request.url in live:
                return step
            ok = request.url not in dead
            strategy.observe(request.id, Page(200, 0, NO_LINKS) if ok else Failure(404, 0, "status 404"), 0.0)
        raise AssertionError

    assert first_live(TagPathSettings()) < 10
    assert first_live(TagPathSettings(count_pulls_at_page=True)) > 30


@pytest.mark.parametrize("status", [405, 501])
def test_robust_probes_stop_where_a_server_does_not_know_head(status: int) -> None:
    settings = StrategySettings(robust_probes=True)
    strategy = build_strategy("sb-classifier", [START], settings=settings)
    first = must_ask(strategy)
    assert first is not None
    strategy.observe(first.id, page(START + "a.csv", START + "b", START + "c.zip"), 0.0)
    probe = must_ask(strategy)
    assert probe is not None
    assert probe.method is Method.HEAD
    strategy.observe(probe.id, Failure(status, 0, f"status {status}"), 0.0)
    seen = []
    while (request := ask(strategy)) is not None:
        seen.append((request.method.value, request.url))
        strategy.observe(request.id, Target(200, 5, "text/csv"), 0.0)
    assert seen == [("GET", START + "a.csv"), ("GET", START + "c.zip"), ("GET", START + "b")]
