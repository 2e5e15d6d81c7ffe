"""Anthelion decides as the paper's words say, keeps the contract in every setting, and lets hosts sleep."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from coati.assembly import StrategySettings, build_strategy
from coati.errors import ConfigError
from coati.model import EVERY_HOST, NO_LINKS, Failure, Outcome, Page, Redirect, Refused, Request, Target
from coati.strategies.hosts.anthelion import (
    AnthelionSettings,
    anthelion,
    label_oracle,
    random_host,
    static_classifier,
)
from coati.strategies.hosts.page_features import FeatureSettings
from coati.testing.checks import check_strategy, default_sites
from tests.strategies.hosts.literal_anthelion import LiteralAnthelion
from tests.strategies.hosts.small_web import crawl, small_web

WEB = small_web()
START = "http://a.example/"


@pytest.mark.parametrize(
    "score", ["negative-bad", "best", "success-rate", "good*best", "success-rate*best", "good"]
)
def test_it_crawls_as_the_paper_says(score: str) -> None:
    settings = AnthelionSettings(score=score, explore=0.3, half_after=20)
    literal = LiteralAnthelion(WEB, 4, score=score, explore=0.3, half_after=20, demand=False)
    assert [request.url for request in crawl(anthelion(WEB.start_urls, 4, settings), WEB, 60)] == list(
        literal.crawl(60)
    )


def test_it_judges_on_demand_as_the_paper_says() -> None:
    settings = AnthelionSettings(explore=0.2, half_after=0, classify="on-demand")
    literal = LiteralAnthelion(WEB, 5, score="success-rate", explore=0.2, half_after=0, demand=True)
    assert [request.url for request in crawl(anthelion(WEB.start_urls, 5, settings), WEB, 50)] == list(
        literal.crawl(50)
    )


@pytest.mark.parametrize(
    "settings",
    [
        AnthelionSettings(score="thompson", learner="ht"),
        AnthelionSettings(score="thompson*best", explore=0.0),
        AnthelionSettings(classify="on-demand", features=FeatureSettings(siblings=True)),
    ],
    ids=["thompson, tree", "thompson*best", "on demand, siblings"],
)
def test_each_setting_keeps_the_contract(settings: AnthelionSettings) -> None:
    sites = {
        name: site
        for name, site in default_sites().items()
        if name in {"errors and redirects", "start page moved"}
    }
    given = StrategySettings(hosts=settings)
    check_strategy(
        lambda site, seed: build_strategy("anthelion", [site.start_url], seed, settings=given),
        sites,
        in_flight=[3],
    )


def test_who_knows_the_labels_takes_relevant_pages_first() -> None:
    known, asked = set(WEB.start_urls), set[str]()
    for request in crawl(label_oracle(WEB.start_urls, 1, WEB), WEB):
        assert WEB.relevant(request.url) or not any(map(WEB.relevant, known - asked))
        asked.add(request.url)
        known.update(WEB.pages[request.url][1])
    assert asked == known


def test_every_page_that_can_be_found_is_fetched_once() -> None:
    for strategy in (random_host(WEB.start_urls, 1), anthelion(WEB.start_urls, 1, AnthelionSettings())):
        urls = [request.url for request in crawl(strategy, WEB)]
        assert len(urls) == len(set(urls))
        reached = {link for url in urls for link in WEB.pages[url][1]} | set(WEB.start_urls)
        assert set(urls) == reached


def test_a_static_classifier_does_not_learn_from_what_it_crawls() -> None:
    settings = AnthelionSettings(training_pages=80)
    one = static_classifier(WEB.start_urls, 2, settings, WEB)
    scores = {request.url: request.score for request in crawl(one, WEB)}
    other = static_classifier(WEB.start_urls[::-1], 2, settings, WEB)
    for request in crawl(other, WEB, 3):
        if request.url in WEB.start_urls:
            assert request.score == scores[request.url]


class Sleepy:
    """Hosts of which one is not ready, until it wakes."""

    def __init__(self, asleep: str) -> None:
        self.asleep = asleep
        self.awake: list[str] = []

    def ready(self, host: str) -> bool:
        return host != self.asleep

    def take_ready(self) -> Sequence[str]:
        told, self.awake = self.awake, []
        return told


@pytest.mark.parametrize("score", ["success-rate", "thompson"])
def test_a_host_that_is_not_ready_sleeps_until_it_wakes(score: str) -> None:
    strategy = anthelion(["http://a.example/", "http://b.example/"], 1, AnthelionSettings(score=score))
    hosts = Sleepy("a.example")
    first = strategy.choose(0.0, hosts)
    assert isinstance(first, Request)
    assert first.url == "http://b.example/"
    assert strategy.choose(0.0, hosts) is None
    hosts.asleep, hosts.awake = "", ["a.example", "unheard-of.example"]
    second = strategy.choose(1.0, hosts)
    assert isinstance(second, Request)
    assert second.url == "http://a.example/"
    assert strategy.choose(1.0, hosts) is None


def test_what_comes_of_a_page_is_paid_to_its_host() -> None:
    urls = [f"http://h{number}.example/" for number in range(5)]
    strategy = anthelion(urls, 1, AnthelionSettings(explore=0.0))
    outcomes: dict[str, Outcome] = {
        urls[0]: Page(200, 1, NO_LINKS, relevant=True),
        urls[1]: Page(200, 1, NO_LINKS),
        urls[2]: Failure(500, 1, "broken"),
        urls[3]: Target(200, 1, "text/csv"),
        urls[4]: Refused("robots.txt"),
    }
    rewards = {}
    for _ in urls:
        request = strategy.choose(0.0, EVERY_HOST)
        assert isinstance(request, Request)
        settled = strategy.observe(request.id, outcomes[request.url], 0.0)
        rewards[request.url] = [settlement.reward for settlement in settled]
    assert rewards == {urls[0]: [1.0], urls[1]: [0.0], urls[2]: [0.0], urls[3]: [1.0], urls[4]: []}


def test_where_a_redirect_leads_waits_at_its_own_host() -> None:
    strategy = anthelion([START], 1, AnthelionSettings())
    first = strategy.choose(0.0, EVERY_HOST)
    assert isinstance(first, Request)
    assert strategy.observe(first.id, Redirect(301, 0, "http://b.example/"), 0.0) == ()
    second = strategy.choose(0.0, EVERY_HOST)
    assert isinstance(second, Request)
    assert strategy.arm_label(second.arm or 0) == "b.example"


def test_a_request_in_flight_counts_against_its_host() -> None:
    links = "".join(f"http://a.example/{number} " for number in range(3)).split()
    strategy = anthelion([*links, "http://b.example/"], 1, AnthelionSettings(explore=0.0))
    hosts = [strategy.choose(0.0, EVERY_HOST) for _ in range(2)]
    assert {strategy.arm_label(request.arm or 0) for request in hosts if isinstance(request, Request)} == {
        "a.example",
        "b.example",
    }


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"score": "luck"}, "luck"),
        ({"learner": "forest"}, "forest"),
        ({"classify": "later"}, "later"),
        ({"explore": 1.5}, "from 0 to 1"),
        ({"batch": 0}, "above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        anthelion([START], 1, AnthelionSettings(**changes))  # type: ignore[arg-type]
