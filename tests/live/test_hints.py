"""Hints of a web archive in a live crawl: what is still there is taken, what is gone is listed."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coati.assembly import build_strategy
from coati.errors import ConfigError
from coati.model import EVERY_HOST, Failure, Link, LinkList, Page, Request, Target
from coati.search.web_archives import CommonCrawl, Wayback
from coati.settings.run_settings import RunSettings
from coati.web.queries import Ability, Query
from tests.live.crawling import crawl_into
from tests.live.scripted import Exchange, answer, file, page, scripted

HEAD = ["timestamp", "original", "mimetype", "length", "endtimestamp"]


def captures(exchange: Exchange) -> None:
    """Answer as the CDX server does, for a site on this host."""
    if not exchange.path.startswith("/cdx/search/cdx?url=127.0.0.1"):
        exchange.answer(404)
        return
    base = f"http://{exchange.headers['Host']}"
    rows = [
        ["20100101000000", f"{base}/{name}", "text/csv", "9", "20150101000000"]
        for name in ("a.csv", "gone.csv")
    ]
    exchange.answer(body=json.dumps([HEAD, *rows]), media_type="application/json")


def test_files_that_an_index_knows_are_asked_for_and_those_that_are_gone_are_listed(tmp_path: Path) -> None:
    with scripted({"/": page("/b.html"), "/a.csv": file(b"1\n"), "/b.html": page(), "*": captures}) as server:
        query = Query("wayback", server.start, Ability.SITE).address
        more: dict[str, Any] = {
            "new_strategy": lambda: build_strategy("scent", [server.start, query]),
            "more_start_urls": (query,),
            "providers": (_quick(server.base),),
            "robots": False,
        }
        crawled = crawl_into(tmp_path, server.start, **more)
        assert crawled.result.progress.targets == 1
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as run:
        ((url, archived, seen, known, status),) = run.execute("SELECT * FROM gone")
    assert url == server.base + "/gone.csv"
    assert archived == f"https://web.archive.org/web/20150101000000/{url}"
    assert seen.startswith("2015-01-01")
    assert known == "text/csv, 9 B, last seen 2015-01-01"
    assert status == 404


def indexed(exchange: Exchange) -> None:
    """Answer as Common Crawl does: its indexes, and two pages of one."""
    base = f"http://{exchange.headers['Host']}"
    if exchange.path == "/collinfo.json":
        exchange.answer(body=json.dumps([{"cdx-api": f"{base}/newest"}]), media_type="application/json")
        return
    page = exchange.path.partition("&page=")[2]
    known = {"url": f"{base}/{page}.csv", "mime": "text/csv", "timestamp": "20260101000000"}
    exchange.answer(body=json.dumps(known) if page in {"0", "1"} else "", media_type="text/x-ndjson")


def test_a_resumed_run_asks_for_the_newest_index_again_and_for_no_page_twice(tmp_path: Path) -> None:
    routes = {"/": page(), "/0.csv": file(b"1\n"), "/1.csv": file(b"2\n"), "*": indexed}
    with scripted(routes) as server:
        query = Query("commoncrawl", server.start, Ability.SITE).address
        for most in (2, 4, 20):
            engine = CommonCrawl(server.base)
            engine.delay_seconds = 0.0
            crawled = crawl_into(
                tmp_path,
                server.start,
                new_strategy=lambda: build_strategy("scent", [server.start, query]),
                more_start_urls=(query,),
                providers=(engine,),
                robots=False,
                max_requests=most,
            )
        pages = [path.partition("&page=")[2] for path in server.paths if "/newest" in path]
    assert pages == ["0", "1", "2"]
    assert crawled.result.progress.targets == 2
    assert 2 <= server.paths.count("/collinfo.json") <= 3


def test_an_engine_that_does_not_say_its_indexes_is_no_answer(tmp_path: Path) -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"1\n"), "*": answer(503)}) as server:
        query = Query("commoncrawl", server.start, Ability.SITE).address
        engine = CommonCrawl(server.base)
        engine.delay_seconds = 0.0
        crawled = crawl_into(
            tmp_path,
            server.start,
            new_strategy=lambda: build_strategy("scent", [server.start, query]),
            more_start_urls=(query,),
            providers=(engine,),
            robots=False,
            defers=False,
        )
    assert crawled.result.progress.targets == 1


def _quick(base: str) -> Wayback:
    engine = Wayback(base)
    engine.delay_seconds = 0.0
    return engine


def test_dead_hints_say_nothing_of_the_links_of_the_site() -> None:
    """After a hundred dead hints, a file of the same folder and type promises what it promised before."""
    start = "http://a.test/"
    query = Query("wayback", start, Ability.SITE).address
    links = [Link(f"{start}files/{n}.csv", ("html", "body", "ul", "li", "a")) for n in range(2)]
    hints = [Link(f"{start}files/old{n}.csv", ("search", "wayback", "archived")) for n in range(100)]
    strategy = build_strategy("scent", [start, query])
    pages = {start: links, query: hints}
    before = after = 0.0
    for _ in range(104):
        request = strategy.choose(0.0, EVERY_HOST)
        assert isinstance(request, Request)
        if request.url in pages:
            strategy.observe(request.id, Page(200, 9, LinkList(pages[request.url])), 0.0)
        elif "old" in request.url:
            strategy.observe(request.id, Failure(404, 0, "status 404"), 0.0)
        else:
            before, after = after, request.score or 0.0
            strategy.observe(request.id, Target(200, 9, "text/csv"), 0.0)
    assert after >= before > 0.7


def test_hints_are_start_addresses_only_when_they_are_asked_for() -> None:
    assert RunSettings(urls=("https://www.example.org/a/",)).more_start_urls == ()
    wanted = RunSettings(urls=("https://www.example.org/a/",), hints="wayback, commoncrawl")
    assert wanted.more_start_urls == (
        "search://wayback/?site=https://www.example.org/",
        "search://commoncrawl/?site=https://www.example.org/",
    )
    with pytest.raises(ConfigError, match="index for hints"):
        RunSettings(urls=("https://www.example.org/",), hints="google")
