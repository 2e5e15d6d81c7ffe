from __future__ import annotations

import urllib.request  # noqa: TID251 - loopback

import pytest

from coati.testing.server import serve
from coati.testing.site import Response, Site
from coati.testing.stub_engine import HttpEngine, IndexedPage, StubEngine, engine_site, indexed
from coati.web.queries import Ability, Query

START = "http://a.test/"
SITE = Site(
    START,
    {
        START: Response.page("<title>Rain</title><p>Rain and snow by month<a href=b>B</a>"),
        START + "b": Response.page("<title>Snow</title><p>Snow<a href=/>Home</a>"),
        START + "c": Response.page(
            "<title>Wind</title><p>Wind and rain<a href=/>Home</a><a href=d.csv>D</a>"
        ),
        START + "d.csv": Response.file("text/csv", b"rain,snow"),
        START + "e": Response.redirect("/"),
        START + "f": Response.page("Rain", 404),
    },
)


def urls(engine: StubEngine, query: Query) -> list[str]:
    return [hit.url for hit in engine.search(query).hits]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Query("stub", "RAIN"), ["", "c"]),
        (Query("stub", "snow rain"), ["", "b", "c"]),
        (Query("stub", "wind snow"), ["", "b", "c"]),
        (Query("stub", "nothing"), []),
        (Query("stub", START, Ability.BACKLINKS), ["b", "c"]),
        (Query("stub", START + "d.csv", Ability.BACKLINKS), ["c"]),
        (Query("stub", START, Ability.RELATED), ["c", "b"]),
        (Query("stub", "http://unknown.test/", Ability.RELATED), []),
        (Query("stub", "http://unknown.test/", Ability.BACKLINKS), []),
    ],
)
def test_it_finds_the_pages_of_a_site(query: Query, found: list[str]) -> None:
    assert urls(StubEngine.over(SITE), query) == [START + path for path in found]


def test_only_pages_are_indexed() -> None:
    assert indexed(START, SITE.get(START)) == IndexedPage(
        START, "Rain", "Rain Rain and snow by month B", frozenset({START + "b"})
    )
    assert [indexed(url, SITE.get(url)) for url in (START + "d.csv", START + "e", START + "f")] == [None] * 3


def test_results_come_in_pages() -> None:
    pages = [IndexedPage(f"http://a.test/{number}", "Rain") for number in range(5)]
    engine = StubEngine(pages, hits_per_page=2)
    answers = [engine.search(Query("stub", "rain", page=page)) for page in (1, 2, 3, 4)]
    assert [len(answer.hits) for answer in answers] == [2, 2, 1, 0]
    assert [answer.more for answer in answers] == [True, True, False, False]
    assert {hit.url for answer in answers for hit in answer.hits} == {page.url for page in pages}


def test_over_http_it_answers_the_same() -> None:
    engine = StubEngine.over(SITE, hits_per_page=2)
    with serve(lambda base_url: engine_site(base_url, engine)) as server:
        provider = HttpEngine(server.url.rstrip("/"))
        for query in (
            Query("stub", "snow & rain"),
            Query("stub", "snow rain", page=2),
            Query("stub", START, Ability.BACKLINKS),
            Query("stub", "nothing"),
        ):
            with urllib.request.urlopen(provider.request(query).url) as answer:  # noqa: S310, TID251 - loopback
                assert provider.read(answer.read(), answer.headers["Content-Type"]) == engine.search(query)
