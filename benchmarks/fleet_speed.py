"""What a fleet gains and costs: two workers against one process, slices against one crawl, the outer choice.

    python -m benchmarks.fleet_speed [--sites 200] [--pages 25] [--rounds 3]

Sites are generated, and served on loopback by a process of its own, from answers that it holds ready. There
is no delay, so that the CPU is the limit. Each contestant has crawled some pages of some sites before, so
that no process is measured while it loads. On a machine that others use, too, seconds mean little, so the CPU
time of each part is given beside them: of the server, of the process that chooses (with Dask's scheduler and
nannies in it), and of those who crawl. From it follows what two cores of one's own can give at most
(``most_by_cpu``). Two processes that harvest half of the sites each, and share nothing, say what the machine
gives two at that time. Of several rounds the one with the middle speed is shown, each way for itself.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import click

from benchmarks.reporting import format_option, report
from coati.bandits.site_choice import Promises
from coati.bandits.slice_choice import SiteCounts, SliceChoice, SliceSizes
from coati.budget import Budget
from coati.fleet.client import harvest_fleet
from coati.fleet.cluster import OwnProcess
from coati.fleet.dask_cluster import DaskCluster, load_libraries
from coati.fleet.harvest import FleetHarvest
from coati.harvesting.files_harvest import FilesHarvest, harvest_files
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.testing.generator import generate_site
from coati.testing.server import MakeSite, serve
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters

_CHOICES = 20_000
_AT_ONCE = 32
_CORES = 2
# Of each of this many sites, one per place, before anything is measured.
_WARM_REQUESTS = 5


class Cost(NamedTuple):
    """What a harvest took, and what it brought; CPU seconds of the server, of this process, of workers.

    ``machine`` is what was used on the machine meanwhile, also by those that are not ours.
    """

    requests: int
    targets: int
    slices: int
    seconds: float
    server: float
    client: float
    workers: float = 0.0
    machine: float = 0.0

    @property
    def coati(self) -> float:
        """CPU seconds of all processes of ours."""
        return self.client + self.workers

    @property
    def others(self) -> float:
        """How many cores others used."""
        return max(0.0, self.machine - self.coati - self.server) / self.seconds


def make(number: int, pages: int) -> MakeSite:
    """Make a site that differs from the others, with all answers ready."""
    parameters = SiteParameters(pages=pages, target_share=0.3, target_bytes=5000, target_bytes_sd=2000)

    def ready(base_url: str) -> Site:
        site = generate_site(parameters, seed=number, base_url=base_url)
        return Site(site.start_url, {url: site.get(url) for url in site})

    return ready


@dataclass(frozen=True, slots=True)
class Served:
    """Sites that another process serves."""

    urls: tuple[str, ...]
    questions: IO[str]
    answers: IO[str]

    def cpu_seconds(self) -> float:
        """Return the CPU time that the server has used so far."""
        self.questions.write("cpu\n")
        self.questions.flush()
        return float(self.answers.readline())


@contextmanager
def sites(count: int, pages: int) -> Iterator[Served]:
    """Serve sites from another process."""
    command = [sys.executable, "-m", "benchmarks.fleet_speed", "serve", str(count), str(pages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        if process.stdout is None or process.stdin is None:
            raise RuntimeError("the server has no pipes")
        yield Served(tuple(process.stdout.readline().split()), process.stdin, process.stdout)
        process.stdin.close()


def serve_sites(count: int, pages: int) -> None:
    """Serve until the other end of the pipe is closed; each line requests the CPU time so far."""
    with serve(*[make(number, pages) for number in range(count)]) as server:
        click.echo(" ".join(site.start_url for site in server.sites))
        for _ in sys.stdin:
            click.echo(time.process_time())


def files_harvest(urls: tuple[str, ...], out: Path, max_requests: int | None = None) -> FilesHarvest:
    """Plan a harvest of everything, as fast as it goes."""
    wanted = {"types": "data", "delay": 0.0, "stop_when_dry": "off", "max_requests": max_requests}
    return FilesHarvest(urls=urls, out=out, settings=with_values(RunSettings(), wanted), at_once=_AT_ONCE)


def machine_seconds() -> float:
    """Return the CPU time that all processes of this machine have used so far, as Linux counts it."""
    user, nice, system, *_ = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


class Meter:
    """Measures from when it is made."""

    def __init__(self, server: Served, cluster: DaskCluster | None = None) -> None:
        self._server = server
        self._cluster = cluster
        self._server_before = server.cpu_seconds()
        self._workers_before = 0.0 if cluster is None else cluster.cpu_seconds()
        self._client_before = time.process_time()
        self._machine_before = machine_seconds()
        self._begun = time.monotonic()

    def cost(self, requests: int, targets: int, slices: int = 0) -> Cost:
        """Return what was used since."""
        seconds = time.monotonic() - self._begun
        machine = machine_seconds() - self._machine_before
        client = time.process_time() - self._client_before
        workers = 0.0 if self._cluster is None else self._cluster.cpu_seconds() - self._workers_before
        server = self._server.cpu_seconds() - self._server_before
        return Cost(requests, targets, slices, seconds, server, client, workers, machine)


def one_process(server: Served, folder: Path) -> Cost:
    """Harvest as one machine does."""
    warm_up(server.urls, folder)
    meter = Meter(server)
    found = harvest_files(files_harvest(server.urls, folder / "alone")).sites
    return meter.cost(sum(site.requests for site in found), sum(site.targets for site in found))


def warm_up(urls: tuple[str, ...], folder: Path) -> None:
    """Crawl some pages in this process."""
    few = urls[:_AT_ONCE]
    harvest_files(files_harvest(few, folder / "warm", max_requests=_WARM_REQUESTS * len(few)))


def harvest_half(folder: str, urls: tuple[str, ...]) -> None:
    """Harvest some sites as soon as a line comes in, and report what that took."""
    load_libraries()
    warm_up(urls, Path(folder))
    click.echo("ready")
    sys.stdin.readline()
    cpu = time.process_time()
    found = harvest_files(files_harvest(urls, Path(folder) / "half")).sites
    requests, targets = sum(site.requests for site in found), sum(site.targets for site in found)
    click.echo(f"{requests} {targets} {time.process_time() - cpu}")


def two_halves(server: Served, folder: Path) -> Cost:
    """Harvest by two processes that know nothing of each other: what this machine gives two at most."""
    with ExitStack() as stack:
        halves = []
        for number in range(2):
            command = [sys.executable, "-m", "benchmarks.fleet_speed", "half", str(folder / str(number))]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            half = subprocess.Popen([*command, *server.urls[number::2]], **pipes)  # type: ignore[call-overload]  # noqa: S603
            halves.append(stack.enter_context(half))
        for half in halves:
            half.stdout.readline()
        meter = Meter(server)
        for half in halves:
            half.stdin.write("go\n")
            half.stdin.flush()
        outputs = [half.stdout.readline().split() for half in halves]
    cost = meter.cost(sum(int(one[0]) for one in outputs), sum(int(one[1]) for one in outputs))
    return cost._replace(workers=sum(float(one[2]) for one in outputs))


def in_slices(server: Served, folder: Path, sizes: SliceSizes) -> Cost:
    """Harvest in slices, by this process."""
    with closing(OwnProcess(_AT_ONCE)) as cluster:
        _warm_up_cluster(cluster, server, folder)
        return _with(cluster, server, str(folder / "slices"), sizes, Meter(server))


def two_workers(server: Served, folder: Path, sizes: SliceSizes) -> Cost:
    """Harvest by two workers of Dask; starting them is not counted."""
    with closing(DaskCluster("local:2", _AT_ONCE)) as cluster:
        _warm_up_cluster(cluster, server, folder)
        return _with(cluster, server, str(folder / "two"), sizes, Meter(server, cluster))


def _warm_up_cluster(cluster: OwnProcess | DaskCluster, server: Served, folder: Path) -> None:
    """Have every place of a cluster crawl some pages."""
    few = server.urls[:_AT_ONCE]
    files = files_harvest(few, Path(), max_requests=_WARM_REQUESTS * len(few))
    harvest_fleet(FleetHarvest(files=files, store=str(folder / "warm-store")), cluster)


def _with(
    cluster: OwnProcess | DaskCluster, server: Served, store: str, sizes: SliceSizes, meter: Meter
) -> Cost:
    plan = FleetHarvest(files=files_harvest(server.urls, Path()), store=store, sizes=sizes)
    found = harvest_fleet(plan, cluster)
    states = [site.state for site in found.sites]
    requests, targets = sum(state.requests for state in states), sum(state.targets for state in states)
    return meter.cost(requests, targets, found.slices)


def outer_choice(count: int) -> dict[str, object]:
    """Time the choice among many sites, with as many slices out as there are workers for."""
    chance = random.Random(0)
    choice = SliceChoice([f"{number}.org" for number in range(count)], Budget(max_requests=10**9))
    for number in range(count):
        promises = Promises(chance.random(), chance.random() * 50, chance.random() * 50)
        counts = SiteCounts(chance.randrange(1, 1000), chance.randrange(50), 0, promises)
        choice.resume(number, counts)
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
            before = choice.counts_of(back.site)
            counts = before._replace(
                requests=before.requests + back.requests, promises=Promises(chance.random())
            )
            choice.ended(back.site, counts, float(now), float(now) + 1.0)
        longest = max(longest, time.process_time() - at)
    mean = (time.process_time() - begun) / _CHOICES
    return {"sites": count, "choice_ms": round(1000 * mean, 4), "longest_ms": round(1000 * longest, 3)}


def _row(name: str, cost: Cost, base: Cost) -> dict[str, object]:
    def per_request(seconds: float) -> float:
        return round(1000 * seconds / cost.requests, 3)

    # One process uses one core; others could keep all busy, and the server needs its part of them.
    cores = _CORES if name.startswith("two") else 1
    used = (cost.coati + (cost.server if cores > 1 else 0.0)) / cost.requests
    most = cores * base.coati / base.requests / used
    return {
        "how": name,
        "requests": cost.requests,
        "targets": cost.targets,
        "slices": cost.slices,
        "seconds": round(cost.seconds, 1),
        "cpu_ms_server": per_request(cost.server),
        "cpu_ms_client": per_request(cost.client),
        "cpu_ms_workers": per_request(cost.workers),
        "cpu_over_one_process": round(cost.coati / cost.requests / (base.coati / base.requests), 3),
        "requests_per_second": round(cost.requests / cost.seconds, 1),
        "speed_over_one_process": round(cost.requests / cost.seconds / (base.requests / base.seconds), 2),
        "most_by_cpu": round(most, 2),
        "cores_of_others": round(cost.others, 2),
    }


_WAYS: dict[str, Callable[[Served, Path, SliceSizes], Cost]] = {
    "one process": lambda server, folder, _: one_process(server, folder),
    "two processes, half of the sites each": lambda server, folder, _: two_halves(server, folder),
    "one process, in slices": in_slices,
    "two workers": two_workers,
}


def measured(server: Served, sizes: SliceSizes, rounds: int) -> dict[str, Cost]:
    """Harvest in each way, in turns; of each way the run with the middle speed is returned."""
    costs: dict[str, list[Cost]] = {name: [] for name in _WAYS}
    for _ in range(rounds):
        for name, way in _WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                cost = way(server, Path(folder), sizes)
            click.echo(f"{name}: {cost}", err=True)
            costs[name].append(cost)
    return {name: sorted(found, key=lambda cost: cost.seconds)[rounds // 2] for name, found in costs.items()}


@click.command()
@click.option("--sites", "count", default=200, show_default=True)
@click.option("--pages", default=25, show_default=True)
@click.option("--first", default=SliceSizes().first_requests, show_default=True, help="Of slices: requests.")
@click.option("--most", default=SliceSizes().most_requests, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@format_option
def main(count: int, pages: int, first: int, most: int, rounds: int, form: str) -> None:
    """Compare two workers with one process, slices with one crawl, and time the choice among sites."""
    sizes = SliceSizes(first, most)
    report("outer_choice", [outer_choice(100_000)], form)
    load_libraries()
    with sites(count, pages) as server:
        costs = measured(server, sizes, rounds)
    base = costs["one process"]
    report("fleet_speed", [_row(name, cost, base) for name, cost in costs.items()], form)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve_sites(int(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["half"]:
        harvest_half(sys.argv[2], tuple(sys.argv[3:]))
    else:
        main()
