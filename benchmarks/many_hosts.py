"""Five hundred hosts in one crawl, politely: one request per second each, on one core.

    python -m benchmarks.many_hosts [--hosts 500] [--seconds 60]

Pages of 40 KB with 100 links over loopback, labelled by the detector, with a run folder and its WARC. The
strategy chooses among the hosts; each has one request in flight at most, and a second between two. Wanted: a
hundred pages per second in total.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import tempfile
import time
from pathlib import Path

import click

from benchmarks.branching_site import served
from benchmarks.reporting import format_option, report
from coati.harvesting.pages_harvest import PagesHarvest, harvest_pages, usual_settings

_GAPS = """
SELECT min(86400 * (julianday(started_at) - julianday(before))) FROM (
    SELECT started_at, lag(started_at) OVER (PARTITION BY host ORDER BY started_at) AS before
    FROM requests WHERE charged > 0
)
"""


@click.command()
@click.option("--hosts", default=500, show_default=True)
@click.option("--seconds", default=60.0, show_default=True)
@click.option("--delay", default=1.0, show_default=True)
@click.option("--strategy", default="anthelion", show_default=True)
@format_option
def main(hosts: int, seconds: float, delay: float, strategy: str, form: str) -> None:
    """Crawl all hosts at once and count pages per second."""
    with served(hosts) as start_urls, tempfile.TemporaryDirectory() as folder:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        given = {
            "goal": ("structured-data",),
            "strategy": strategy,
            "max_time": seconds,
            "delay": delay,
            "concurrency": 200,
            "limits": (("robots", False),),
        }
        settings = usual_settings(start_urls, given, frozenset())
        load = os.getloadavg()[0]
        cpu, wall = time.process_time(), time.perf_counter()
        done = harvest_pages(PagesHarvest(settings=settings, out=Path(folder) / "run", extract=False))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        with sqlite3.connect(Path(folder) / "run" / "run.sqlite") as database:
            (least_gap,) = database.execute(_GAPS).fetchone()
    row = {
        "hosts crawled": len(done.hosts),
        "pages": done.totals.pages,
        "pages per second": done.totals.pages / seconds,
        "share of the core": cpu / wall,
        "least seconds between choices for one host": least_gap,
        "errors": done.totals.failures,
        "load before": load,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }
    report(f"{hosts} hosts in one crawl with {strategy}, {delay} s between two requests", [row], form)


if __name__ == "__main__":
    main()
