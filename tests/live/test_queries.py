"""Queries live: over HTTP and in this process, within their quota, and asked by nobody but a strategy."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.errors import ConfigError, UsageError
from coati.live import EventKind, LiveSettings, StopReason
from coati.live.engine_settings import engine_settings
from coati.model import EVERY_HOST, Hosts, Method, Outcome, Request, Settlement
from coati.readers.hits import HITS_TYPE, Hits
from coati.reporting.explaining import explain_url
from coati.reporting.report_file import write_report
from coati.strategies.baselines.simple_orders import breadth_first
from coati.strategies.strategy import Strategy
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.server import SiteServer, serve
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from coati.testing.stub_engine import HttpEngine, IndexedPage, StubEngine, engine_site
from coati.web.media import PRESETS
from coati.web.queries import Ability, Query
from tests.live.crawling import Crawled, crawl_from, crawl_into, plan_for
from tests.live.scripted import Exchange, Route, answer, in_turn, page, scripted
from tests.live.steady_sites import without_outages
from tests.prospector import Prospector

KNOBS = SiteParameters(pages=25, links_per_page=8, target_share=0.3, page_bytes=1500, target_bytes=500)
WORDS = "data report"
KEY = "a-secret-key"
RAIN = Query("stub", "rain")


class Script:
    """Asks for given addresses one after the other, then for the links that they gave."""

    def __init__(self, *addresses: str) -> None:
        self._waiting = list(addresses)
        self._turn = 0
        self.outcomes: list[Outcome] = []

    def choose(self, now: float, hosts: Hosts) -> Request | None:
        if not self._waiting:
            return None
        self._turn += 1
        return Request(self._turn, Method.GET, self._waiting.pop(0))

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        self.outcomes.append(outcome)
        links = getattr(outcome, "links", None)
        self._waiting += links.urls if links is not None else []
        return ()

    def redo(self, request: Request, now: float) -> None:
        self._waiting.remove(request.url)
        self._turn += 1

    def save(self) -> dict[str, Any]:
        return {"waiting": self._waiting, "turn": self._turn}

    def load(self, state: Any) -> None:  # noqa: ANN401 - what was saved
        self._waiting, self._turn = list(state["waiting"]), state["turn"]

    def arm_label(self, arm: int) -> str:
        return str(arm)


@contextmanager
def site_and_engine() -> Iterator[tuple[SiteServer, HttpEngine]]:
    """Serve a site, and a search engine over it from another address."""
    sites: list[Site] = []

    def make(base_url: str) -> Site:
        sites.append(without_outages(generate_site(KNOBS, 1, base_url)))
        return sites[0]

    def make_engine(base_url: str) -> Site:
        return engine_site(base_url, StubEngine.over(sites[0]))

    with serve(make, make_engine) as server:
        yield server, HttpEngine(server.sites[1].start_url.rstrip("/"), key=KEY)


def in_memory(site: Site, strategy: Strategy) -> list[str]:
    responder = Responder(site)
    asked: list[str] = []
    while isinstance(request := strategy.choose(0.0, EVERY_HOST), Request):
        asked.append(request.url)
        strategy.observe(request.id, responder.outcome(request), 0.0)
    return asked


def addresses(folder: Path) -> list[str]:
    return [url for (url,) in rows(folder, "SELECT url FROM requests ORDER BY chosen_event")]


def rows(folder: Path, query: str, *values: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection:
        return connection.execute(query, values).fetchall()


def test_live_and_memory_decide_alike(tmp_path: Path) -> None:
    with site_and_engine() as (server, engine):
        start = server.url
        crawl_into(
            tmp_path / "run", start, new_strategy=lambda: Prospector([start], WORDS), providers=(engine,)
        )
        here = StubEngine.over(server.site)
        crawl_into(
            tmp_path / "here", start, new_strategy=lambda: Prospector([start], WORDS), providers=(here,)
        )
        asked = [seen.url for seen in server.requests if seen.url.startswith(engine.base_url)]
        expected = in_memory(server.site, Prospector([start], WORDS))
    live = addresses(tmp_path / "run")
    assert live == expected == addresses(tmp_path / "here")
    queries = [url for url in live if url.startswith("search://")]
    assert len(queries) > 10
    assert {ability for ability in Ability for url in queries if f"?{ability.value}=" in url} == set(Ability)
    assert any("&page=" in url for url in queries)
    # Once each, and neither the engine's robots.txt nor anything else of it.
    assert len(asked) == len(queries)
    assert all("/search?" in url for url in asked)


@pytest.mark.parametrize("snapshots", [True, False])
def test_a_crawl_with_queries_is_resumed(tmp_path: Path, *, snapshots: bool) -> None:
    with site_and_engine() as (server, engine):
        start, run = server.url, tmp_path / "run"
        expected = in_memory(server.site, Prospector([start], WORDS))
        for most in (1, 2, 3, 7, 20, 21, 40, 10_000):
            crawl_into(
                run,
                start,
                new_strategy=lambda: Prospector([start], WORDS),
                providers=(engine,),
                max_requests=most,
            )
            if not snapshots:
                for saved in (run / "snapshots").glob("*") if (run / "snapshots").exists() else ():
                    saved.unlink()
    assert addresses(run) == expected


def test_the_log_and_the_report_know_queries(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with site_and_engine() as (server, engine):
        start = server.url
        crawl_into(run, start, new_strategy=lambda: Prospector([start], WORDS), providers=(engine,))
    first = Query("stub", WORDS).address
    assert rows(run, "SELECT purpose, host, kind FROM requests WHERE url = ?", first) == [
        ("query", "search://stub", "page")
    ]
    assert not rows(run, "SELECT 1 FROM requests WHERE (purpose = 'query') != (host = 'search://stub')")
    paths = rows(run, "SELECT DISTINCT path FROM tag_paths JOIN links ON tag_path = tag_paths.id")
    assert any("search" in path and "hit" in path for (path,) in paths)
    assert explain_url(run, first).url == first
    # As somebody would type it.
    assert explain_url(run, f"search://stub?q={WORDS.replace(' ', '%20')}&page=1").url == first
    with pytest.raises(UsageError, match="names no search engine"):
        explain_url(run, "search:///?q=x")
    found_by_query = rows(
        run,
        "SELECT r.url FROM requests r JOIN links l ON l.id = r.link JOIN requests p ON p.id = l.page"
        " WHERE p.purpose = 'query'",
    )
    assert explain_url(run, found_by_query[0][0]).url == found_by_query[0][0]
    assert write_report(run).exists()


def test_a_key_is_written_nowhere(tmp_path: Path) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.answer(401, f"<h1>No such key: {exchange.headers['X-Key']}</h1>")

    with scripted({"/search?q=rain": refuse, "*": page()}) as site:
        engine = HttpEngine(site.base, key=KEY)
        with archive_at(tmp_path / "archive", site.start) as archive:
            crawl_into(
                tmp_path / "run",
                site.start,
                new_strategy=lambda: Script(RAIN.address),
                providers=(engine,),
                archive=archive,
                headers=(("X-Site", "only for the site"),),
                cookies=(("session", "only-for-the-site"),),
            )
        (asked,) = site.asked
    assert asked.headers["x-key"] == KEY
    assert "x-site" not in asked.headers
    assert "cookie" not in asked.headers
    assert asked.headers["user-agent"] == LiveSettings().user_agent
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()
    with Archive.open(tmp_path / "archive") as archive:
        assert archive.entry(RAIN.address) is None


@contextmanager
def archive_at(folder: Path, start: str) -> Iterator[Archive]:
    with Archive.create(folder, ArchiveMeta("site", start, PRESETS["data"])) as archive:
        yield archive


def test_an_archived_query_needs_no_engine(tmp_path: Path) -> None:
    with site_and_engine() as (server, engine), archive_at(tmp_path / "archive", server.url) as archive:
        start = server.url
        new = {"new_strategy": lambda: Prospector([start], WORDS), "archive": archive}
        first = crawl_from(start, providers=(engine,), **new)
        asked = len(server.requests)
        second = crawl_from(start, **new)
        assert len(server.requests) == asked
        entry = archive.entry(Query("stub", WORDS).address)
    assert list(second.observed) == list(first.observed)
    assert entry is not None
    assert entry.media_type == HITS_TYPE


def ask(engine: object, *addresses: str, **changes: Any) -> tuple[Crawled, list[Outcome]]:  # noqa: ANN401
    """Crawl with a strategy that asks for these, and gives its outcomes."""
    strategy = Script(*addresses)
    start = changes.pop("start", "http://127.0.0.1:1/")
    providers = () if engine is None else (engine,)
    crawled = crawl_from(start, new_strategy=lambda: strategy, providers=providers, **changes)
    return crawled, strategy.outcomes


def only(outcomes: list[Outcome]) -> Any:  # noqa: ANN401 - each test knows which outcome it is
    (outcome,) = outcomes
    return outcome


def as_json(results: object, *, more: bool = False) -> Route:
    body = json.dumps({"results": results, "more": more})
    return lambda exchange: exchange.answer(body=body, media_type="application/json")


def hit(url: str) -> dict[str, str]:
    return {"url": url, "title": "A title", "content": "A snippet"}


UNUSABLE = "no usable response from the search engine"
REDIRECTS = "the search engine redirects to another address"


def sends(body: str | bytes, media_type: str = "application/json") -> Route:
    return lambda exchange: exchange.answer(body=body, media_type=media_type)


@pytest.mark.parametrize(
    ("route", "status", "reason"),
    [
        (sends("<h1>Are you a robot?</h1>", "text/html"), 0, UNUSABLE),
        (sends("{"), 0, UNUSABLE),
        (sends("[]"), 0, UNUSABLE),
        (sends("[" * 100_000), 0, UNUSABLE),
        (as_json([{"url": None, "title": 3}]), 0, UNUSABLE),
        (as_json([3]), 0, UNUSABLE),
        (
            lambda it: it.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
            0,
            "body shorter than declared",
        ),
        (answer(500), 500, "status 500"),
        (answer(403), 403, "status 403"),
        (answer(404), 404, "status 404"),
        (answer(301, Location="http://127.0.0.1/"), 301, REDIRECTS),
        (answer(302, Location="search://stub/?q=more"), 302, REDIRECTS),
        (sends(b" " * 5_000_000), 0, "too large"),
    ],
)
def test_an_engine_that_fails_is_a_failure(route: Route, status: int, reason: str) -> None:
    with scripted({"/search?q=rain": route}) as server:
        _, outcomes = ask(HttpEngine(server.base), RAIN.address)
        assert server.paths == ["/search?q=rain"]
    failure = only(outcomes)
    assert (failure.status, failure.reason) == (status, reason)


def test_an_engine_that_is_not_there_is_a_failure(own_port: int) -> None:
    _, outcomes = ask(HttpEngine(f"http://127.0.0.1:{own_port}"), RAIN.address)
    assert only(outcomes).reason == "connection refused"


def test_an_engine_that_is_busy_is_asked_again() -> None:
    busy = in_turn(answer(429, Retry_After="0"), as_json([]))
    with scripted({"/search?q=rain": busy}) as server:
        crawled = crawl_from(
            "http://127.0.0.1:1/",
            new_strategy=lambda: breadth_first([RAIN.address]),
            providers=(HttpEngine(server.base),),
            retries=1,
        )
        assert len(server.asked) == 2
    assert [told["kind"] for told in crawled.told(EventKind.OBSERVED)] == ["deferred", "page"]
    assert crawled.result.progress.requests == 2


def test_a_million_hits_are_bounded() -> None:
    # As many as fit into what is read of an answer.
    many = [{"url": f"http://127.0.0.1:1/{number}", "title": "", "content": ""} for number in range(60_000)]
    with scripted({"/search?q=rain": as_json(many)}) as server:
        _, outcomes = ask(HttpEngine(server.base), RAIN.address, max_requests=1)
    assert len(only(outcomes).links.urls) == 1000


def test_hits_are_links_like_others() -> None:
    """Neither a script nor a query is a link; a private address is refused when it is asked for."""
    odd = ["javascript:alert(1)", "search://stub/?q=more", "data:text/html,x", "", "http://elsewhere.test/"]
    with scripted(
        {"/search?q=rain": as_json([hit(url) for url in odd] + [hit("http://10.0.0.1/")])}
    ) as server:
        crawled, outcomes = ask(
            HttpEngine(server.base),
            RAIN.address,
            start="http://10.0.0.1/a",
            allow_private=False,
            robots=False,
        )
        assert server.paths == ["/search?q=rain"]
    assert [type(outcome).__name__ for outcome in outcomes] == ["Page", "Refused"]
    assert crawled.skipped["http://10.0.0.1/"] == "private address"


def test_no_page_can_ask_an_engine() -> None:
    routes = {
        "/": page("search://stub/?q=from+a+page", "/moved"),
        "/moved": answer(302, Location="search://stub/?q=from+a+redirect"),
        "/robots.txt": answer(302, Location="search://stub/?q=from+robots"),
    }
    engine = StubEngine([IndexedPage("http://a.test/", "from a page redirect robots")], max_queries=0)
    with scripted(routes) as server:
        crawled = crawl_from(server.start, providers=(engine,))
    assert set(crawled.observed) == {server.start, server.base + "/moved"}
    assert crawled.observed[server.base + "/moved"]["reason"] == "redirect without a usable location"


@pytest.mark.parametrize(
    ("engine", "query", "reason"),
    [
        (None, RAIN, "no such search engine"),
        (StubEngine([]), Query("other", "rain"), "no such search engine"),
        (StubEngine([], abilities=frozenset({Ability.RELATED})), RAIN, "not offered by the search engine"),
        (StubEngine([], max_queries=0), RAIN, "search quota used up"),
    ],
)
def test_a_query_that_nobody_answers_costs_nothing(
    engine: StubEngine | None, query: Query, reason: str
) -> None:
    crawled, outcomes = ask(engine, query.address)
    assert only(outcomes).reason == reason
    assert crawled.skipped == {query.address: reason}
    assert crawled.result.progress.requests == 0


def test_a_quota_outlives_the_session(tmp_path: Path) -> None:
    queries = [Query("stub", f"rain {number}").address for number in range(5)]
    engine = StubEngine([], max_queries=3)
    for most in (2, 10):
        crawl_into(
            tmp_path,
            "http://127.0.0.1:1/",
            new_strategy=lambda: Script(*queries),
            providers=(engine,),
            max_requests=most,
        )
    kinds = [kind for (kind,) in rows(tmp_path, "SELECT kind FROM requests ORDER BY id")]
    assert kinds == ["page"] * 3 + ["refused"] * 2


@dataclass(frozen=True)
class Failing:
    """An engine in this process that raises."""

    error: Exception
    name: str = "stub"
    abilities: frozenset[Ability] = frozenset(Ability)
    delay_seconds: float = 0.0
    max_queries: int | None = None

    def search(self, query: Query) -> Hits:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("no network"), "status 503"),
        (KeyError("title"), UNUSABLE),
        (RecursionError(), UNUSABLE),
    ],
)
def test_an_engine_in_this_process_may_fail(error: Exception, reason: str) -> None:
    _, outcomes = ask(Failing(error), RAIN.address)
    assert only(outcomes).reason == reason


@pytest.mark.parametrize(
    ("method", "address", "complaint"),
    [
        (Method.GET, "search:///?q=x", "names no search engine"),
        (Method.GET, "search://stub/?q=x&page=0", "not a page of results"),
        (Method.HEAD, RAIN.address, "a query takes GET"),
    ],
)
def test_a_strategy_that_asks_what_is_no_query_is_wrong(method: Method, address: str, complaint: str) -> None:
    class Wrong(Script):
        def choose(self, now: float, hosts: Hosts) -> Request | None:
            chosen = super().choose(now, hosts)
            return None if chosen is None else chosen._replace(method=method)

    with pytest.raises(UsageError, match=complaint):
        crawl_from("http://127.0.0.1:1/", new_strategy=lambda: Wrong(address), providers=(StubEngine([]),))


def test_an_engine_is_asked_at_its_own_pace() -> None:
    slow, quick = StubEngine([], "slow", delay_seconds=7.0), StubEngine([], "quick")
    plan = plan_for("http://a.test/", providers=(slow, quick), delay_seconds=1.0)
    assert engine_settings(plan)["COATI_DELAYS"] == {"search://slow": 7.0, "search://quick": 0.0}
    with pytest.raises(ConfigError, match="two search engines"):
        replace(plan, providers=(slow, slow))


def test_a_query_does_not_open_private_addresses() -> None:
    assert not LiveSettings().allows_private([RAIN.address])
    assert LiveSettings(allow_private=True).allows_private([RAIN.address])


def test_a_page_of_hits_is_a_page_whatever_is_wanted() -> None:
    engine = StubEngine([IndexedPage("http://127.0.0.1:1/", "rain")])
    crawled, outcomes = ask(engine, RAIN.address, types=PRESETS["all-files"], max_requests=1)
    assert only(outcomes).links.urls == ["http://127.0.0.1:1/"]
    assert crawled.result.stop is StopReason.BUDGET_REQUESTS
