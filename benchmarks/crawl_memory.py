"""The memory of a large live crawl: 200,000 pages fetched, 1,000,000 URLs known.

    python -m benchmarks.crawl_memory

Over loopback without delay, pages of 40 KB with 100 links, a run folder with the pages as WARC. It prints the
resident memory as the crawl grows.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.branching_site import served
from benchmarks.reporting import format_option, report
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.live.plan import CrawlPlan
from coati.live.running import crawl
from coati.live.settings import LiveSettings
from coati.runs.store import RunStore, SnapshotForm
from coati.strategies.state import pack, unpack
from coati.web.rules import Rules

if TYPE_CHECKING:
    from coati.live.progress import Progress

_ROWS = 10


def _resident_mb() -> float:
    with open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123 - a file of the kernel
        return int(status.read().split()[1]) * resource.getpagesize() / 1e6


@click.command()
@click.option("--requests", default=250_000, show_default=True, help="A fifth of them are for files.")
@click.option("--strategy", default="sb-classifier", show_default=True)
@format_option
def main(requests: int, strategy: str, form: str) -> None:
    """Crawl and weigh the process."""
    rows: list[dict[str, object]] = []
    begun = time.monotonic()

    def weigh(progress: Progress) -> None:
        if progress.requests >= (len(rows) + 1) * requests / _ROWS:
            rows.append(
                {
                    "requests": progress.requests,
                    "pages": progress.pages,
                    "resident MB": _resident_mb(),
                    "requests per second": progress.requests / (time.monotonic() - begun),
                }
            )
            click.echo(f"{progress.requests} requests, {_resident_mb():.0f} MB", err=True)

    with tempfile.TemporaryDirectory() as folder, served(1) as (start_url,):
        store = RunStore.create(Path(folder) / "run", {}, time.time())
        plan = CrawlPlan(
            new_strategy=lambda: build_strategy(strategy, [start_url]),
            rules=Rules(start_url),
            settings=LiveSettings(delay_seconds=0, concurrency=8, per_host=8),
            budget=Budget(max_requests=requests),
            store=store,
            form=SnapshotForm(strategy, {}, pack, unpack),
            on_progress=weigh,
        )
        result = crawl(plan)
        store.close()
        weigh(result.progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    rows.append({"requests": result.progress.requests, "resident MB": peak, "what": "peak"})
    report(f"memory of a live crawl with {strategy}", rows, form)


if __name__ == "__main__":
    main()
