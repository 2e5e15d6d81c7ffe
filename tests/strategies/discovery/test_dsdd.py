from __future__ import annotations

from dataclasses import replace

import pytest

from coati.assembly import StrategySettings, build_strategy
from coati.model import AT_THE_END, EVERY_HOST, Deferred, Failure, Outcome, Page, Request
from coati.strategies.discovery.actions import DISCOVERY_ACTIONS, Action
from coati.strategies.discovery.dsdd import Dsdd
from coati.strategies.discovery.settings import DiscoverySettings, DsddVariant, UserJudgements
from coati.strategies.discovery.site_checks import CheckState
from coati.strategies.discovery.start_model import model_of_examples
from coati.strategies.state import pack, unpack
from coati.testing.checked_crawl import CheckedCrawl, as_logged, require_same
from coati.testing.checks import check_strategy, default_sites
from coati.web.urls import is_query
from tests.strategies.discovery.literal_dsdd import LiteralDsdd
from tests.strategies.discovery.small_web import (
    DECOYS,
    FEW_FILES,
    REPOSITORIES,
    answers,
    drive,
    examples,
    small_web,
)

WEB = small_web()
MODEL = model_of_examples(examples())
SETTINGS = DiscoverySettings(
    topic="rain",
    keyword_engines=("stub",),
    related_engines=("stub",),
    backlink_engines=("stub",),
    seeds_per_pull=2,
    terms_per_pull=2,
    results_per_query=12,
)


def dsdd(settings: DiscoverySettings = SETTINGS, **more: object) -> Dsdd:
    return Dsdd([], settings, MODEL, **more)  # type: ignore[arg-type]


def states(strategy: Dsdd) -> dict[str, str]:
    return {finding.site: finding.state.value for finding in strategy.findings()}


@pytest.mark.parametrize("results", [4, 6, 12, 30])
@pytest.mark.parametrize("seeds", [1, 3])
def test_requests_what_the_paper_requires(results: int, seeds: int) -> None:
    settings = replace(SETTINGS, results_per_query=results, seeds_per_pull=seeds)
    asked = drive(dsdd(settings), answers(WEB))
    sizes = {"seeds": seeds, "terms": 2, "results": results, "links": 10}
    assert asked == LiteralDsdd("rain", examples(), answers(WEB), sizes).run()


def test_verifies_sites_with_enough_files_and_no_others() -> None:
    strategy = dsdd()
    drive(strategy, answers(WEB))
    found = states(strategy)
    assert {site for site, state in found.items() if state == "verified"} == {
        f"repo{number}.test" for number in range(len(REPOSITORIES))
    }
    assert found["fewfiles.test"] == "rejected"


def test_one_entry_per_site_however_many_pages_were_found() -> None:
    strategy = dsdd()
    drive(strategy, answers(WEB))
    sites = [finding.site for finding in strategy.findings()]
    assert len(sites) == len(set(sites))


def test_no_url_is_asked_twice() -> None:
    asked = drive(dsdd(), answers(WEB))
    assert len(asked) == len(set(asked))


def test_a_single_action_asks_nothing_else() -> None:
    asked = drive(dsdd(variant=DsddVariant((Action.FORWARD,))), answers(WEB))
    assert all(
        url.startswith("search://stub/?q=rain&page=") or url == "search://stub/?q=rain"
        for url in asked
        if is_query(url)
    )


def test_an_action_without_an_engine_sleeps_and_is_reported() -> None:
    strategy = dsdd(replace(SETTINGS, backlink_engines=()))
    asked = drive(strategy, answers(WEB))
    assert not any("backlinks=" in url for url in asked)
    assert strategy.asleep() == [Action.BACKLINKS.label]


def test_related_pages_are_emulated_by_keywords() -> None:
    strategy = dsdd(replace(SETTINGS, related_engines=()), variant=DsddVariant((Action.RELATED,)))
    asked = [url for url in drive(strategy, answers(WEB)) if is_query(url)]
    assert any(url.startswith("search://stub/?q=data+portal+") for url in asked)


def test_without_learning_the_classifier_stays_as_it_was() -> None:
    strategy = dsdd(variant=DsddVariant(learns=False))
    before = strategy.save()["weights"].tolist()
    drive(strategy, answers(WEB))
    assert strategy.save()["weights"].tolist() == before


def test_the_files_that_verify_may_be_known_from_elsewhere() -> None:
    # Every link of the repositories was met on another page first, as after a look at a hub.
    known: list[str] = []
    tell = answers(WEB)

    def forgetful(request: Request) -> Outcome:
        """Tell new links only, as a run does, and all of them by their hashes."""
        outcome = tell(request)
        if not isinstance(outcome, Page):
            return outcome
        links = [
            outcome.links.link(place) for place, url in enumerate(outcome.links.urls) if url not in known
        ]
        known.extend(link.url for link in links)
        return replace(outcome, links=type(outcome.links)(links))  # type: ignore[call-arg]

    assert drive(dsdd(), forgetful) == drive(dsdd(), answers(WEB))


def test_looks_through_the_repositories_at_the_end() -> None:
    strategy = dsdd(replace(SETTINGS, crawl_after=40))
    asked = drive(strategy, answers(WEB))
    verified = {site for site, state in states(strategy).items() if state == "verified"}
    rest = {url.split("/")[2].removeprefix("www.") for url in asked[41:]}
    assert rest <= verified
    assert any(url.endswith("/more") for url in asked[41:])


def test_what_met_an_outage_is_requested_again_and_counts_then() -> None:
    tell = answers(WEB)
    out: set[str] = set()

    def unsteady(request: Request) -> Outcome:
        if "repo1" in request.url and "search:" not in request.url and request.url not in out:
            out.add(request.url)
            return Deferred(503, 0, "away", AT_THE_END)
        return tell(request)

    strategy = dsdd()
    drive(strategy, unsteady)
    assert states(strategy)["repo1.test"] == "verified"


def test_a_site_that_blocks_us_is_not_a_repository() -> None:
    tell = answers(WEB)

    def blocked(request: Request) -> Outcome:
        if "www.repo2" in request.url and not is_query(request.url):
            return Failure(403, 0, "status 403")
        return tell(request)

    strategy = dsdd()
    drive(strategy, blocked)
    assert "repo2.test" not in states(strategy)


@pytest.mark.parametrize("in_flight", [1, 5])
@pytest.mark.parametrize("crawl_after", [None, 50])
def test_a_search_that_was_stopped_continues_as_if_it_had_not_been(
    in_flight: int, crawl_after: int | None
) -> None:
    settings = replace(SETTINGS, crawl_after=crawl_after)

    def new_crawl() -> CheckedCrawl:
        return CheckedCrawl(dsdd(settings), [], answers(WEB), in_flight)

    whole = new_crawl()
    whole.run()
    log = as_logged(whole.events)
    for stop in (3, 31, 77, len(log) - 2):
        from_log = new_crawl()
        from_log.restore(log[:stop])
        from_log.run()
        require_same(whole.events, from_log.events, "restored from the log")
        begun = new_crawl()
        begun.run(until=stop)
        loaded = new_crawl()
        loaded.strategy.load(unpack(pack(begun.strategy.save())))
        loaded.adopt(begun.events)
        loaded.run()
        require_same(whole.events, loaded.events, "loaded from a snapshot")


def test_the_user_rejects_a_site_and_the_classifier_learns_it() -> None:
    first = dsdd()
    drive(first, answers(WEB), most=60)
    url = REPOSITORIES[0]
    before = first.explain(url).score
    again = dsdd(wishes=UserJudgements(((url, Action.REJECTED),)))
    again.load(unpack(pack(first.save())))
    request = again.choose(60.0, EVERY_HOST)
    assert isinstance(request, Request)
    assert (request.url, request.arm) == (url, Action.REJECTED)
    again.observe(request.id, answers(WEB)(request), 61.0)
    assert states(again)["repo0.test"] == "rejected"
    assert again.explain(url).score < before
    restored = dsdd()
    restored.load(unpack(pack(first.save())))
    restored.redo(request, 60.0)
    restored.observe(request.id, answers(WEB)(request), 61.0)
    assert states(restored) == states(again)


def test_the_user_accepts_a_site_that_was_rejected() -> None:
    strategy = dsdd(wishes=UserJudgements(((FEW_FILES, Action.ACCEPTED),)))
    drive(strategy, answers(WEB))
    accepted = next(finding for finding in strategy.findings() if finding.site == "fewfiles.test")
    assert (accepted.state, accepted.by_user) == (CheckState.VERIFIED, True)


def test_a_quota_ends_the_queries_and_a_larger_one_continues() -> None:
    tell = answers(WEB)
    first = dsdd(wishes=UserJudgements(max_queries=3))
    asked = drive(first, tell)
    assert sum(map(is_query, asked)) == 3
    assert first.queries_waiting > 0
    again = dsdd()
    again.load(unpack(pack(first.save())))
    rest = drive(again, tell)
    assert is_query(rest[0])
    assert not set(rest) & set(asked)


def test_says_which_words_speak_for_a_page() -> None:
    strategy = dsdd()
    drive(strategy, answers(WEB))
    told = strategy.explain(DECOYS[0])
    assert told.reasons
    assert all(reason.contribution for reason in told.reasons)
    with pytest.raises(ValueError, match="was not looked at"):
        strategy.explain("http://nobody.test/")


@pytest.mark.parametrize("name", ["dsdd", "bd"])
def test_keeps_the_contract(name: str) -> None:
    settings = StrategySettings(discovery=replace(SETTINGS, topic="data"), start_model=MODEL)
    sites = {key: site for key, site in default_sites().items() if key.startswith(("errors", "start page"))}
    check_strategy(
        lambda site, seed: build_strategy(name, [site.start_url], seed, settings=settings), sites, (1, 4)
    )


def test_every_action_has_a_label() -> None:
    assert all(dsdd().arm_label(int(action)) for action in DISCOVERY_ACTIONS)
