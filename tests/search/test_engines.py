from __future__ import annotations

from dataclasses import replace

import pytest

from coati.errors import ConfigError, UsageError
from coati.model import Page, Refused
from coati.search.engines import Engines, engine_host
from coati.testing.stub_engine import HttpEngine, IndexedPage, StubEngine
from coati.web.queries import Ability, Query
from coati.web.rules import Refusal, Rules
from coati.web.urls import host_of

PAGES = [
    IndexedPage("http://a.test/", "Rain", "Rain by month", frozenset({"http://b.test/"})),
    IndexedPage("http://b.test/", "Snow", "Snow and rain", frozenset({"http://a.test/"})),
    IndexedPage("http://c.test/", "Wind"),
]
ENGINE = StubEngine(PAGES)
RAIN = Query("stub", "rain")


def test_an_engine_has_a_host_of_its_own() -> None:
    assert engine_host(ENGINE) == host_of(RAIN.address) == "search://stub"


def test_a_query_is_a_page_of_hits() -> None:
    page = Engines([ENGINE]).respond(RAIN.address)
    assert isinstance(page, Page)
    assert page.links.urls == ["http://a.test/", "http://b.test/"]
    assert page.size_bytes


def test_hits_are_under_the_rules() -> None:
    page = Engines([ENGINE]).respond(RAIN.address, Rules("http://b.test/"))
    assert isinstance(page, Page)
    assert page.links.urls == ["http://b.test/"]


def test_nobody_is_asked_without_an_engine() -> None:
    assert Engines().respond(RAIN.address) == Refused(Refusal.NO_ENGINE)


def test_an_ability_that_an_engine_lacks_is_refused_and_costs_nothing() -> None:
    engines = Engines([replace(ENGINE, abilities=frozenset({Ability.KEYWORDS}), max_queries=1)])
    related = Query("stub", "http://a.test/", Ability.RELATED)
    assert engines.respond(related.address) == Refused(Refusal.NO_ABILITY)
    assert isinstance(engines.respond(RAIN.address), Page)


def test_a_quota_is_kept_over_sessions() -> None:
    limited = replace(ENGINE, max_queries=3)
    engines = Engines([limited], {"search://stub": 1}.__getitem__)
    answers = [engines.respond(RAIN.address) for _ in range(4)]
    assert [isinstance(answer, Page) for answer in answers] == [True, True, False, False]
    assert answers[-1] == Refused(Refusal.QUOTA)


def test_what_needs_the_network_says_so() -> None:
    with pytest.raises(UsageError, match="only a live crawl"):
        Engines([HttpEngine("http://127.0.0.1:1")]).respond(RAIN.address)


@pytest.mark.parametrize(
    ("engines", "complaint"),
    [
        ([ENGINE, ENGINE], "two search engines"),
        ([StubEngine(PAGES, "No Name")], "is not a name of a search engine"),
        ([StubEngine(PAGES, "")], "names no search engine"),
        ([StubEngine(PAGES, delay_seconds=-1)], "must not be negative"),
        ([StubEngine(PAGES, delay_seconds=float("nan"))], "must not be negative"),
    ],
)
def test_engines_that_could_not_be_asked_are_refused(engines: list[StubEngine], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Engines(engines)


def test_two_of_a_name_are_a_mistake_of_the_configuration() -> None:
    with pytest.raises(ConfigError):
        Engines([ENGINE, ENGINE])
