"""How fast the live driver is beside plain Scrapy spiders that follow the same links of the same site.

The site is generated: pages of 40 KB with 100 links. Its server runs in a process of its own, on loopback,
and there is no delay. Each contestant runs in a process of its own, too, and counts the CPU seconds that its
crawl took from the first answer on, so that neither the server nor imports and the start of an engine are
charged to it: a crawl of hours does not notice them. All crawl breadth-first until they have requested the
same number of URLs, but for two that show what deciding costs in a live crawl.

- ``coati``: `coati.live.crawl` with everything that a user's crawl has: robots.txt, limits, a run folder.
- ``coati, nothing kept``: the same without the run folder, which the spiders do not write either.
- ``coati, scent`` and ``coati, sb-classifier``: ``coati`` with strategies that learn. They fetch other pages,
  and SB-CLASSIFIER also sends HEAD requests, which are cheap.
- ``scrapy``: a spider as Scrapy's tutorial writes it, with Scrapy's own link extractor.
- ``scrapy, tuned``: the fastest that we found: links by selectolax, known ones left out before they become
  requests, one item worker, no statistics, no logging.

    python -m benchmarks.live_speed [--pages 2000] [--rounds 3] [--format json]
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks.reporting import format_option, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

PAGE_BYTES = 40_000
LINKS_PER_PAGE = 100
CONCURRENCY = 8
OK = 200


def serve_site(pages: int, pipe: Connection) -> None:
    """Serve the site until the other end of the pipe is closed."""
    from coati.testing.generator import generate_site
    from coati.testing.server import serve
    from coati.testing.site import Site
    from coati.testing.site_parameters import SiteParameters

    parameters = SiteParameters(
        pages=pages,
        page_bytes=PAGE_BYTES,
        links_per_page=LINKS_PER_PAGE,
        target_share=0.05,
        pages_with_targets=0.02,
        target_bytes=20_000,
        target_bytes_sd=1_000,
        redirect_share=0.0,
    )

    def make(base_url: str) -> Site:
        site = generate_site(parameters, 1, base_url)
        # Rendered before the race, so that the server is never what is waited for.
        return Site(site.start_url, {url: site.get(url) for url in site})

    with serve(make) as server:
        pipe.send(server.url)
        pipe.poll(None)


class Answers:
    """Counts answers, and the CPU seconds and seconds since the first."""

    def __init__(self) -> None:
        self.count = -1
        self._begun = 0.0, 0.0

    def add(self, *_: object) -> None:
        """Count an answer; the first one only starts the clocks."""
        if self.count < 0:
            self._begun = time.process_time(), time.perf_counter()
        self.count += 1

    def measured(self) -> tuple[int, float, float]:
        """Return the answers after the first, and the CPU seconds and seconds that they took."""
        cpu, wall = self._begun
        return self.count, time.process_time() - cpu, time.perf_counter() - wall


def crawl_with_coati(
    answers: Answers, start_url: str, requests: int, *, keep: bool, strategy: str = "bfs"
) -> None:
    """Crawl with our driver."""
    from coati.assembly import build_strategy
    from coati.budget import Budget
    from coati.live import CrawlPlan, LiveSettings, crawl
    from coati.runs.store import RunStore, SnapshotForm
    from coati.strategies.state import pack, unpack
    from coati.web.rules import Rules

    with tempfile.TemporaryDirectory() as folder:
        store = RunStore.create(Path(folder) / "run", {}, time.time()) if keep else None
        plan = CrawlPlan(
            new_strategy=lambda: build_strategy(strategy, [start_url]),
            rules=Rules(start_url),
            settings=LiveSettings(delay_seconds=0, concurrency=CONCURRENCY, per_host=CONCURRENCY),
            budget=Budget(max_requests=requests),
            store=store,
            form=SnapshotForm(strategy, {}, pack, unpack),
            on_fetched=answers.add,
        )
        crawl(plan)
        if store is not None:
            store.close()


def crawl_with_scrapy(answers: Answers, start_url: str, requests: int, *, tuned: bool) -> None:
    """Crawl with a plain spider."""
    import scrapy
    from scrapy.crawler import AsyncCrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from selectolax.lexbor import LexborHTMLParser

    from coati.web.media import BLOCKED_EXTENSIONS
    from coati.web.rules import Rules
    from coati.web.urls import resolve

    rules = Rules(start_url)

    class PlainSpider(scrapy.Spider):
        name = "plain"
        start_urls = [start_url]  # noqa: RUF012
        custom_settings = {"HTTPERROR_ALLOW_ALL": True, "CLOSESPIDER_PAGECOUNT": requests}  # noqa: RUF012
        links = LinkExtractor(deny_extensions=BLOCKED_EXTENSIONS)

        def parse(self, response: scrapy.http.Response) -> Iterator[scrapy.Request]:
            answers.add()
            if isinstance(response, scrapy.http.HtmlResponse) and response.status == OK:
                for link in self.links.extract_links(response):
                    yield scrapy.Request(link.url)

    class TunedSpider(PlainSpider):
        known: set[str] = {start_url}  # noqa: RUF012

        def parse(self, response: scrapy.http.Response) -> Iterator[scrapy.Request]:
            answers.add()
            if not isinstance(response, scrapy.http.HtmlResponse) or response.status != OK:
                return
            for node in LexborHTMLParser(response.body).css("a[href]"):
                url = resolve(response.url, node.attributes["href"] or "")
                if url is not None and url not in self.known and rules.refusal(url) is None:
                    self.known.add(url)
                    yield scrapy.Request(url, dont_filter=True)

    settings: dict[str, Any] = {
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        # Breadth first, as Scrapy's documentation sets it up.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    if tuned:
        settings |= {
            "CONCURRENT_ITEMS": 1,
            "DOWNLOADER_STATS": False,
            "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
            "COOKIES_ENABLED": False,
        }
    process = AsyncCrawlerProcess(settings)
    process.crawl(TunedSpider if tuned else PlainSpider)
    process.start()


CONTESTANTS: dict[str, Callable[[Answers, str, int], None]] = {
    "coati": partial(crawl_with_coati, keep=True),
    "coati, nothing kept": partial(crawl_with_coati, keep=False),
    "coati, scent": partial(crawl_with_coati, keep=True, strategy="scent"),
    "coati, sb-classifier": partial(crawl_with_coati, keep=True, strategy="sb-classifier"),
    "scrapy": partial(crawl_with_scrapy, tuned=False),
    "scrapy, tuned": partial(crawl_with_scrapy, tuned=True),
}


def measure(name: str, start_url: str, requests: int, pipe: Connection) -> None:
    """Run one contestant and send what it did and took."""
    answers = Answers()
    CONTESTANTS[name](answers, start_url, requests)
    pipe.send(answers.measured())


def in_own_process(target: Callable[..., None], *arguments: object) -> tuple[int, float, float]:
    """Call a function in a new process and give what it sends."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(*arguments, theirs))
    process.start()
    theirs.close()
    received: tuple[int, float, float] = ours.recv()
    process.join()
    return received


@click.command()
@click.option("--pages", default=1500, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@format_option
def main(pages: int, rounds: int, form: str) -> None:
    """Run all contestants in turn, and print the medians of the rounds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve_site, args=(pages, theirs))
    server.start()
    theirs.close()
    start_url = ours.recv()
    rates: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    try:
        for _ in range(rounds):
            for name, measured in rates.items():
                answered, cpu, wall = in_own_process(measure, name, start_url, pages)
                measured.append(answered / cpu)
                click.echo(f"{name}: {answered} answers, {cpu:.2f} CPU s, {wall:.2f} s", err=True)
    finally:
        ours.close()
        server.terminate()
        server.join()
    report("pages per CPU second on loopback", rows_of(rates), form)


def rows_of(rates: dict[str, list[float]]) -> list[dict[str, object]]:
    """Return the median rates, and ours as shares of each spider's."""
    medians = {name: statistics.median(measured) for name, measured in rates.items()}
    return [
        {
            "crawler": name,
            "pages per CPU s": median,
            **{
                f"share of {other}": median / medians[other]
                for other in medians
                if name.startswith("coati") and other.startswith("scrapy")
            },
        }
        for name, median in medians.items()
    ]


if __name__ == "__main__":
    main()
