"""Workers and clients of a fleet are killed at random moments, and the servers' own logs are read afterwards.

    python -m benchmarks.fleet_kills [--workers 50] [--clients 5] [--schedulers 1] [--sites 40] [--every 12]

Sites are served on loopback, each on an address of its own. A Dask scheduler and its workers run as processes
of their own; so does the client. While they harvest, a worker is killed at regular intervals, and the client
and the scheduler now and then; Dask restarts the first, this program the others. With ``--store-away`` the
store, a folder, fails for a minute. At the end it is checked that every target of
every site is in the store, none twice in the tables, that no two requests to a host came within its delay,
and that no host got requests from two at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.reporting import format_option, report
from coati.bandits.slice_choice import SliceSizes
from coati.fleet.client import harvest_fleet
from coati.fleet.dask_cluster import DaskCluster
from coati.fleet.events import FleetEvent
from coati.fleet.harvest import FleetHarvest, Listeners
from coati.fleet.objects import ObjectStore, open_store
from coati.fleet.orders import SliceTimes
from coati.fleet.status import fleet_status
from coati.harvesting.files_harvest import FilesHarvest
from coati.model import Kind
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.testing.generator import generate_site
from coati.testing.server import MakeSite, SiteServer, serve
from coati.testing.site import Response
from coati.testing.site_parameters import SiteParameters
from coati.web.media import PRESETS

if TYPE_CHECKING:
    from coati.testing.server import SeenRequest

# Short, so that what takes minutes otherwise happens within seconds.
TIMES = SliceTimes(publish=1.0, term=8.0, patience=60.0, grace=30.0)
SIZES = SliceSizes(first_requests=10, most_requests=40, seconds=20.0)
_MOST_FAILURES = 10
_AWAY_SECONDS = 60.0
# The system reports arrivals in ticks of four milliseconds, and the crawlers' clock has one.
_LEEWAY_SECONDS = 0.01
_SHORT_MS = (0, 1, 5, 10, 50, 100)


def make(number: int, pages: int) -> MakeSite:
    """Make a site that differs from the others."""
    parameters = SiteParameters(
        pages=pages,
        target_share=0.4,
        pages_with_targets=0.3,
        target_bytes=3000,
        target_bytes_sd=1000,
        page_bytes=3000,
    )
    return lambda base_url: generate_site(parameters, seed=number, base_url=base_url)


def run_client(scheduler: str, store: str, addresses: str, delay: str, events: str) -> None:
    """Harvest everything, as the process of a client does."""
    settings = with_values(RunSettings(), {"types": "data", "delay": float(delay), "stop_when_dry": "off"})
    urls = tuple(Path(addresses).read_text().split())
    files = FilesHarvest(urls=urls, out=Path(), settings=settings)
    plan = FleetHarvest(files=files, store=store, sizes=SIZES, times=TIMES)
    cluster = DaskCluster(scheduler)
    with Path(events).open("a", encoding="utf-8") as out:

        def note(event: FleetEvent) -> None:
            out.write(event.line() + "\n")
            out.flush()

        try:
            harvest_fleet(plan, cluster, Listeners(on_event=note))
        finally:
            cluster.close()


class Killing:
    """A scheduler, its workers and a client, all to be killed."""

    def __init__(self, folder: Path, server: SiteServer, delay: float, processes: int) -> None:
        self.events = folder / "events.jsonl"
        self._delay = delay
        self.store = str(folder / "store")
        self._addresses = folder / "addresses.txt"
        self._addresses.write_text("\n".join(site.start_url for site in server.sites))
        self._scheduler_file = folder / "scheduler.json"
        self._log = (folder / "dask.log").open("w")
        place = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        self._scheduler = ["scheduler", "--port", str(_free_port()), *place]
        self._scheduler += ["--scheduler-file", str(self._scheduler_file)]
        self._processes = [self._dask(*self._scheduler)]
        while not self._scheduler_file.is_file():
            time.sleep(0.2)
        self._worker = ["worker", "--nthreads", "10", "--local-directory", str(folder), *place]
        self._worker += ["--scheduler-file", str(self._scheduler_file)]
        self._processes += [self._dask(*self._worker) for _ in range(processes)]
        self.client = self._start_client()
        self.worker_kills = self.client_kills = self.scheduler_kills = self.failures = 0
        self.store_failures = 0

    def _dask(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments]
        return subprocess.Popen(command, stdout=self._log, stderr=self._log)  # noqa: S603 - ours

    def _start_client(self) -> subprocess.Popen[bytes]:
        scheduler = json.loads(self._scheduler_file.read_text())["address"]
        arguments = ["client", scheduler, self.store, self._addresses, self._delay, self.events]
        command = [sys.executable, "-m", "benchmarks.fleet_kills", *map(str, arguments)]
        return subprocess.Popen(command, stdout=self._log, stderr=self._log)  # noqa: S603 - ours

    def client_is_done(self) -> bool:
        """Tell whether the harvest has ended; one that failed is started again, as people do."""
        ended = self.client.poll()
        if ended:
            self.failures += 1
            if self.failures > _MOST_FAILURES:
                raise click.ClickException(f"the client fails: see {self._log.name}")
            self.client = self._start_client()
        return ended == 0

    def start_again(self) -> None:
        """Start workers again that ended for good, as a cluster's manager does."""
        # Dask gives a worker up that dies while it starts, and workers end with their scheduler.
        for place, nanny in enumerate(self._processes):
            if place and nanny.poll() is not None:
                self._processes[place] = self._dask(*self._worker)

    def kill_scheduler(self) -> None:
        """Kill the scheduler, and start it again under the same address."""
        self._processes[0].kill()
        self._processes[0].wait()
        self.scheduler_kills += 1
        self._processes[0] = self._dask(*self._scheduler)

    def kill_worker(self, chance: random.Random) -> None:
        """Kill the process of a worker; its nanny starts another one."""
        running = [child for nanny in self._processes[1:] for child in _children(nanny.pid)]
        if running:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(running), signal.SIGKILL)
                self.worker_kills += 1

    def take_store_away(self) -> None:
        """Let the store fail for a minute: its name leads to itself, and nothing can be read or written."""
        store, away = Path(self.store), Path(self.store + ".away")
        store.rename(away)
        store.symlink_to(store)
        time.sleep(_AWAY_SECONDS)
        store.unlink()
        away.rename(store)
        self.store_failures += 1

    def kill_client(self) -> None:
        """Kill the client, and start it again."""
        self.client.kill()
        self.client.wait()
        self.client_kills += 1
        self.client = self._start_client()

    def close(self) -> None:
        """End everything."""
        for process in (self.client, *self._processes):
            process.kill()
            process.wait()
        self._log.close()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _children(process: int) -> list[int]:
    """Return the processes of workers that a nanny has started; its other child keeps track of semaphores."""
    found = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            for child in (thread / "children").read_text().split():
                command = Path(f"/proc/{child}/cmdline").read_bytes()
                found += [int(child)] if b"spawn_main" in command else []
    return found


def check_targets(server: SiteServer, store: ObjectStore) -> dict[str, object]:
    """Compare what the sites have with what the tables and the store hold."""
    import pyarrow.parquet as pq

    wanted: Counter[str] = Counter()
    for site in server.sites:
        wanted.update(url for url in site if is_target(url, site.get(url)))
    found: Counter[str] = Counter()
    damaged = 0
    for site_name in store.names("tables/targets"):
        for name in store.names(f"tables/targets/{site_name}"):
            table = pq.read_table(store.address(f"tables/targets/{site_name}/{name}"))
            for row in table.to_pylist():
                found[row["url"]] += 1
                content = store.read(row["object"]) or b""
                damaged += hashlib.sha256(content).hexdigest() != row["sha256"]
    return {
        "targets": len(wanted),
        "lost": len(wanted.keys() - found.keys()),
        "twice": sum(times > 1 for times in found.values()),
        "damaged": damaged,
    }


def is_target(url: str, response: Response) -> bool:
    """Tell whether a response is a file that is wanted."""
    return response.status == HTTPStatus.OK and PRESETS["data"].kind(response.media_type, url) is Kind.TARGET


def check_pace(seen: Sequence[SeenRequest], delay: float) -> dict[str, object]:
    """Look through the log of the servers for requests that came too soon, or at once.

    They came when their machine had them. Beside it is when the server got to them: it shares the
    processors with everybody else here, and gets to one request later than to the next.
    """
    by_host: dict[str, list[SeenRequest]] = defaultdict(list)
    for request in seen:
        by_host[request.url.split("/")[2]].append(request)
    arrived, read = [], []
    at_once = 0
    for requests in by_host.values():
        requests.sort(key=lambda request: request.started_at)
        for before, after in pairwise(requests):
            arrived.append(delay - (after.arrived_at - before.arrived_at))
            read.append(delay - (after.started_at - before.started_at))
            at_once += after.arrived_at < before.finished_at
    return {
        "requests": len(seen),
        "at_once": at_once,
        "too_soon": sum(short > _LEEWAY_SECONDS for short in arrived),
        "arrived_short_ms": _histogram(arrived),
        "read_short_ms": _histogram(read),
    }


def _histogram(shortfalls: Sequence[float]) -> str:
    """Say how many gaps fell short of the delay by more than this many milliseconds, and the most."""
    counts = [f">{limit}: {sum(1000 * short > limit for short in shortfalls)}" for limit in _SHORT_MS]
    return ", ".join([*counts, f"most: {1000 * max(shortfalls, default=0.0):.0f}"])


def kill_all(killing: Killing, turns: list[str], every: float, chance: random.Random) -> None:
    """Kill who is to be killed, in random order, and wait for the harvest to end."""
    chance.shuffle(turns)
    while not killing.events.is_file() or '"ended"' not in killing.events.read_text():
        # Everything is loaded first, so that what is killed is at work.
        killing.client_is_done()
        time.sleep(0.5)
    for number, whom in enumerate(turns, 1):
        deadline = time.monotonic() + every * (0.5 + chance.random())
        while time.monotonic() < deadline:
            if killing.client_is_done():
                return
            killing.start_again()
            time.sleep(0.2)
        match whom:
            case "client":
                killing.kill_client()
            case "scheduler":
                killing.kill_scheduler()
            case "worker":
                killing.kill_worker(chance)
            case "store":
                killing.take_store_away()
        click.echo(f"{number} of {len(turns)}: {whom}", err=True)
    while not killing.client_is_done():
        killing.start_again()
        time.sleep(0.2)


@click.command()
@click.option("--workers", default=50, show_default=True, help="How many workers are killed.")
@click.option("--clients", default=5, show_default=True, help="How many clients are killed.")
@click.option("--schedulers", default=1, show_default=True, help="How often the scheduler is killed.")
@click.option("--store-away", default=0, show_default=True, help="How often the store fails for a minute.")
@click.option("--sites", default=40, show_default=True)
@click.option("--pages", default=100, show_default=True)
@click.option("--processes", default=4, show_default=True, help="Workers that run at a time.")
@click.option("--every", default=12.0, show_default=True, help="Seconds between two kills, on average.")
@click.option("--delay", default=0.25, show_default=True)
@click.option("--seed", default=0, show_default=True)
@format_option
def main(  # noqa: PLR0913, PLR0917 -- one parameter per option
    workers: int,
    clients: int,
    schedulers: int,
    store_away: int,
    sites: int,
    pages: int,
    processes: int,
    every: float,
    delay: float,
    seed: int,
    form: str,
) -> None:
    """Kill workers and clients of a fleet, and see that nothing is lost and no host is overloaded."""
    makers = [make(number, pages) for number in range(sites)]
    with ExitStack() as stack:
        server = stack.enter_context(serve(*makers))
        folder = Path(tempfile.mkdtemp(prefix="fleet-kills-"))
        begun = time.monotonic()
        killing = Killing(folder, server, delay, processes)
        try:
            turns = ["worker"] * workers + ["client"] * clients + ["scheduler"] * schedulers
            kill_all(killing, turns + ["store"] * store_away, every, random.Random(seed))
        finally:
            killing.close()
        store = open_store(killing.store)
        status = fleet_status(store)
        events = Counter(json.loads(line)["what"] for line in killing.events.read_text().splitlines())
        row = {
            "workers_killed": killing.worker_kills,
            "clients_killed": killing.client_kills,
            "schedulers_killed": killing.scheduler_kills,
            "store_failures": killing.store_failures,
            "client_failures": killing.failures,
            "seconds": round(time.monotonic() - begun),
            "sites_done": sum(site.done for site in status.sites),
            "quarantined": sum(site.quarantined for site in status.sites),
            "slices": events["ended"],
            **check_targets(server, store),
            **check_pace(server.requests, delay),
            "counted_requests": sum(site.summary.requests for site in status.sites),
        }
    report("fleet_kills", [row], form)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        run_client(*sys.argv[2:])
    else:
        main()
