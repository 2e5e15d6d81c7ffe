"""What slices cost over an uninterrupted harvest of the same sites, by their length.

    python -m benchmarks.fleet_slices [--sites 6] [--pages 330] [--rounds 3] [--size 40 --size 100 …]

The sites are those of `benchmarks.fleet_speed`, longer: each is crawled to its end. One process harvests them
without a fleet, and then in slices of each length, and as long as they are by default, in turns.

``percent_more`` compares the CPU time per request with that of the same round without slices. On a machine
that others use, too, that differs by more than slices cost. So the counts are beside it: a slice is
a thread of its own, which takes the lease and the run, publishes, and writes tables, while one other thread
crawls. ``percent_counted`` is the CPU time of these threads and of the client, without that for the reports
of sites, which every harvest writes, over all other CPU time. Nothing is published within a slice here: no
slice takes half a minute.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click

from benchmarks.fleet_speed import Cost, Meter, Served, files_harvest, one_process, sites, warm_up
from benchmarks.reporting import format_option, report
from coati.bandits.slice_choice import SliceSizes
from coati.fleet.client import harvest_fleet
from coati.fleet.cluster import OwnProcess
from coati.fleet.dask_cluster import load_libraries
from coati.fleet.harvest import FleetHarvest
from coati.fleet.orders import SliceOrder, SliceResult
from coati.fleet.slices import run_slice
from coati.fleet.worker import Worker
from coati.reporting.report_file import write_report

_ALONE = "one process, uninterrupted"
_AT_ONCE = 8


class Measured(NamedTuple):
    """One harvest; ``slices`` are the CPU seconds of the threads of slices and of the client."""

    cost: Cost
    slices: float = 0.0

    @property
    def per_request(self) -> float:
        """CPU milliseconds per request."""
        return 1000 * self.cost.coati / self.cost.requests


class Timed:
    """Crawls slices, and adds up the CPU time of their threads."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()

    def __call__(self, order: SliceOrder, worker: Worker) -> SliceResult:
        begun = time.thread_time()
        try:
            return run_slice(order, worker)
        finally:
            with self._lock:
                self.seconds += time.thread_time() - begun


def uninterrupted(server: Served, folder: Path) -> tuple[Measured, float]:
    """Harvest without slices; returns also the CPU seconds that the reports of the sites take."""
    cost = one_process(server, folder)
    begun = time.thread_time()
    for site in (folder / "alone" / "sites").iterdir():
        write_report(site)
    return Measured(cost), time.thread_time() - begun


def in_slices(server: Served, folder: Path, sizes: SliceSizes, reports: float) -> Measured:
    """Harvest in slices; the reports of the sites take this many seconds."""
    warm_up(server.urls, folder)
    timed = Timed()
    for prefix in range(256):
        # A store makes these once, whatever it holds.
        (folder / "slices" / "objects" / f"{prefix:02x}").mkdir(parents=True)
    with closing(OwnProcess(_AT_ONCE, timed)) as cluster:
        files = files_harvest(server.urls, Path())
        plan = FleetHarvest(files=files, store=str(folder / "slices"), sizes=sizes)
        meter, client = Meter(server), time.thread_time()
        found = harvest_fleet(plan, cluster)
        states = [site.state for site in found.sites]
        own = timed.seconds + time.thread_time() - client - reports
        requests, targets = sum(state.requests for state in states), sum(state.targets for state in states)
        return Measured(meter.cost(requests, targets, found.slices), own)


def measured(server: Served, sizes: dict[str, SliceSizes], rounds: int) -> dict[str, list[Measured]]:
    """Harvest in each way, in turns."""
    found: dict[str, list[Measured]] = {name: [] for name in (_ALONE, *sizes)}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            alone, reports = uninterrupted(server, Path(folder))
        found[_ALONE].append(alone)
        click.echo(f"{_ALONE}: {alone}, reports {reports}", err=True)
        for name, size in sizes.items():
            with tempfile.TemporaryDirectory() as folder:
                found[name].append(in_slices(server, Path(folder), size, reports))
            click.echo(f"{name}: {found[name][-1]}", err=True)
    return found


def _row(name: str, found: Sequence[Measured], alone: Sequence[Measured]) -> dict[str, object]:
    over = [100 * (one.per_request / base.per_request - 1) for one, base in zip(found, alone, strict=True)]
    counted = [100 * one.slices / (one.cost.coati - one.slices) for one in found]
    cost = found[0].cost
    row: dict[str, object] = {
        "how": name,
        "requests": cost.requests,
        "targets": cost.targets,
        "cpu_ms_per_request": round(median(one.per_request for one in found), 3),
        "cores_of_others": round(median(one.cost.others for one in found), 2),
    }
    if not cost.slices:
        return row
    per_slice = median(1000 * one.slices / one.cost.slices for one in found)
    return {
        **row,
        "slices": cost.slices,
        "percent_more": " ".join(f"{one:.1f}" for one in over),
        "percent_counted": " ".join(f"{one:.1f}" for one in counted),
        "ms_per_slice": round(per_slice, 1),
    }


@click.command()
@click.option("--sites", "count", default=6, show_default=True)
@click.option("--pages", default=330, show_default=True)
@click.option("--size", "lengths", type=int, multiple=True, default=(40, 100, 500), show_default=True)
@click.option("--rounds", default=3, show_default=True)
@format_option
def main(count: int, pages: int, lengths: tuple[int, ...], rounds: int, form: str) -> None:
    """Compare slices of several lengths with a harvest that is not cut into slices."""
    sizes = {f"slices of {length}": SliceSizes(length, length) for length in lengths}
    default = SliceSizes()
    sizes[f"by default: {default.first_requests}, then as long as all before"] = default
    load_libraries()
    with sites(count, pages) as server:
        found = measured(server, sizes, rounds)
    report("fleet_slices", [_row(name, rows, found[_ALONE]) for name, rows in found.items()], form)


if __name__ == "__main__":
    main()
