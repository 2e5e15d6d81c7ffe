"""Each engine against answers of our own making, over real HTTP on loopback where it is asked over HTTP."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coati.errors import ConfigError
from coati.live.plan import CrawlPlan
from coati.live.running import crawl
from coati.live.settings import LiveSettings
from coati.model import Outcome, Page
from coati.search.duckduckgo import DuckDuckGo
from coati.search.host_graph import HostGraph
from coati.search.key_engines import Brave, GoogleProgrammable, Mojeek
from coati.search.provider import HttpProvider
from coati.search.registry import ENGINES, EngineChoice, provider_of
from coati.search.searxng import SearxNg
from coati.strategies.baselines.simple_orders import breadth_first
from coati.testing.server import serve
from coati.testing.site import Response, Site
from coati.web.queries import Ability, Query, parse_query
from coati.web.rules import Rules, Scope

HIT = {"title": "Rain", "url": "http://a.test/", "link": "http://a.test/"}
BRAVE = {"web": {"results": [{**HIT, "description": "by month"}]}, "query": {"more_results_available": True}}
GOOGLE = {"items": [{**HIT, "snippet": "by month"}], "queries": {"nextPage": [{}]}}
MOJEEK = {"response": {"status": "OK", "results": [{**HIT, "desc": "by month"}]}}
SEARXNG = {"results": [{**HIT, "content": "by month"}]}

Make = Callable[[str], HttpProvider]
CASES: list[tuple[Make, str, dict[str, Any]]] = [
    (
        lambda base: Brave(base_url=base, key="secret-7"),
        "/res/v1/web/search?q=rain+data&count=20&offset=0&search_lang=en",
        BRAVE,
    ),
    (
        lambda base: GoogleProgrammable(base_url=base, key="secret-7", engine_id="cx"),
        "/customsearch/v1?key=secret-7&cx=cx&q=rain+data&num=10&start=1&lr=lang_en",
        GOOGLE,
    ),
    (
        lambda base: Mojeek(base_url=base, key="secret-7"),
        "/search?api_key=secret-7&q=rain+data&fmt=json&t=20&s=1&lb=EN",
        MOJEEK,
    ),
    (SearxNg, "/search?q=rain+data&format=json&language=en&pageno=1", SEARXNG),
]
NAMES = ["brave", "google", "mojeek", "searxng"]


def ask(make: Make, path: str, response: Response) -> Outcome:
    seen: list[Outcome] = []
    with serve(lambda base: Site(base + "/", {base + path: response})) as server:
        provider = make(server.url.rstrip("/"))
        start = Query(provider.name, "rain data").address
        plan = CrawlPlan(
            new_strategy=lambda: breadth_first([start]),
            rules=Rules(start, Scope.ANY, exclude=(re.compile("a.test"),)),
            settings=LiveSettings(delay_seconds=0.0, retries=0),
            providers=(provider,),
            defers=False,
            on_fetched=lambda _, fetched: seen.append(fetched.outcome),
        )
        crawl(plan)
    return seen[0]


@pytest.mark.parametrize(("make", "path", "answer"), CASES, ids=NAMES)
def test_asks_and_reads(make: Make, path: str, answer: dict[str, Any]) -> None:
    response = Response.file("application/json", json.dumps(answer).encode())
    with serve(lambda base: Site(base + "/", {base + path: response})) as server:
        provider = make(server.url.rstrip("/"))
        request = provider.request(Query(provider.name, "rain data"))
        assert request.url == server.url.rstrip("/") + path
    hits = provider.read(response.body or b"", "application/json")
    assert [tuple(hit)[:3] for hit in hits.hits] == [("http://a.test/", "Rain", "by month")]
    assert hits.more


@pytest.mark.parametrize(("make", "path", "answer"), CASES, ids=NAMES)
def test_over_http(make: Make, path: str, answer: dict[str, Any]) -> None:
    outcome = ask(make, path, Response.file("application/json", json.dumps(answer).encode()))
    assert isinstance(outcome, Page)
    assert outcome.status == 200


@pytest.mark.parametrize(("make", "path", "answer"), CASES, ids=NAMES)
@pytest.mark.parametrize(
    "response",
    [Response.page("<p>Sign in"), Response.file("application/json", b"[]"), Response(429), Response(403)],
    ids=["html", "no object", "too many", "forbidden"],
)
def test_what_is_not_an_answer_is_a_failure_without_the_key(
    make: Make, path: str, answer: dict[str, Any], response: Response
) -> None:
    assert answer
    outcome = ask(make, path, response)
    assert not isinstance(outcome, Page)
    assert "secret-7" not in repr(outcome)


@pytest.mark.parametrize("make", [case[0] for case in CASES], ids=NAMES)
@pytest.mark.parametrize("body", [b"", b"{}", b'{"web": 3, "results": 4, "response": {}, "items": 1}'])
def test_damaged_answers(make: Make, body: bytes) -> None:
    provider = make("http://localhost:1")
    if provider.name == "google" and body == b"{}":
        assert provider.read(body, "application/json").hits == ()
        return
    with pytest.raises(ValueError, match=r"results|refused|instead of JSON"):
        provider.read(body, "application/json")


@pytest.mark.parametrize("name", ["brave", "google", "mojeek"])
def test_a_key_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("BRAVE_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CSE_ID", "MOJEEK_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigError, match=r"needs a key: set the environment variable"):
        provider_of(name, EngineChoice())


@pytest.mark.parametrize("name", ["brave", "google", "mojeek"])
def test_keys_come_from_the_environment_and_are_not_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("BRAVE_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CSE_ID", "MOJEEK_API_KEY"):
        monkeypatch.setenv(variable, "secret-7")
    provider = provider_of(name, EngineChoice("fr", 9))
    assert provider.max_queries == 9
    assert "secret-7" not in repr(provider)


def test_a_key_on_the_command_line_is_refused() -> None:
    with pytest.raises(ConfigError, match="comes from the environment"):
        provider_of("brave=secret-7", EngineChoice())


def test_language_and_pages() -> None:
    url = Brave("pt-BR", key="k").request(Query("brave", "dados", page=3)).url
    assert "search_lang=pt" in url
    assert "offset=2" in url


def test_duckduckgo(monkeypatch: pytest.MonkeyPatch) -> None:
    import ddgs
    from ddgs.exceptions import DDGSException

    class Library:
        def text(self, query: str, **_: object) -> list[dict[str, str]]:
            if query == "nothing":
                raise DDGSException("No results found.")
            if query == "limit":
                raise DDGSException("Ratelimit")
            return [{"href": "http://a.test/", "title": "Rain", "body": "by month"}]

    monkeypatch.setattr(ddgs, "DDGS", Library)
    engine = DuckDuckGo()
    assert [tuple(hit)[:3] for hit in engine.search(Query("duckduckgo", "rain")).hits] == [
        ("http://a.test/", "Rain", "by month")
    ]
    assert engine.search(Query("duckduckgo", "nothing")).hits == ()
    with pytest.raises(ConnectionError):
        engine.search(Query("duckduckgo", "limit"))


@pytest.mark.parametrize("turned", [False, True])
def test_host_graph(tmp_path: Path, turned: bool) -> None:  # noqa: FBT001 - a case
    edges = [("hub.test", "rain.test"), ("list.hub.test", "www.rain.test"), ("a.test", "b.test")]
    names = [[".".join(reversed(name.split("."))) if turned else name for name in edge] for edge in edges]
    path = tmp_path / "edges.txt.gz"
    path.write_bytes(gzip.compress("\n".join("\t".join(edge) for edge in names).encode()))
    graph = HostGraph(path)
    hits = graph.search(Query("commoncrawl", "https://www.rain.test/x", Ability.BACKLINKS)).hits
    assert {hit.url for hit in hits} == {"https://hub.test/", "https://list.hub.test/"}


@pytest.mark.parametrize("content", [None, b"", b"one column\n", b"\x1f\x8b damaged"])
def test_a_host_graph_that_is_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "edges.gz" if content and content[:1] == b"\x1f" else tmp_path / "edges"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match="commoncrawl="):
        HostGraph(path)


def test_every_engine_says_what_it_is() -> None:
    assert all(row.summary for row in ENGINES.values())


def test_the_password_of_a_searxng_server_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_AUTH", "jo:secret")
    asked = SearxNg("http://localhost:8888").request(parse_query("search://searxng/?q=rain"))
    assert asked.headers == (("Authorization", "Basic am86c2VjcmV0"),)
    with pytest.raises(ConfigError, match="SEARXNG_AUTH") as refused:
        SearxNg("http://jo:secret@localhost:8888")
    assert "jo:" not in str(refused.value)
