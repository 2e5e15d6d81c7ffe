from __future__ import annotations

from coati.model import Method, Page, Refused, Request
from coati.testing.data_web import DataWeb, DataWebKnobs
from coati.web.queries import Ability, Query
from coati.web.urls import host_of

KNOBS = DataWebKnobs(repositories=10, other_repositories=6, decoys=8, ordinary=20, hubs=4)


def ask(web: DataWeb, url: str) -> list[str]:
    outcome = web.respond(Request(0, Method.GET, url))
    assert isinstance(outcome, Page)
    return list(outcome.links.urls)


def test_the_same_seed_makes_the_same_web() -> None:
    one, other = DataWeb(KNOBS, 3), DataWeb(KNOBS, 3)
    assert [site.words for site in one.sites.values()] == [site.words for site in other.sites.values()]
    query = Query("web", "flood data").address
    assert ask(one, query) == ask(other, query)


def test_files_stand_on_repositories_alone_and_can_be_reached() -> None:
    web = DataWeb(KNOBS, 1)
    for host, site in web.sites.items():
        seen, waiting, files = {site.url}, [site.url], set()
        while waiting:
            for url in ask(web, waiting.pop()):
                if url.endswith(".csv"):
                    files.add(url)
                elif host_of(url) == host and url not in seen:
                    seen.add(url)
                    waiting.append(url)
        assert bool(files) == site.is_repository
        assert (web.dataset_pages_of(host) > 0) == site.is_repository


def test_the_engine_knows_backlinks_and_related_pages() -> None:
    web = DataWeb(KNOBS, 1)
    site = next(iter(web.sites.values()))
    target = site.links[0]
    assert site.url in ask(web, Query("web", target, Ability.BACKLINKS).address)
    assert site.url in ask(web, Query("web", site.url, Ability.RELATED).address)


def test_a_page_of_results_has_fifty_hits_at_most() -> None:
    web = DataWeb(DataWebKnobs(), 1)
    first = ask(web, Query("web", "data dataset").address)
    second = ask(web, Query("web", "data dataset", page=2).address)
    assert len(first) == 50
    assert not set(first) & set(second)


def test_what_is_not_there() -> None:
    web = DataWeb(KNOBS, 1)
    assert isinstance(web.respond(Request(0, Method.GET, "http://nobody.test/")), Refused)
