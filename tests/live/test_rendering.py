"""Crawls of pages that are built by scripts, with a real browser: what it may ask for, and what is kept."""

import asyncio
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.assembly import build_strategy
from coati.live.progress import EventKind
from coati.runs.reader import RunReader
from coati.runs.renderings import count_renderings
from coati.web.media import PRESETS
from tests.live.browsers import LISTS_FILES, data, made_by_script, needs_browser, script
from tests.live.crawling import Crawled, crawl_into
from tests.live.plain_spider import PlainSpider
from tests.live.scripted import Route, Script, answer, file, page, scripted

pytestmark = needs_browser

FILES = ("/a.csv", "/b.csv", "/c.csv")

# What a page may do beside: none of it may reach anybody.
MISCHIEF = """
new Image().src = "http://127.0.0.2:{port}/pixel.png";
fetch("http://127.0.0.2:{port}/elsewhere.json").catch(() => 0);
fetch("/private/secret.json").catch(() => 0);
fetch("/form", {{method: "POST", body: "x"}}).catch(() => 0);
navigator.sendBeacon("/beacon", "x");
new WebSocket("ws://127.0.0.1:{port}/socket");
new EventSource("/events");
window.open("/window");
setTimeout(() => {{ location.href = "/later.html"; }}, 3000);
"""


def a_site(port: int) -> dict[str, Route]:
    return {
        "/robots.txt": lambda exchange: exchange.answer(
            body="User-agent: *\nDisallow: /private/\n", media_type="text/plain"
        ),
        "/": made_by_script(
            "/app.js", "/moved.js", body='<img src="/picture.png"><iframe src="/frame"></iframe>'
        ),
        "/app.js": script(LISTS_FILES + MISCHIEF.format(port=port)),
        "/moved.js": answer(302, Location="/here.js"),
        "/here.js": script(
            "document.body.append(Object.assign(document.createElement('a'), {href: '/d.csv'}))"
        ),
        "/list.json": data(*FILES, "/plain.html", "/second.html"),
        "/plain.html": page(*FILES, "/e.csv", "/f.csv"),
        "/second.html": made_by_script("/app.js"),
        "/later.html": page("/g.csv"),
        **dict.fromkeys((*FILES, "/d.csv", "/e.csv", "/f.csv", "/g.csv"), file()),
    }


@dataclass
class Rendered:
    """A crawl by a browser, and who was asked for what."""

    crawled: Crawled
    site: Script
    elsewhere: Script
    run: Path
    archive: Path


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rendered]:
    folder = tmp_path_factory.mktemp("rendered")
    with scripted({}, host="127.0.0.2") as elsewhere:
        port = int(elsewhere.base.rpartition(":")[2])
        with scripted(a_site(port)) as site:
            archive = Archive.create(folder / "archive", ArchiveMeta("a", site.start, PRESETS["data"]))
            with archive:
                crawled = crawl_into(
                    folder / "run",
                    site.start,
                    new_strategy=lambda: build_strategy("scent", [site.start]),
                    render="auto",
                    archive=archive,
                )
            yield Rendered(crawled, site, elsewhere, folder / "run", folder / "archive")


def test_links_that_scripts_make_are_followed(rendered: Rendered) -> None:
    assert rendered.crawled.result.progress.targets == 7
    assert set(FILES) <= set(rendered.site.paths)
    assert "/d.csv" in rendered.site.paths, "a script that moved was run"
    assert "/g.csv" in rendered.site.paths, "where a script leads is a link"


def test_nothing_is_asked_for_beside_scripts_and_data(rendered: Rendered) -> None:
    asked = [(one.method, one.path) for one in rendered.site.asked]
    assert {method for method, _ in asked} == {"GET"}
    unwanted = {"/picture.png", "/private/secret.json", "/form", "/beacon", "/socket", "/events"}
    assert not unwanted & set(rendered.site.paths)
    assert "/window" not in rendered.site.paths
    assert rendered.elsewhere.paths == []
    assert {one.headers["user-agent"].partition("/")[0] for one in rendered.site.asked} == {"Coati"}


def test_what_was_refused_is_told(rendered: Rendered) -> None:
    skipped = {
        url.partition("/")[2].partition("/")[2]: reason for url, reason in rendered.crawled.skipped.items()
    }
    assert {reason for url, reason in skipped.items() if url.endswith("secret.json")} == {"robots.txt"}
    assert {reason for url, reason in skipped.items() if url.endswith("elsewhere.json")} == {"out of scope"}


def test_each_request_of_a_page_counts_and_the_same_script_is_asked_for_once(rendered: Rendered) -> None:
    asked = [path for path in rendered.site.paths if path != "/robots.txt"]
    assert rendered.crawled.result.progress.requests == len(asked) == len(set(asked))
    start = rendered.crawled.observed[rendered.site.start]
    assert start["charged"] == 1 + start["rendered"]["requests"] == 5
    assert start["size_bytes"] > 1000


def test_only_pages_with_next_to_no_links_are_rendered(rendered: Rendered) -> None:
    told = {
        one["url"].removeprefix(rendered.site.base)
        for one in rendered.crawled.told(EventKind.OBSERVED)
        if "rendered" in one
    }
    assert told == {"/", "/second.html"}


def test_the_log_says_what_was_rendered(rendered: Rendered) -> None:
    with RunReader(rendered.run) as run:
        assert count_renderings(run.connection) == (2, 4, 0)
        rows = run.connection.execute(
            "SELECT url FROM rendered JOIN requests ON requests.id = page"
        ).fetchall()
    assert {row["url"] for row in rows} == {rendered.site.start, rendered.site.base + "/second.html"}


def test_an_archive_holds_the_page_as_people_see_it_and_needs_no_browser(
    rendered: Rendered, tmp_path: Path
) -> None:
    with Archive.open(rendered.archive) as archive:
        record = archive.record(rendered.site.start)
        again = crawl_into(
            tmp_path / "again",
            rendered.site.start,
            new_strategy=lambda: build_strategy("scent", [rendered.site.start]),
            render="auto",
            browser="no such browser",
            archive=archive,
            offline=True,
            robots=False,
        )
    assert b'<a href="/a.csv">' in (record.body or b"")
    assert dict(record.headers)["Coati-Rendered"] == "4"
    assert again.result.progress.targets == 7


class RecipeSpider(Spider):
    """A spider of somebody's, with the settings of the how-to."""

    name = "recipe"
    custom_settings = {  # noqa: RUF012 - as Scrapy has it
        **(PlainSpider.custom_settings or {}),
        "SCHEDULER": "coati.live.scheduler.StrategyScheduler",
        "COATI_RENDER": "auto",
        "CONCURRENT_REQUESTS": 1,
    }

    def __init__(self, start: str) -> None:
        super().__init__()
        self.start_urls = [start]
        self.parsed: list[str] = []

    def parse(self, response: Response) -> Any:  # noqa: ANN401 - as Scrapy has it
        self.parsed.append(response.url.rpartition("/")[2])


@pytest.mark.parametrize("strategy", ["scent", "sb-classifier"])
def test_the_recipe_for_projects(strategy: str) -> None:
    """With sb-classifier, HEADs once went through the browser, and came back empty: no file was found."""
    routes = {"/": made_by_script("/app.js"), "/app.js": script(LISTS_FILES), "/list.json": data(*FILES)}
    with scripted({**routes, **dict.fromkeys(FILES, file())}) as site:
        crawler = Crawler(RecipeSpider)
        crawler.settings.set("COATI_STRATEGY", strategy, priority="cmdline")
        crawler.settings["DOWNLOADER_MIDDLEWARES"].set("coati.live.rendering.RenderMiddleware", 25)
        asyncio.run(crawler.crawl_async(start=site.start))
    assert isinstance(crawler.spider, RecipeSpider)
    assert {"a.csv", "b.csv", "c.csv"} <= set(crawler.spider.parsed)
    assert crawler.stats.get_value("coati/targets") == 3


def test_a_run_of_earlier_versions_gets_the_table_when_it_needs_it() -> None:
    connection = sqlite3.connect(":memory:")
    assert count_renderings(connection) == (0, 0, 0)
