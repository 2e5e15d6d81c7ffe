"""Slices on Dask: most of it within this process, once with real workers that are killed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coati.bandits.slice_choice import SliceSizes
from coati.errors import ConfigError
from coati.fleet import dask_cluster
from coati.fleet.client import harvest_fleet
from coati.fleet.dask_cluster import DaskCluster
from coati.fleet.harvest import FleetHarvest
from coati.fleet.orders import SliceOrder, SliceResult
from coati.harvesting.sites import HarvestSite
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.testing.server import SiteServer, serve
from coati.web.rules import Scope
from tests.fleet.test_client import FirstProgress, crawled, files_harvest, make
from tests.waiting import PATIENCE_SECONDS, wait_until

if TYPE_CHECKING:
    from distributed import LocalCluster


IN_THIS_PROCESS = {
    "processes": False,
    "protocol": "tcp",
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
}


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(make(0), make(1), make(2)) as served:
        yield served


@pytest.fixture(scope="module")
def dask() -> Iterator[LocalCluster]:
    """Start a scheduler and a worker in this process."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=3, **IN_THIS_PROCESS) as cluster:
        yield cluster


def test_a_harvest_on_a_cluster_that_runs(dask: LocalCluster, server: SiteServer, tmp_path: Path) -> None:
    cluster = DaskCluster(dask.scheduler_address)
    try:
        assert (cluster.places(), len(cluster.workers())) == (3, 1)
        files = files_harvest(server, tmp_path, max_requests=40)
        plan = FleetHarvest(files=files, store=str(tmp_path / "store"), sizes=SliceSizes(10, 20, 60.0))
        fleet = harvest_fleet(plan, cluster)
    finally:
        cluster.close()
    assert sum(site.state.requests for site in fleet.sites) == 40
    assert fleet.slices >= 3


def test_workers_tell_how_far_their_slices_are(
    dask: LocalCluster, server: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coati.fleet.slice_crawl._REPORT_SECONDS", 0.01)
    first = FirstProgress(server, 10)
    files = files_harvest(server, tmp_path, max_requests=40)
    plan = FleetHarvest(files=files, store=str(tmp_path / "store"), sizes=SliceSizes(30, 40, 60.0))
    with closing(DaskCluster(dask.scheduler_address)) as cluster:
        fleet = harvest_fleet(plan, cluster, first.listeners)
    assert (first.ended, first.told is not None) == (0, True)
    assert sum(site.state.requests for site in fleet.sites) == 40


def test_a_cluster_of_another_version_is_refused(dask: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "__version__", "9.9")
    monkeypatch.setattr(dask_cluster, "coati_version", lambda: "0.1")
    with pytest.raises(ConfigError, match=r"has Coati 0\.1, and this is 9\.9"):
        DaskCluster(dask.scheduler_address)


def test_workers_without_coati_are_refused(dask: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise ModuleNotFoundError("No module named 'coati'")

    monkeypatch.setattr(dask_cluster, "coati_version", missing)
    with pytest.raises(ConfigError, match=r"cannot run Coati .*install the same version"):
        DaskCluster(dask.scheduler_address)


def test_where_no_scheduler_is_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 0.2)
    with pytest.raises(ConfigError, match=r"no Dask scheduler responds at tcp://127\.0\.0\.1:9"):
        DaskCluster("tcp://127.0.0.1:9")


class OneAfterTheOther:
    """Dask as a client of it sees it: its only worker is gone, and another one comes."""

    status = "running"

    def __init__(self) -> None:
        self.worker = "tcp://first"
        self.futures: list[Stranded] = []
        self.loop = self

    def subscribe_topic(self, *_: object) -> None:
        """Nobody tells anything."""

    def scheduler_info(self, **_: object) -> dict[str, object]:
        return {"workers": {self.worker: {"nthreads": 4}}}

    def submit(self, *_: object, workers: list[str] | None, **__: object) -> Stranded:
        self.futures.append(Stranded(self, workers))
        return self.futures[-1]

    def add_callback(
        self, call: Callable[[str, Stranded], Coroutine[None, None, None]], site: str, future: Stranded
    ) -> None:
        future.taking_in = call(site, future)
        future.taking_in.send(None)

    async def gather(self, future: Stranded, **_: object) -> None:
        await future
        raise CancelledError

    def run(self, *_: object, **__: object) -> dict[str, object]:
        return {}

    wait_for_workers = register_worker_callbacks = close = run


class Stranded:
    """A slice that nobody gets."""

    status = "pending"
    taking_in: Coroutine[None, None, None]

    def __init__(self, client: OneAfterTheOther, workers: list[str] | None) -> None:
        self.client = client
        self.workers = workers

    def __await__(self) -> Generator[None]:
        yield

    def cancel(self) -> None:
        self.status = "cancelled"
        with suppress(StopIteration):
            self.taking_in.send(None)


def slice_order(site: str) -> SliceOrder:
    settings = with_values(RunSettings(), {"types": "data"})
    return SliceOrder(
        store="memory://x", site=HarvestSite(site, (f"https://{site}/",), Scope.HOST), settings=settings
    )


def test_a_slice_that_was_for_a_worker_that_is_gone_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    dask = OneAfterTheOther()
    monkeypatch.setattr(DaskCluster, "_connected", lambda _: dask)
    monkeypatch.setattr(dask_cluster, "_LOOK_SECONDS", -1.0)
    cluster = DaskCluster("tcp://somewhere:1")
    order = slice_order("a.org")
    cluster.send(order, apart=True)
    assert dask.futures[0].workers == ["tcp://first"]
    assert cluster.wait(0.0) is None
    dask.worker = "tcp://second"
    # Others may still get it.
    assert cluster.wait(0.0) is None
    monkeypatch.setattr(dask_cluster, "_STRANDED_SECONDS", -1.0)
    finished = cluster.wait(0.0)
    assert finished is not None
    # It is a suspect: its worker died.
    assert (finished.site, str(finished.error), finished.worker_died) == ("a.org", "its worker is gone", True)
    cluster.send(order, apart=True)
    assert dask.futures[1].workers == ["tcp://second"]
    assert cluster.wait(0.0) is None


def ended_at_once(order: SliceOrder) -> SliceResult:
    return crawled(order.site.name)


def test_what_a_worker_had_brought_when_it_died_does_not_hold_up_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker dies after its slice ended, and before the client has fetched what it returned."""
    from distributed import LocalCluster

    monkeypatch.setattr(dask_cluster, "slice_task", ended_at_once)
    monkeypatch.setattr(dask_cluster, "_LOOK_SECONDS", -1.0)
    fetches, is_dead = threading.Event(), threading.Event()
    with LocalCluster(n_workers=1, threads_per_worker=3, **IN_THIS_PROCESS) as dask:
        gather = dask.scheduler.handlers["gather"]

        async def gather_from_the_dead(**asked: object) -> object:
            fetches.set()
            await asyncio.to_thread(is_dead.wait)
            return await gather(**asked)

        dask.scheduler.handlers["gather"] = gather_from_the_dead
        with closing(DaskCluster(dask.scheduler_address)) as cluster:
            cluster.send(slice_order("a.org"), apart=True)
            fetches.wait()
            dask.sync(dask.workers[0].close)
            wait_until(lambda: not cluster.workers())
            is_dead.set()
            dask.scale(2)
            dask.wait_for_workers(1)
            cluster.send(slice_order("b.org"))
            second = cluster.wait(PATIENCE_SECONDS)
            assert second is not None
            assert (second.site, second.result) == ("b.org", crawled("b.org"))
            monkeypatch.setattr(dask_cluster, "_STRANDED_SECONDS", -1.0)
            first = cluster.wait(PATIENCE_SECONDS)
    assert first is not None
    assert (first.site, first.result, first.worker_died) == ("a.org", None, True)
