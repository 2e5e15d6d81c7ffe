"""A hundred sites at once in one process, one request per second each, on one core.

    python -m benchmarks.many_sites [--sites 100] [--seconds 120]

Pages of 40 KB with 100 links over loopback, a run folder with its WARC for every site. The first site takes
three seconds to answer, and must not hold up the others. The process is bound to one core.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.branching_site import served
from benchmarks.reporting import format_option, report
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.live.plan import CrawlPlan
from coati.live.running import crawl_many
from coati.live.settings import LiveSettings
from coati.runs.store import RunStore, SnapshotForm
from coati.strategies.state import pack, unpack
from coati.web.rules import Rules

if TYPE_CHECKING:
    from coati.strategies.strategy import Strategy

_SLOW_SECONDS = 3.0


def _plan(start_url: str, strategy: str, seconds: float, store: RunStore) -> CrawlPlan:
    def new_strategy() -> Strategy:
        return build_strategy(strategy, [start_url])

    return CrawlPlan(
        new_strategy=new_strategy,
        rules=Rules(start_url),
        settings=LiveSettings(delay_seconds=1.0),
        budget=Budget(max_seconds=seconds),
        store=store,
        form=SnapshotForm(strategy, {}, pack, unpack),
    )


@click.command()
@click.option("--sites", default=100, show_default=True)
@click.option("--seconds", default=120.0, show_default=True)
@click.option("--strategy", default="bfs", show_default=True)
@format_option
def main(sites: int, seconds: float, strategy: str, form: str) -> None:
    """Crawl all sites and compare the pace of each with one request per second."""
    with served(sites, _SLOW_SECONDS) as start_urls, ExitStack() as stack:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stores = [
            stack.enter_context(RunStore.create(folder / str(number), {}, time.time()))
            for number in range(sites)
        ]
        plans = [_plan(url, strategy, seconds, store) for url, store in zip(start_urls, stores, strict=True)]
        load = os.getloadavg()[0]
        cpu, wall = time.process_time(), time.perf_counter()
        results = crawl_many(plans)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    # A site sees the request for its robots.txt too.
    slow, *quick = (
        (result.progress.requests + result.progress.robots_requests) / seconds for result in results
    )
    row = {
        "sites": sites,
        "seconds": wall,
        "share of the core": cpu / wall,
        "mean pace": sum(quick) / len(quick),
        "slowest pace": min(quick),
        "fastest pace": max(quick),
        "pace of the slow site": slow,
        "load before": load,
        "errors": sum(result.progress.failures for result in results),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }
    report(f"{sites} sites in one process with {strategy}, requests per second", [row], form)


if __name__ == "__main__":
    main()
