"""Sitemaps, feeds and robots.txt in a live crawl: where they are pages, and where they are not."""

import gzip
import threading
from pathlib import Path
from typing import Any

import pytest

from coati.live import StopReason
from coati.live.outcomes import LIST, ResponseReader
from coati.model import Method, Other, Page, Request, Target
from coati.strategies.baselines.simple_orders import breadth_first
from coati.web.media import parse_types
from tests.live.crawling import Crawled, crawl_from, crawl_into
from tests.live.scripted import Exchange, Route, Script, answer, file, page, scripted
from tests.live.test_outcomes import URL, response

XML = "application/xml"
ENTRIES = "".join(f"<url><loc>/{number}.csv</loc></url>" for number in range(2))
SITEMAP = f"<urlset>{ENTRIES}</urlset>".encode()
PADDING = b"<!--" + b" " * 100_000 + b"-->"
FILES = {"/0.csv": file(b"0\n"), "/1.csv": file(b"1\n")}


def crawl_lists(server: Script, *paths: str, **changes: Any) -> Crawled:  # noqa: ANN401 - fields of a plan
    """Crawl from the start page and from further addresses, which widen no scope."""
    more = tuple(server.base + path for path in paths)
    changes.setdefault("robots", False)
    return crawl_from(
        server.start,
        new_strategy=lambda: breadth_first([server.start, *more]),
        more_start_urls=more,
        **changes,
    )


def outcomes(crawled: Crawled, server: Script) -> dict[str, str]:
    return {url.removeprefix(server.base): told["kind"] for url, told in crawled.observed.items()}


def test_a_start_address_is_read_as_a_list_and_the_same_xml_elsewhere_is_a_target() -> None:
    site = {"/": page("/same.xml"), "/map.xml": file(SITEMAP, XML), "/same.xml": file(SITEMAP, XML), **FILES}
    with scripted(site) as server:
        crawled = crawl_lists(server, "/map.xml")
    assert outcomes(crawled, server) == {
        "/": "page",
        "/map.xml": "page",
        "/same.xml": "target",
        "/0.csv": "target",
        "/1.csv": "target",
    }


def test_the_way_from_an_index_over_redirects_and_packed_files_is_followed() -> None:
    index = b"<sitemapindex><loc>/moved.xml</loc><loc>/lines.txt</loc><loc>/index.xml</loc></sitemapindex>"
    site = {
        "/": page(),
        "/index.xml": file(index, XML),
        "/moved.xml": answer(301, Location="/map.xml.gz"),
        "/map.xml.gz": file(gzip.compress(SITEMAP), "application/x-gzip"),
        "/lines.txt": lambda exchange: exchange.answer(
            body=f"http://{exchange.headers['Host']}/2.csv\nnot an address\n", media_type="text/plain"
        ),
        "/2.csv": file(b"2\n"),
        **FILES,
    }
    with scripted(site) as server:
        crawled = crawl_lists(server, "/index.xml")
        assert crawled.result.progress.targets == 3
        assert len(server.paths) == len(set(server.paths)) == 8


@pytest.mark.parametrize(
    "itself",
    [
        b"<urlset><url><loc>/map.xml</loc></url>" + ENTRIES.encode() + b"</urlset>",
        b"<sitemapindex><loc>/map.xml</loc><loc>/part.xml</loc></sitemapindex>",
    ],
    ids=["among its pages", "among its parts"],
)
def test_a_sitemap_that_lists_itself_is_read_once(itself: bytes) -> None:
    part = b"<sitemapindex><sitemap><loc>/map.xml</loc></sitemap></sitemapindex>"
    site = {"/map.xml": file(itself, XML), "/part.xml": file(part, XML), "*": page()}
    with scripted({**site, **FILES}) as server:
        crawled = crawl_from(server.base + "/map.xml", robots=False)
    assert crawled.result.stop is StopReason.FINISHED
    assert server.paths.count("/map.xml") == 1
    assert len(server.paths) == len(set(server.paths))


@pytest.mark.parametrize("padding", [b"", PADDING])
def test_a_feed_that_nobody_wants_as_a_target_is_read_as_a_page(padding: bytes) -> None:
    feed = b"<rss><channel><item><link>/0.csv</link></item>" + padding + b"</channel></rss>"
    with scripted({"/": page("/feed"), "/feed": file(feed, "text/xml"), **FILES}) as server:
        crawled = crawl_from(server.start, robots=False, types=parse_types("tables"))
        wanted = crawl_from(server.start, robots=False, types=parse_types("text/xml,.csv"))
    assert outcomes(crawled, server) == {"/": "page", "/feed": "page", "/0.csv": "target"}
    assert outcomes(wanted, server) == {"/": "page", "/feed": "target"}


def test_of_other_xml_that_nobody_wants_only_the_first_bytes_are_read() -> None:
    hung_up = threading.Event()

    def endless(exchange: Exchange) -> None:
        exchange.send_response(200)
        exchange.send_header("Content-Type", "text/xml")
        exchange.end_headers()
        exchange.close_connection = True
        try:
            for piece in (b"<data>", *([b" " * 65536] * 10_000)):
                exchange.wfile.write(piece)
                exchange.wfile.flush()
        except OSError:
            hung_up.set()

    with scripted({"/": page("/data.xml"), "/data.xml": endless}) as server:
        crawled = crawl_from(server.start, robots=False, types=parse_types("tables"))
    assert outcomes(crawled, server)["/data.xml"] == "other"
    assert crawled.observed[server.base + "/data.xml"]["size_bytes"] == 0
    assert crawled.skipped == {server.base + "/data.xml": "blocked media type"}
    assert hung_up.wait(240)


def test_a_start_address_that_is_a_large_file_is_taken_whole(tmp_path: Path) -> None:
    large = b"a,b\n" * 500_000
    text = b"http is not an address\n" * 100_000
    with scripted({"/a.csv": file(large), "/b.txt": file(text, "text/plain")}) as server:
        starts = [server.base + "/a.csv", server.base + "/b.txt"]
        crawl_into(
            tmp_path / "run",
            starts[0],
            new_strategy=lambda: breadth_first(starts),
            more_start_urls=(starts[1],),
            robots=False,
        )
    kept = {path.read_bytes() for path in (tmp_path / "run" / "files").iterdir()}
    assert kept == {large, text}


def test_a_large_list_is_read_in_memory(tmp_path: Path) -> None:
    lists = b"<urlset>" + PADDING * 20 + ENTRIES.encode() + b"</urlset>"
    with scripted({"/map.xml": file(lists, XML), **FILES}) as server:
        crawled = crawl_into(tmp_path / "run", server.base + "/map.xml", robots=False)
    assert crawled.result.progress.targets == 2


def test_a_list_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coati.live.streaming.MAX_LIST_BYTES", 300_000)

    def endless(exchange: Exchange) -> None:
        exchange.send_response(200)
        exchange.send_header("Content-Type", XML)
        exchange.end_headers()
        exchange.raw(b"<urlset>" + ENTRIES.encode(), *([b" " * 65536] * 1000))

    with scripted({"/map.xml": endless, **FILES}) as server:
        crawled = crawl_from(server.base + "/map.xml", robots=False)
    assert crawled.observed[server.base + "/map.xml"]["links"] == 2
    assert crawled.result.progress.drops == {"cut": 1}


def test_a_head_of_a_list_address_announces_a_page() -> None:
    reader = ResponseReader(None, parse_types("data"))
    head = Request(1, Method.HEAD, URL)
    answered = response(Content_Type=XML)
    assert reader.read(head, answered).outcome == Target(200, 0, XML)
    assert answered.request is not None
    answered.request.meta[LIST] = True
    assert isinstance(reader.read(head, answered).outcome, Page)
    assert reader.read(head, response(Content_Type="text/xml")).outcome == Other(200, 0, "text/xml")


def robots(text: str) -> Route:
    return lambda exchange: exchange.answer(body=text, media_type="text/plain")


def test_robots_is_fetched_once_costs_nothing_and_is_not_under_its_own_rules() -> None:
    text = "User-agent: *\nDisallow: /robots.txt\nDisallow: /1.csv\nSitemap: /map.xml\n"
    site = {"/": page(), "/robots.txt": robots(text), "/map.xml": file(SITEMAP, XML), **FILES}
    with scripted(site) as server:
        crawled = crawl_lists(server, "/robots.txt", robots=True)
        assert server.paths == ["/robots.txt", "/", "/map.xml", "/0.csv"]
    progress = crawled.result.progress
    assert (progress.requests, progress.robots_requests, progress.pages) == (3, 1, 2)
    assert crawled.observed[server.base + "/robots.txt"]["charged"] == 0
    assert crawled.skipped == {server.base + "/1.csv": "robots.txt"}


@pytest.mark.parametrize("first", ["/robots.txt", "/"])
def test_robots_that_moved_is_read_where_it_went(first: str) -> None:
    site = {
        "/": page(),
        "/robots.txt": answer(302, Location="/rules"),
        "/rules": robots("Sitemap: /map.xml"),
        "/map.xml": file(SITEMAP, XML),
        **FILES,
    }
    with scripted(site) as server:
        starts = [server.base + first]
        crawled = crawl_from(
            server.start,
            new_strategy=lambda: breadth_first([*starts, server.base + "/robots.txt"]),
            more_start_urls=(server.base + "/robots.txt",),
        )
        assert server.paths.count("/robots.txt") == 1
    assert crawled.result.progress.targets == 2


@pytest.mark.parametrize("obeyed", [True, False])
def test_robots_that_is_not_there_or_is_a_page_leads_to_the_usual_place(*, obeyed: bool) -> None:
    site = {"/": page(), "/sitemap.xml": file(SITEMAP, XML), **FILES}
    for rules in ({}, {"/robots.txt": page("/no")}):
        with scripted({**site, **rules}) as server:
            crawled = crawl_lists(server, "/robots.txt", robots=obeyed)
            assert crawled.result.progress.targets == 2
            assert "/no" not in server.paths
            assert crawled.result.progress.requests == 4 + (not obeyed)


def test_robots_that_cannot_be_read_forbids_all() -> None:
    def fails(exchange: Exchange) -> None:
        exchange.answer(503, Retry_After="0")

    with scripted({"/": page(), "/robots.txt": fails}) as server:
        crawled = crawl_lists(server, "/robots.txt", robots=True, max_delay_seconds=0.1)
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "robots.txt could not be fetched"
    assert (crawled.result.progress.requests, crawled.result.progress.refused) == (0, 0)


def test_a_sitemap_on_another_host_is_left_alone_and_listed() -> None:
    rules = robots("Sitemap: http://elsewhere.example/map.xml\n")
    with scripted({"/": page(), "/robots.txt": rules}) as server:
        folder_rules = crawl_lists(server, "/robots.txt", robots=True)
        assert server.paths == ["/robots.txt", "/"]
    assert folder_rules.result.progress.requests == 1
