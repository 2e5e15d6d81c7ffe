"""A fleet toward internet scale, by simulation: which limit comes first?

    python -m benchmarks.fleet_scale [--sites 100000] [--workers 200] [--slices-per-worker 24] [--hours 24]

The choice among sites is the real one (`coati.bandits.slice_choice`), fed by a simulated clock: slices end
when their requests would be made at one per second, plus what taking up and putting down costs. What a slice
writes is counted in a real store first (`--store-sites` generated sites on loopback, crawled into memory).

Printed are what one choice costs, how many tasks per second Dask's scheduler sees, objects and bytes that
the store gets, and the memory of the process that chooses.
"""

from __future__ import annotations

import heapq
import random
import resource
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import click
import numpy as np

from benchmarks.reporting import format_option, report
from coati.bandits.site_choice import Promises
from coati.bandits.slice_choice import SiteCounts, SliceChoice, SliceSizes
from coati.budget import Budget
from coati.fleet.client import harvest_fleet
from coati.fleet.cluster import OwnProcess
from coati.fleet.generations import RunState
from coati.fleet.harvest import FleetHarvest
from coati.fleet.objects import ObjectStore
from coati.harvesting.files_harvest import FilesHarvest
from coati.harvesting.sites import HarvestSite
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.testing.generator import generate_site
from coati.testing.server import MakeSite, serve
from coati.testing.site_parameters import SiteParameters
from coati.web.rules import Scope

_DELAY_SECONDS = 1.0
# What a slice takes beside its requests: taking the run, robots.txt, the last publication.
_TURN_SECONDS = 3.0
# This share of the sites holds many files.
_RICH = 0.2
# Below this a site has nothing more to promise, and its crawl ends.
_WORTH_A_REQUEST = 0.002


class Written(NamedTuple):
    """What slices wrote to a store, per slice of ``requests`` requests."""

    requests: float
    objects: float
    kilobytes: float


@dataclass(slots=True)
class CountedWrites:
    """Counts what a store is given."""

    objects: int = 0
    written_bytes: int = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count every object that any store of this process is given meanwhile."""
        create, replace = ObjectStore.create, ObjectStore.replace

        def counted_create(store: ObjectStore, name: str, content: bytes) -> bool:
            self._add(content)
            return create(store, name, content)

        def counted_replace(store: ObjectStore, name: str, content: bytes) -> None:
            self._add(content)
            replace(store, name, content)

        with (
            patch.object(ObjectStore, "create", counted_create),
            patch.object(ObjectStore, "replace", counted_replace),
        ):
            yield

    def _add(self, content: bytes) -> None:
        self.objects += 1
        self.written_bytes += len(content)


def _make(number: int) -> MakeSite:
    parameters = SiteParameters(pages=300, target_share=0.4, pages_with_targets=0.3, target_bytes=20_000)
    return lambda base_url: generate_site(parameters, seed=number, base_url=base_url)


def written_by_slices(sites: int) -> Written:
    """Crawl generated sites into a store in memory, and count what each slice gives it, files apart."""
    writes = CountedWrites()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(*[_make(number) for number in range(sites)]) as server,
        writes.counting(),
        closing(OwnProcess(1)) as cluster,
    ):
        settings = with_values(RunSettings(), {"types": "data", "delay": 0.0, "stop_when_dry": "off"})
        urls = tuple(site.start_url for site in server.sites)
        files = FilesHarvest(urls=urls, out=Path(folder), settings=settings)
        done = harvest_fleet(FleetHarvest(files=files, store=f"memory://{uuid.uuid4().hex}"), cluster)
    stored_files = sum(site.state.files for site in done.sites)
    file_bytes = sum(site.state.target_bytes for site in done.sites)
    requests = sum(site.state.requests for site in done.sites)
    return Written(
        requests / done.slices,
        (writes.objects - stored_files) / done.slices,
        (writes.written_bytes - file_bytes) / done.slices / 1000,
    )


class SimulatedSites:
    """How sites answer: each has this many URLs, and files that a good crawl finds early."""

    def __init__(self, sites: int, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        self.urls = np.clip(numbers.lognormal(7.0, 1.5, sites), 20, 200_000).astype(int)
        share = np.where(numbers.random(sites) < _RICH, numbers.beta(2, 5, sites), numbers.beta(1, 60, sites))
        self.files = self.urls * share
        # After a third of its URLs a crawl has most of the files.
        self._pace = self.urls / 6

    def found(self, site: int, requests: int) -> int:
        """Return how many files a crawl has after this many requests."""
        return int(self.files[site] * (1 - np.exp(-requests / self._pace[site])))

    def promise(self, site: int, requests: int) -> float:
        """Return what the next request promises."""
        left = self.files[site] * np.exp(-requests / self._pace[site])
        return float(min(1.0, left / self._pace[site]))


@dataclass(slots=True)
class Simulated:
    """What a simulated stretch of time saw."""

    slices: int = 0
    requests: int = 0
    targets: int = 0
    over: int = 0
    choices: list[float] = field(default_factory=list)
    endings: list[float] = field(default_factory=list)
    ends_per_second: list[int] = field(default_factory=list)


def simulate(sites: int, places: int, hours: float, seed: int) -> Simulated:
    """Let a fleet with this many places crawl for this many hours."""
    web, chance, seen = SimulatedSites(sites, seed), random.Random(seed), Simulated()
    choice = SliceChoice([f"site{number}.example" for number in range(sites)], Budget(), SliceSizes())
    ends: list[tuple[float, int, int]] = []
    now, minute, ends_in_minute = 0.0, 0, 0
    while now < hours * 3600:
        begun = time.process_time()
        while choice.out < places and (chosen := choice.choose(now)) is not None:
            seen.choices.append(time.process_time() - begun)
            sent = choice.counts_of(chosen.site).requests
            requests = min(chosen.requests, int(web.urls[chosen.site]) - sent)
            lasts = _TURN_SECONDS + min(chosen.seconds, requests * _DELAY_SECONDS) * chance.uniform(1.0, 1.2)
            heapq.heappush(ends, (now + lasts, chosen.site, requests))
            begun = time.process_time()
        if not ends:
            break
        now, site, requests = heapq.heappop(ends)
        while now >= 60 * (minute + 1):
            seen.ends_per_second.append(ends_in_minute)
            minute, ends_in_minute = minute + 1, 0
        ends_in_minute += 1
        _end(choice, web, seen, site, requests, now)
    seen.requests, seen.targets = choice.requests, choice.targets
    return seen


def _end(
    choice: SliceChoice, web: SimulatedSites, seen: Simulated, site: int, requests: int, now: float
) -> None:
    before = choice.counts_of(site)
    sent = before.requests + requests
    targets, promise = web.found(site, sent), web.promise(site, sent)
    begun = time.process_time()
    choice.ended(site, SiteCounts(sent, targets, 0, Promises(promise)), now, now + _DELAY_SECONDS)
    seen.endings.append(time.process_time() - begun)
    seen.slices += 1
    if sent >= web.urls[site] or promise < _WORTH_A_REQUEST:
        choice.end(site)
        seen.over += 1


def megabytes_of_client(sites: int) -> float:
    """Return what the process that chooses holds in memory for this many sites."""
    before = _resident_megabytes()
    listed = [
        HarvestSite(f"site{number}.example", (f"https://site{number}.example/",), Scope.DOMAIN)
        for number in range(sites)
    ]
    states = [RunState(start_url=site.urls[0], requests=number) for number, site in enumerate(listed)]
    numbers = {site.name: number for number, site in enumerate(listed)}
    choice = SliceChoice([site.name for site in listed], Budget(), SliceSizes())
    for number in range(sites):
        choice.resume(number, SiteCounts(300, 10, 0, Promises(0.1)))
    after = _resident_megabytes()
    del states, numbers, choice
    return after - before


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def _times(what: str, seconds: list[float]) -> list[dict[str, object]]:
    costs = 1000 * np.array(seconds)
    return [
        {"what": f"{what}, ms: median", "in all": float(np.median(costs))},
        {"what": f"{what}, ms: 99 of 100", "in all": float(np.quantile(costs, 0.99))},
        {"what": f"{what}, ms: longest", "in all": float(costs.max())},
    ]


@click.command()
@click.option("--sites", default=100_000, show_default=True)
@click.option("--workers", default=200, show_default=True)
@click.option("--slices-per-worker", default=24, show_default=True, help="Threads of a worker.")
@click.option("--hours", default=24.0, show_default=True)
@click.option("--store-sites", default=2, show_default=True, help="Sites that are crawled into a store.")
@click.option("--seed", default=0, show_default=True)
@format_option
def main(  # noqa: PLR0913, PLR0917 - one parameter per option
    sites: int, workers: int, slices_per_worker: int, hours: float, store_sites: int, seed: int, form: str
) -> None:
    """Simulate a fleet and print what its parts have to bear."""
    memory = megabytes_of_client(sites)
    written = written_by_slices(store_sites)
    seen = simulate(sites, workers * slices_per_worker, hours, seed)
    busiest = max(seen.ends_per_second, default=0) / 60
    scale = seen.requests / max(1.0, written.requests * seen.slices)
    rows: list[dict[str, object]] = [
        {"what": "slices", "in all": seen.slices, "per second": seen.slices / hours / 3600},
        {"what": "slices in the busiest minute", "per second": busiest},
        {"what": "requests", "in all": seen.requests, "per second": seen.requests / hours / 3600},
        {"what": "files found", "in all": seen.targets},
        {"what": "sites that are over", "in all": seen.over},
        *_times("a choice", seen.choices),
        *_times("taking a slice in", seen.endings),
        {"what": "memory of the client, MB", "in all": memory},
        {
            "what": "objects written, files apart",
            "in all": round(written.objects * seen.slices),
            "per second": written.objects * seen.slices / hours / 3600,
        },
        {
            "what": "GB written, files apart",
            "in all": written.kilobytes * scale * seen.slices / 1e6,
        },
    ]
    title = (
        f"{sites:,} sites, {workers} workers with {slices_per_worker} slices each, {hours:g} h; a slice of"
        f" {written.requests:.0f} requests writes {written.objects:.1f} objects, {written.kilobytes:.0f} kB"
    )
    report(title, rows, form)


if __name__ == "__main__":
    main()
