"""Slices on Dask: most of it within this process, once with real workers that are killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coati.bandits.slice_choice import SliceSizes
from coati.errors import ConfigError
from coati.fleet import dask_cluster
from coati.fleet.client import FleetHarvest, harvest_fleet
from coati.fleet.dask_cluster import DaskCluster
from coati.fleet.orders import SliceOrder
from coati.harvesting.sites import HarvestSite
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.testing.server import SiteServer, serve
from coati.web.rules import Scope
from tests.fleet.test_client import files_harvest, make

if TYPE_CHECKING:
    from distributed import LocalCluster


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(make(0), make(1), make(2)) as served:
        yield served


@pytest.fixture(scope="module")
def dask() -> Iterator[LocalCluster]:
    """Start a scheduler and a worker in this process."""
    from distributed import LocalCluster

    options = {"processes": False, "protocol": "tcp", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=1, threads_per_worker=3, **options) as cluster:
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
    with pytest.raises(ConfigError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        DaskCluster("tcp://127.0.0.1:9")


def test_processes_that_it_starts_keep_their_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dask import config

    environments: list[dict[str, object]] = []

    def started(**_: object) -> None:
        environments.append(dict(config.get("distributed.nanny.pre-spawn-environ")))
        raise ConfigError("that is enough")

    monkeypatch.setattr("distributed.LocalCluster", started)
    with pytest.raises(ConfigError, match="that is enough"):
        DaskCluster("local:1")
    # To Dask, None says that a variable is not to be set.
    assert environments[0]["MALLOC_TRIM_THRESHOLD_"] is None
    assert environments[0]["OMP_NUM_THREADS"] == 1


class OneAfterTheOther:
    """Dask as a client of it sees it: its only worker is gone, and another one comes."""

    status = "running"

    def __init__(self) -> None:
        self.worker = "tcp://first"
        self.futures: list[Stranded] = []

    def scheduler_info(self, **_: object) -> dict[str, object]:
        return {"workers": {self.worker: {"nthreads": 4}}}

    def submit(self, *_: object, workers: list[str] | None, **__: object) -> Stranded:
        self.futures.append(Stranded(workers))
        return self.futures[-1]

    def run(self, *_: object, **__: object) -> dict[str, object]:
        return {}

    wait_for_workers = register_worker_callbacks = close = run


class Stranded:
    """A slice that nobody gets."""

    status = "pending"

    def __init__(self, workers: list[str] | None) -> None:
        self.workers = workers
        self._done: list[Callable[[Stranded], None]] = []

    def add_done_callback(self, call: Callable[[Stranded], None]) -> None:
        self._done.append(call)

    def cancel(self) -> None:
        self.status = "cancelled"
        for call in self._done:
            call(self)


def test_a_slice_that_was_for_a_worker_that_is_gone_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    dask = OneAfterTheOther()
    monkeypatch.setattr(DaskCluster, "_connected", lambda _: dask)
    monkeypatch.setattr(dask_cluster, "_LOOK_SECONDS", -1.0)
    cluster = DaskCluster("tcp://somewhere:1")
    settings = with_values(RunSettings(), {"types": "data"})
    site = HarvestSite("a.org", ("https://a.org/",), Scope.HOST)
    order = SliceOrder(store="memory://x", site=site, settings=settings)
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
