"""The baselines of DSDD and our own search, on the small web."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coati.assembly import StrategySettings, build_strategy
from coati.learners.bayesian_sets import bayesian_sets
from coati.model import EVERY_HOST, Request
from coati.strategies.discovery.ache import Ache
from coati.strategies.discovery.disco import Disco
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.prospect import Prospect
from coati.strategies.discovery.search_engine import SearchEngineOnly
from coati.strategies.discovery.settings import NO_WISHES
from coati.strategies.discovery.site_checks import CheckState
from coati.strategies.state import pack, unpack
from coati.testing.checked_crawl import CheckedCrawl, as_logged, require_same
from coati.testing.checks import check_strategy, default_sites
from coati.web.urls import is_query
from tests.strategies.discovery.small_web import answers, drive, examples, small_web
from tests.strategies.discovery.test_dsdd import MODEL, SETTINGS, WEB

KINDS: list[type[Dsdd]] = [SearchEngineOnly, Disco, Ache, Prospect]
# Prospect checks a site from its home page, which no page may have told it of.
HOME_PAGES = ["http://hub.test/"]


def made(kind: type[Dsdd]) -> Dsdd:
    return kind([], SETTINGS, MODEL, wishes=NO_WISHES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_flight", [1, 5])
def test_what_was_stopped_continues_as_if_it_had_not_been(kind: type[Dsdd], in_flight: int) -> None:
    whole = CheckedCrawl(made(kind), HOME_PAGES, answers(WEB), in_flight)
    whole.run()
    log = as_logged(whole.events)
    for stop in (7, len(log) // 2, len(log) - 2):
        from_log = CheckedCrawl(made(kind), HOME_PAGES, answers(WEB), in_flight)
        from_log.restore(log[:stop])
        from_log.run()
        require_same(whole.events, from_log.events, "restored from the log")
        begun = CheckedCrawl(made(kind), HOME_PAGES, answers(WEB), in_flight)
        begun.run(until=stop)
        loaded = CheckedCrawl(made(kind), HOME_PAGES, answers(WEB), in_flight)
        loaded.strategy.load(unpack(pack(begun.strategy.save())))
        loaded.adopt(begun.events)
        loaded.run()
        require_same(whole.events, loaded.events, "loaded from a snapshot")


@pytest.mark.parametrize("name", ["search-engine", "disco", "ache", "prospect"])
def test_keeps_the_contract(name: str) -> None:
    settings = StrategySettings(discovery=replace(SETTINGS, topic="data"), start_model=MODEL)
    sites = {key: site for key, site in default_sites().items() if key.startswith("errors")}
    check_strategy(
        lambda site, seed: build_strategy(name, [site.start_url], seed, settings=settings), sites, (4,)
    )


def test_search_engine_checks_every_result_of_two_queries() -> None:
    asked = drive(made(SearchEngineOnly), answers(WEB))
    queries = {url.partition("&page")[0] for url in asked if is_query(url)}
    assert queries == {"search://stub/?q=rain+data", "search://stub/?q=rain+datasets"}


def test_disco_checks_nothing_after_the_first_query() -> None:
    strategy = made(Disco)
    drive(strategy, answers(WEB))
    found = [check for check in strategy._checks if check.state is CheckState.OPEN]  # noqa: SLF001 - as told
    assert found
    assert all(check.pages and not check.fetched for check in found)
    assert not strategy.verifies


def test_ache_follows_links_and_asks_one_query() -> None:
    asked = drive(made(Ache), answers(WEB))
    assert {url.partition("&page")[0] for url in asked if is_query(url)} == {"search://stub/?q=rain"}
    assert "http://hub.test/list.html" in asked


def test_prospect_gives_up_a_site_without_files_early() -> None:
    site = small_web()
    pages = dict(site.responses)
    base = "http://barren.test/"
    links = " ".join(f'<a href="{base}{number}">x</a>' for number in range(60))
    words = "rain dataset csv download catalogue metadata table series archive " * 3
    for number in range(60):
        pages[f"{base}{number}"] = type(pages[next(iter(pages))]).page(f"<p>{words}</p>{links}")
    pages[base] = type(pages[next(iter(pages))]).page(f"<title>rain data</title><p>{words}</p>{links}")
    web = type(site)(site.start_url, pages)
    looked = {
        kind: sum(url.startswith(base) for url in drive(made(kind), answers(web)))
        for kind in (Dsdd, Prospect)
    }
    assert looked[Prospect] <= 12 < looked[Dsdd]


def test_bayesian_sets_prefers_what_the_seeds_share() -> None:
    seeds = [{"rain": 1, "csv": 2}, {"rain": 1, "csv": 1}, {"rain": 3}]
    pages = [{"soup": 1}, {"rain": 1}, {"rain": 1, "csv": 1}]
    scores = bayesian_sets(seeds, pages)
    assert scores == sorted(scores)
    assert bayesian_sets([], pages) == [0.0] * 3


def test_a_first_request_is_the_topic() -> None:
    for kind in (Disco, Ache, Prospect):
        request = made(kind).choose(0.0, EVERY_HOST)
        assert isinstance(request, Request)
        assert request.url == "search://stub/?q=rain"
    assert examples()
