"""The scheduler in somebody's own Scrapy project: what their spider sees, and what it still decides."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from coati.errors import ConfigError
from coati.live.project_plan import plan_of_project
from coati.strategies.baselines.simple_orders import depth_first
from coati.web.rules import TrapRule
from tests.live.plain_spider import PlainSpider
from tests.live.scripted import Exchange, Route, answer, file, page, scripted

SITE: dict[str, Route] = {
    "/": page("/a", "/b.csv"),
    "/a": page("/c.csv", "/gone", "/moved"),
    "/b.csv": file(),
    "/c.csv": file(),
    "/moved": answer(301, Location="/d.csv"),
    "/d.csv": file(),
}


class ProjectSpider(Spider):
    """A spider of somebody's: it follows links and keeps what it parsed."""

    name = "project"
    custom_settings = {  # noqa: RUF012 - as Scrapy has it
        **(PlainSpider.custom_settings or {}),
        "SCHEDULER": "coati.live.scheduler.StrategyScheduler",
        "COATI_STRATEGY": "bfs",
        "CONCURRENT_REQUESTS": 1,
    }

    def __init__(self, start: str) -> None:
        super().__init__()
        self.start_urls = [start]
        self.parsed: list[str] = []

    def parse(self, response: Response) -> Iterator[Any]:
        self.parsed.append(response.url.rpartition("/")[2])
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a")


def run(start: str, spider: type[ProjectSpider] = ProjectSpider, **settings: object) -> Crawler:
    crawler = Crawler(spider)
    crawler.settings.setdict(settings, priority="cmdline")
    asyncio.run(crawler.crawl_async(start=start))
    return crawler


def parsed(crawler: Crawler) -> list[str]:
    assert isinstance(crawler.spider, ProjectSpider)
    return crawler.spider.parsed


def test_the_strategy_orders_and_the_spider_parses() -> None:
    with scripted(SITE) as server:
        crawler = run(server.start)
    assert server.paths == ["/", "/a", "/b.csv", "/c.csv", "/gone", "/moved", "/d.csv"]
    # What failed or led elsewhere is the strategy's business.
    assert parsed(crawler) == ["", "a", "b.csv", "c.csv", "d.csv"]
    counted = {name: value for name, value in crawler.stats.get_stats().items() if name.startswith("coati/")}
    assert counted == {
        "coati/requests": 7, "coati/pages": 2, "coati/targets": 3, "coati/failures": 1, "coati/refused": 0,
    }  # fmt: skip


def test_a_strategy_may_be_named_by_path_or_given() -> None:
    for strategy in ("coati.strategies.baselines.simple_orders.depth_first", depth_first):
        with scripted(SITE) as server:
            run(server.start, COATI_STRATEGY=strategy)
        assert server.paths[:3] == ["/", "/b.csv", "/a"]


def test_requests_with_a_purpose_of_their_own_are_sent_first() -> None:
    class WithDetails(ProjectSpider):
        def parse(self, response: Response) -> Iterator[Any]:
            yield from super().parse(response)
            if response.url.endswith("/a"):
                for _ in range(2):  # the second is a duplicate
                    yield Request(response.urljoin("/details"), callback=self.details)
                yield Request(response.urljoin("/search"), method="POST", body=b"q=x")

        def details(self, response: Response) -> None:
            self.parsed.append("details!")

    def echo(exchange: Exchange) -> None:
        exchange.answer(body="<p>")

    with scripted({**SITE, "/details": echo}) as server:
        crawler = run(server.start, WithDetails)
    assert server.paths[:3] == ["/", "/a", "/details"]
    assert server.paths.count("/details") == 1
    assert parsed(crawler).count("details!") == 1


def test_what_a_spider_puts_on_its_links_goes_with_them() -> None:
    seen: dict[str, tuple[object, object, object, object]] = {}

    class WithTopic(ProjectSpider):
        def parse(self, response: Response, topic: str = "") -> Iterator[Any]:
            referer = response.request.headers.get("Referer") if response.request else None
            name = response.url.rpartition("/")[2]
            seen[name] = (topic, response.meta.get("row"), response.meta.get("depth"), referer)
            if isinstance(response, HtmlResponse):
                yield from response.follow_all(
                    css="a", meta={"row": f"row of {name}"}, cb_kwargs={"topic": f"topic of {name}"}
                )

    with scripted(SITE) as server:
        run(server.start, WithTopic)
        root = server.start.encode()
    assert seen == {
        "": ("", None, 0, None),
        "a": ("topic of ", "row of ", 1, root),
        "b.csv": ("topic of ", "row of ", 1, root),
        "c.csv": ("topic of a", "row of a", 2, root + b"a"),
        "d.csv": ("topic of a", "row of a", 2, root + b"a"),
    }


def test_links_that_the_spider_does_not_yield_have_a_referer_and_a_depth_too() -> None:
    seen: dict[str, tuple[object, object]] = {}

    class KeepsFiles(ProjectSpider):
        def parse(self, response: Response) -> None:  # type: ignore[override]
            referer = response.request.headers.get("Referer") if response.request else None
            seen[response.url.rpartition("/")[2]] = (response.meta.get("depth"), referer)

    with scripted(SITE) as server:
        run(server.start, KeepsFiles)
        root = server.start.encode()
    first, second = (1, root), (2, root + b"a")
    assert seen == {"": (0, None), "a": first, "b.csv": first, "c.csv": second, "d.csv": second}


def test_a_link_that_no_page_has_is_sent_as_usual_unless_the_rules_forbid_it() -> None:
    class Scripted(ProjectSpider):
        def parse(self, response: Response) -> Iterator[Any]:
            yield from super().parse(response)
            if response.url.endswith("/a"):
                yield response.follow("/made-by-a-script.csv")
                yield Request("http://elsewhere.example/file.csv")

    with scripted({**SITE, "/made-by-a-script.csv": file()}) as server:
        crawler = run(server.start, Scripted)
    assert "made-by-a-script.csv" in parsed(crawler)
    assert crawler.stats.get_value("downloader/exception_count") is None


def test_what_cannot_go_with_a_link_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    class Insistent(ProjectSpider):
        def parse(self, response: Response) -> Iterator[Any]:
            if isinstance(response, HtmlResponse):
                for link in response.css("a::attr(href)").getall():
                    yield response.follow(link, priority=5, errback=self.failed)

        def failed(self, failure: object) -> None:
            raise AssertionError

    with scripted(SITE) as server:
        run(server.start, Insistent)
    warnings = [
        record.getMessage()
        for record in caplog.records
        if "Use Coati in a Scrapy project" in record.getMessage()
    ]
    assert [warning.partition(" of links")[0] for warning in warnings] == ["the priority", "the errback"]


def test_a_mistake_in_the_spider_does_not_stop_the_crawl() -> None:
    class Mistaken(ProjectSpider):
        def parse(self, response: Response) -> Iterator[Any]:
            yield from super().parse(response)
            raise ZeroDivisionError

    with scripted(SITE) as server:
        crawler = run(server.start, Mistaken)
    assert len(parsed(crawler)) == 5
    assert crawler.stats.get_value("spider_exceptions/count") == 5


def test_a_coroutine_parses_as_well() -> None:
    class Asynchronous(ProjectSpider):
        async def parse(self, response: Response) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            self.parsed.append(response.url.rpartition("/")[2])

    with scripted(SITE) as server:
        assert len(parsed(run(server.start, Asynchronous))) == 5


def test_the_meta_of_requests_can_be_set_for_rendering_and_the_like() -> None:
    seen: list[object] = []

    class Rendered(ProjectSpider):
        def parse(self, response: Response) -> Iterator[Any]:
            seen.append(response.meta.get("playwright"))
            yield from super().parse(response)

    with scripted(SITE) as server:
        run(server.start, Rendered, COATI_REQUEST_META={"playwright": True})
    assert seen == [True] * 5


def test_retries_are_taken_back_in_a_project_too() -> None:
    with scripted({"/": page("/a"), "/a": answer(503)}) as server:
        crawler = run(server.start, RETRY_TIMES=2)
    assert server.paths.count("/a") == 3
    assert crawler.stats.get_value("coati/requests") == 4


@pytest.mark.parametrize(
    ("settings", "start"),
    [
        ({"COATI_STRATEGY": None}, "http://example.org/"),
        ({"COATI_STRATEGY": "bfs"}, "not a URL"),
        ({"COATI_STRATEGY": "bfs", "COATI_TYPES": "nonsense"}, "http://example.org/"),
    ],
)
def test_what_is_missing_is_said(settings: Mapping[str, object], start: str) -> None:
    crawler = Crawler(ProjectSpider)
    crawler.settings.setdict(dict(settings), priority="cmdline")
    with pytest.raises(ConfigError):
        plan_of_project(ProjectSpider(start), crawler)


def test_the_rules_of_a_project_are_those_of_its_strategy_and_types() -> None:
    start = "http://example.org/"
    for settings, traps in (
        ({"COATI_STRATEGY": "bfs"}, TrapRule.OURS),
        ({"COATI_STRATEGY": "sb-classifier"}, TrapRule.PUBLISHED),
        ({"COATI_STRATEGY": depth_first}, TrapRule.OURS),
    ):
        crawler = Crawler(ProjectSpider)
        crawler.settings.setdict({**settings, "COATI_TYPES": "text/csv"}, priority="cmdline")
        rules = plan_of_project(ProjectSpider(start), crawler).rules
        assert (rules.traps, rules.wanted_extensions) == (traps, frozenset({"csv"}))
