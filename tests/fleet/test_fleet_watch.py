"""Watching all sites of a store, by slices in this process."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from coati.bandits.slice_choice import SliceSizes
from coati.errors import ConfigError
from coati.fleet.client import harvest_fleet
from coati.fleet.cluster import OwnProcess
from coati.fleet.deaths import quarantine, use_last_try
from coati.fleet.downloading import download_run
from coati.fleet.fleet_watch import FleetCycle, FleetWatch, watch_fleet, watch_fleet_once, watched_sites
from coati.fleet.harvest import FleetHarvest, Listeners
from coati.fleet.objects import open_store
from coati.fleet.orders import SliceEnd, SliceOrder, SliceResult
from coati.fleet.slices import run_slice
from coati.fleet.status import fleet_status
from coati.fleet.store_access import free_site
from coati.fleet.worker import Worker
from coati.harvesting.files_harvest import FilesHarvest
from coati.runs.changes_file import read_changes
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.watching.watch_options import WatchOptions
from tests.cli.commands import Coati, coati
from tests.live.scripted import Route, Script, file, page, scripted

__all__ = ["coati"]

OPTIONS = WatchOptions(per_cycle=10, follow=10, check=10, scheduler="rr")


@pytest.fixture
def site() -> Iterator[Script]:
    routes: dict[str, Route] = {
        "/": page("/data", "/about"),
        "/data": page("/a.csv"),
        "/about": page("/"),
        "/a.csv": file(b"a\n1\n"),
    }
    with scripted(routes) as script:
        yield script


@pytest.fixture
def store_url(site: Script) -> str:
    """Harvest the site into a store."""
    url = f"memory://{uuid.uuid4().hex}"
    settings = with_values(RunSettings(), {"types": "data", "delay": 0.0, "strategy": "bfs"})
    files = FilesHarvest(urls=(site.start,), out=Path(), settings=settings)
    cluster = OwnProcess(1)
    harvest_fleet(FleetHarvest(files=files, store=url, sizes=SliceSizes(3, 3, 60.0)), cluster)
    cluster.close()
    return url


def an_hour_later() -> Callable[[SliceOrder, Worker], SliceResult]:
    """Crawl slices, each an hour after the one before."""
    hours = count(2_000_000_000, 3600)

    def crawl(order: SliceOrder, worker: Worker) -> SliceResult:
        now = float(next(hours))
        return run_slice(order, replace(worker, clock=lambda: now))

    return crawl


def told(cycle: FleetCycle) -> list[tuple[str, str]]:
    found = [change for result in cycle.results.values() for change in result.changes]
    return [(change.what, change.url.rpartition("/")[2]) for change in found]


def test_cycles_on_several_machines_find_what_is_new(site: Script, store_url: str, tmp_path: Path) -> None:
    cluster = OwnProcess(1, an_hour_later())
    watch = FleetWatch(store=store_url, options=OPTIONS)
    first = watch_fleet_once(watch, cluster)
    assert (told(first), first.sites, len(first.results)) == ([], 1, 1)
    site.routes["/data"] = page("/a.csv", "/b.csv")
    site.routes["/b.csv"] = file(b"b\n1\n")
    assert told(watch_fleet_once(watch, cluster)) == [("new", "b.csv")]
    assert told(watch_fleet_once(watch, cluster)) == []
    cluster.close()
    name = next(iter(first.results))
    download_run(open_store(store_url), f"watches/{name}", tmp_path / "watch")
    assert [change.url.rpartition("/")[2] for change in read_changes(tmp_path / "watch")] == ["b.csv"]
    # The crawl beside it is as it was.
    download_run(open_store(store_url), f"sites/{name}", tmp_path / "crawl")
    assert [path.name for path in (tmp_path / "crawl" / "files").iterdir()] == ["a.csv"]


def test_after_a_cycle_that_failed_the_requests_of_the_crawl_do_not_count(store_url: str) -> None:
    failures = iter([RuntimeError("a bug")])
    requests: list[int] = []

    def crawl(order: SliceOrder, worker: Worker) -> SliceResult:
        for failure in failures:
            raise failure
        return run_slice(order, worker)

    cluster = OwnProcess(1, crawl)
    listeners = Listeners(on_progress=lambda progress: requests.append(progress.requests))
    cycle = watch_fleet_once(FleetWatch(store=store_url, options=OPTIONS), cluster, listeners)
    cluster.close()
    assert (len(cycle.results), set(requests)) == (1, {0})


def test_one_cycle_follows_the_other(site: Script, store_url: str) -> None:
    assert site.start
    cycles: list[FleetCycle] = []
    starts: list[float] = []

    def wait_until(at: float) -> bool:
        starts.append(at)
        return len(starts) < 2

    cluster = OwnProcess(1, an_hour_later())
    watch_fleet(
        FleetWatch(store=store_url, options=OPTIONS), cluster, lambda: 5000.0, wait_until, cycles.append
    )
    cluster.close()
    assert (len(cycles), starts) == (2, [7200.0, 7200.0])


def test_a_store_without_a_crawl_cannot_be_watched(tmp_path: Path) -> None:
    cluster = OwnProcess(1)
    with pytest.raises(ConfigError, match="holds no crawl to watch"):
        watch_fleet_once(FleetWatch(store=str(tmp_path / "mistyped")), cluster)
    cluster.close()
    assert not (tmp_path / "mistyped").exists()


def test_a_watch_in_quarantine_gets_a_last_try_and_can_be_freed(store_url: str) -> None:
    store = open_store(store_url)
    (site,) = watched_sites(store)
    died: list[bool] = []

    def dies(order: SliceOrder, _: Worker) -> SliceResult:
        died.append(order.last_try)
        quarantine(store, order.place, 3, 0.0)
        if order.last_try:
            assert use_last_try(store, order.place, 1, 0.0)
        return SliceResult(site=site.name, end=SliceEnd.QUARANTINED, by="w", deaths=3)

    cluster = OwnProcess(1, dies)
    watch_fleet_once(FleetWatch(store=store_url, options=OPTIONS), cluster)
    cluster.close()
    assert died == [False, True]
    (status,) = fleet_status(store).sites
    assert status.quarantined
    assert free_site(store_url, site.name)
    assert not free_site(store_url, site.name)
    (status,) = fleet_status(store).sites
    assert not status.quarantined


def test_the_command_watches_a_store(coati: Coati, store_url: str) -> None:
    said = coati("watch", "--store", store_url, "--once", "--scheduler", "rr", "--format", "json")
    assert (said.code, said.json["pages"], said.json["new"]) == (0, 4, 0)
    table = coati("watch", "--store", store_url, "--once", "--scheduler", "rr")
    assert "0 new, 0 changed, 0 gone" in table.out
    for wrong in (["watch"], ["watch", "x", "--store", "y"], ["watch", "x", "--cluster", "local:2"]):
        assert coati(*wrong).code == 2
