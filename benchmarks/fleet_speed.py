"""What a fleet gains and costs: two workers against one process, slices against one crawl, the outer choice.

    python -m benchmarks.fleet_speed [--sites 200] [--pages 25]

Sites are generated, and served on loopback by a process of its own. Without a delay, so that the CPU is the
limit. On a machine that others use, too, seconds mean little: CPU time is given beside them, and what two
cores of their own would reach.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.reporting import format_option, report
from coati.bandits.slice_choice import SliceChoice, SliceSizes, Tally
from coati.budget import Budget
from coati.fleet.client import FleetHarvest, harvest_fleet
from coati.fleet.cluster import OwnProcess
from coati.fleet.dask_cluster import DaskCluster
from coati.harvesting.files import FilesHarvest, harvest_files
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.testing.generator import generate_site
from coati.testing.server import MakeSite, serve
from coati.testing.site_parameters import SiteParameters

_CHOICES = 20_000


class Cost(NamedTuple):
    """What a harvest took, and what it brought."""

    requests: int
    targets: int
    seconds: float
    cpu_seconds: float
    slices: int = 0


def make(number: int, pages: int) -> MakeSite:
    """Make a site that differs from the others."""
    parameters = SiteParameters(pages=pages, target_share=0.3, target_bytes=5000, target_bytes_sd=2000)
    return lambda base_url: generate_site(parameters, seed=number, base_url=base_url)


@contextmanager
def sites(count: int, pages: int) -> Iterator[tuple[str, ...]]:
    """Serve sites from another process."""
    command = [sys.executable, "-m", "benchmarks.fleet_speed", "serve", str(count), str(pages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        if process.stdout is None or process.stdin is None:
            raise RuntimeError("the server has no pipes")
        yield tuple(process.stdout.readline().split())
        process.stdin.close()


def serve_sites(count: int, pages: int) -> None:
    """Serve until the other end of the pipe is closed."""
    with serve(*[make(number, pages) for number in range(count)]) as server:
        click.echo(" ".join(site.start_url for site in server.sites))
        sys.stdin.read()


def files_harvest(urls: tuple[str, ...], out: Path) -> FilesHarvest:
    """Plan a harvest of everything, as fast as it goes."""
    settings = with_values(RunSettings(), {"types": "data", "delay": 0.0, "stop_when_dry": "off"})
    return FilesHarvest(urls=urls, out=out, settings=settings, at_once=32)


def one_process(urls: tuple[str, ...], folder: Path) -> Cost:
    """Harvest as one machine does."""
    begun, cpu = time.monotonic(), time.process_time()
    found = harvest_files(files_harvest(urls, folder / "alone"))
    return Cost(
        sum(site.requests for site in found.sites),
        sum(site.targets for site in found.sites),
        time.monotonic() - begun,
        time.process_time() - cpu,
    )


def in_slices(urls: tuple[str, ...], folder: Path, sizes: SliceSizes) -> Cost:
    """Harvest in slices, by this process."""
    cluster = OwnProcess(32)
    begun, cpu = time.monotonic(), time.process_time()
    try:
        return _with(cluster, urls, str(folder / "slices"), sizes, begun, lambda: time.process_time() - cpu)
    finally:
        cluster.close()


def two_workers(urls: tuple[str, ...], folder: Path, sizes: SliceSizes) -> Cost:
    """Harvest by two workers of Dask; starting them is not counted."""
    cluster = DaskCluster("local:2", 32)
    try:
        before = cluster.cpu_seconds()
        begun = time.monotonic()
        return _with(cluster, urls, str(folder / "two"), sizes, begun, lambda: cluster.cpu_seconds() - before)
    finally:
        cluster.close()


def _with(
    cluster: OwnProcess | DaskCluster,
    urls: tuple[str, ...],
    store: str,
    sizes: SliceSizes,
    begun: float,
    cpu_seconds: Callable[[], float],
) -> Cost:
    plan = FleetHarvest(files=files_harvest(urls, Path()), store=store, sizes=sizes)
    found = harvest_fleet(plan, cluster)
    return Cost(
        sum(site.state.requests for site in found.sites),
        sum(site.state.targets for site in found.sites),
        time.monotonic() - begun,
        cpu_seconds(),
        found.slices,
    )


def outer_choice(count: int) -> dict[str, object]:
    """Time the choice among many sites, with as many slices out as there are workers for."""
    chance = random.Random(0)
    choice = SliceChoice([f"{number}.org" for number in range(count)], Budget(max_requests=10**9))
    for number in range(count):
        tally = Tally(
            chance.randrange(1, 1000), chance.randrange(50), 0, chance.random() * 50, chance.random()
        )
        choice.resume(number, tally)
    out = []
    longest = 0.0
    begun = time.process_time()
    for now in range(_CHOICES):
        at = time.process_time()
        chosen = choice.choose(float(now))
        if chosen is not None:
            out.append(chosen)
        if len(out) > 200:  # noqa: PLR2004 - workers
            back = out.pop(chance.randrange(len(out)))
            before = choice.tally(back.site)
            tally = before._replace(requests=before.requests + back.requests, promise=chance.random())
            choice.ended(back.site, tally, float(now), float(now) + 1.0)
        longest = max(longest, time.process_time() - at)
    mean = (time.process_time() - begun) / _CHOICES
    return {"sites": count, "choice_ms": round(1000 * mean, 4), "longest_ms": round(1000 * longest, 3)}


def _row(name: str, cost: Cost, base: Cost) -> dict[str, object]:
    per_request = cost.cpu_seconds / cost.requests
    return {
        "how": name,
        "requests": cost.requests,
        "targets": cost.targets,
        "slices": cost.slices,
        "seconds": round(cost.seconds, 1),
        "cpu_seconds": round(cost.cpu_seconds, 1),
        "cpu_ms_per_request": round(1000 * per_request, 3),
        "cpu_over_one_process": round(per_request / (base.cpu_seconds / base.requests), 3),
        "requests_per_second": round(cost.requests / cost.seconds, 1),
    }


@click.command()
@click.option("--sites", "count", default=200, show_default=True)
@click.option("--pages", default=25, show_default=True)
@click.option("--first", default=SliceSizes().first_requests, show_default=True, help="Of slices: requests.")
@click.option("--most", default=SliceSizes().most_requests, show_default=True)
@format_option
def main(count: int, pages: int, first: int, most: int, form: str) -> None:
    """Compare two workers with one process, slices with one crawl, and time the choice among sites."""
    sizes = SliceSizes(first, most)
    report("outer_choice", [outer_choice(100_000)], form)
    with sites(count, pages) as urls, tempfile.TemporaryDirectory() as folder:
        base = one_process(urls, Path(folder))
        rows = [_row("one process", base, base)]
        rows.append(_row("one process, in slices", in_slices(urls, Path(folder), sizes), base))
        rows.append(_row("two workers", two_workers(urls, Path(folder), sizes), base))
    report("fleet_speed", rows, form)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve_sites(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
