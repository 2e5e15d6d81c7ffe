from __future__ import annotations

from dataclasses import replace

import pytest

from coati.model import Failure, Method, Page, Refused, Request
from coati.testing.data_web import DataWeb, DataWebSite
from coati.testing.data_web_kinds import DataWebParameters, FittedParameters, SiteKind
from coati.web.queries import Ability, Query
from coati.web.urls import host_of

KNOBS = DataWebParameters(repositories=10, other_repositories=26, closed=12, decoys=20, ordinary=30, hubs=6)


def ask(web: DataWeb, url: str) -> list[str]:
    outcome = web.respond(Request(0, Method.GET, url))
    assert isinstance(outcome, Page)
    return list(outcome.links.urls)


def of_kind(web: DataWeb, kind: SiteKind) -> list[DataWebSite]:
    return [site for site in web.sites() if site.kind is kind]


def test_the_same_seed_makes_the_same_web() -> None:
    one, other = DataWeb(KNOBS, 3), DataWeb(KNOBS, 3)
    assert one.sites() == other.sites()
    for site in one.sites():
        assert one.words_of(site.host) == other.words_of(site.host)
        assert ask(one, site.url) == ask(other, site.url)
    query = Query("web", "flood data").address
    assert ask(one, query) == ask(other, query)
    assert one.sites() != DataWeb(KNOBS, 4).sites()


def test_there_are_as_many_sites_of_each_kind_as_wanted() -> None:
    web = DataWeb(KNOBS, 1)
    assert [len(of_kind(web, kind)) for kind in SiteKind] == [36, 12, 20, 30, 6]
    assert sum(site.is_repository and site.topic == 0 for site in web.sites()) == 10
    assert web.hosts == len({site.host for site in web.sites()}) == 104


def test_on_the_topic_is_who_is_about_it_or_writes_of_it() -> None:
    web = DataWeb(replace(KNOBS, mentions=0.5), 1)
    on_topic = [site for site in web.sites() if web.on_topic(site.host)]
    assert {site.host for site in web.sites() if site.topic == 0} < {site.host for site in on_topic}
    assert all({"flood", "risk"} <= web.words_of(site.host).keys() for site in on_topic if site.topic)
    assert web.repositories == sum(site.is_repository for site in on_topic) > 10


def test_files_stand_on_repositories_alone_and_can_be_reached() -> None:
    web = DataWeb(KNOBS, 1)
    for site in web.sites():
        seen, waiting, files = {site.url}, [site.url], set()
        while waiting:
            for url in ask(web, waiting.pop()):
                if url.endswith(".csv"):
                    files.add(url)
                elif host_of(url) == site.host and url not in seen:
                    seen.add(url)
                    waiting.append(url)
        assert bool(files) == site.is_repository == web.is_repository(site.host)
        assert (web.dataset_pages_of(site.host) > 0) == site.is_repository


def test_closed_portals_read_like_repositories_and_decoys_do_not() -> None:
    web = DataWeb(replace(KNOBS, other_repositories=140, closed=150, decoys=150), 1)

    def share_of_data_words(kind: SiteKind) -> float:
        pages = [web.words_of(site.host) for site in of_kind(web, kind)]
        of_data = sum(count for page in pages for word, count in page.items() if word.startswith("dat"))
        return of_data / sum(sum(page.values()) for page in pages)

    repository, closed, decoy = map(
        share_of_data_words, (SiteKind.REPOSITORY, SiteKind.CLOSED, SiteKind.DECOY)
    )
    assert closed == pytest.approx(repository, rel=0.1)
    assert decoy < 0.7 * repository


def test_addresses_say_little_about_sites() -> None:
    web = DataWeb(replace(KNOBS, other_repositories=390), 1)
    named = [site for site in web.sites() if site.host.startswith("data.")]
    assert all(site.is_repository for site in named)
    assert 0.18 < len(named) / 400 < 0.34


def test_links_to_closed_portals_are_as_many_as_wanted() -> None:
    def closed_share(linking: SiteKind, **parameters: float) -> float:
        fitted = FittedParameters(**parameters)
        web = DataWeb(replace(KNOBS, other_repositories=290, closed=100, decoys=300, fitted=fitted), 1)
        kinds = {site.url: site.kind for site in web.sites()}
        linked = [kinds[url] for site in of_kind(web, linking) for url in web.links_of(site.host)]
        closed, repositories = linked.count(SiteKind.CLOSED), linked.count(SiteKind.REPOSITORY)
        return closed / (closed + repositories)

    few, many = (closed_share(SiteKind.REPOSITORY, closed_links=share) for share in (0.1, 0.5))
    assert few < 0.2
    assert many > 0.3
    few, many = (closed_share(SiteKind.DECOY, closed_listed_links=share) for share in (0.1, 0.5))
    assert few < 0.2
    assert many > 0.3


def test_the_engine_knows_backlinks_and_related_pages() -> None:
    web = DataWeb(KNOBS, 1)
    site = next(site for site in web.sites() if web.links_of(site.host))
    target = web.links_of(site.host)[0]
    assert site.url in ask(web, Query("web", target, Ability.BACKLINKS).address)
    assert ask(web, Query("web", site.url, Ability.RELATED).address)[0] == site.url


def test_what_is_found_has_most_words_of_the_query() -> None:
    web = DataWeb(KNOBS, 1)
    words = {"flood", "risk", "data", "csv"}
    found = ask(web, Query("web", " ".join(words)).address)
    assert found
    assert all(len(words & web.words_of(host_of(url)).keys()) >= 3 for url in found)


def test_a_page_of_results_has_fifty_hits_at_most() -> None:
    web = DataWeb(DataWebParameters(), 1)
    first = ask(web, Query("web", "data dataset").address)
    second = ask(web, Query("web", "data dataset", page=2).address)
    assert len(first) == 50
    assert not set(first) & set(second)


def test_what_is_not_there() -> None:
    web = DataWeb(KNOBS, 1)
    assert isinstance(web.respond(Request(0, Method.GET, "http://nobody.test/")), Refused)
    site = web.sites()[0]
    assert isinstance(web.respond(Request(0, Method.GET, f"{site.url}nothing")), Failure)
    assert ask(web, Query("web", "nobodyhasthisword").address) == []
    assert ask(web, Query("web", "http://nobody.test/", Ability.RELATED).address) == []
    assert ask(web, Query("web", "http://nobody.test/", Ability.BACKLINKS).address) == []
