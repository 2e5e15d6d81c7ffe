"""What a hostile route costs a crawl, in a process of its own; see `benchmarks.hostile`."""

from __future__ import annotations

import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from typing import NamedTuple

import click

from coati.assembly import build_strategy
from coati.live import crawl
from coati.live.progress import Progress
from tests.live.crawling import plan_for

_PATIENCE = 120.0
# The route itself, and what it leads to: chains of redirects, two pages that link to each other.
_REQUESTS = 4


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["benchmarks.hostile_costs", "coati.live.scheduler", "coati.live.streaming"])


class Cost(NamedTuple):
    """What a route costs: memory above the baseline, time of the processor, the longest turn above 1 s."""

    megabytes: int
    seconds: float
    longest_stall: float


def crawl_one(url: str) -> Progress:
    """Crawl from a URL, with time-outs that make waiting short."""
    settings = {
        "robots": False,
        "max_requests": _REQUESTS,
        "answer_timeout_seconds": 2.0,
        "slow_window_seconds": 1.0,
        "max_delay_seconds": 0.05,
        "max_file_bytes": 50_000_000,
    }
    return crawl(plan_for(url, new_strategy=lambda: build_strategy("scent", [url], 0), **settings)).progress


def measure(good: str, route: str, result: Connection) -> None:
    """Send what a route costs this process."""
    crawl_one(good)
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    progress = crawl_one(route)
    seconds = time.process_time() - begun
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    result.send(Cost(grown, seconds, progress.stalls.longest_seconds))


def cost_of(good: str, route: str) -> Cost:
    """Measure a route in a process of its own; the modules are loaded there already."""
    here, there = _FORKS.Pipe()
    process = _FORKS.Process(target=measure, args=(good, route, there))
    process.start()
    if not here.poll(_PATIENCE):
        process.kill()
        raise click.ClickException(f"{route} took more than {_PATIENCE} s")
    cost: Cost = here.recv()
    process.join()
    return cost
