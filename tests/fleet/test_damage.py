"""Damaged objects in a store: the site is named and left out, and everything else continues."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coati.bandits.slice_choice import SliceSizes
from coati.fleet.client import harvest_fleet
from coati.fleet.cluster import OwnProcess
from coati.fleet.deaths import deaths_at, has_last_try, quarantine, use_last_try
from coati.fleet.downloading import download_run
from coati.fleet.events import FleetEvent
from coati.fleet.fleet_watch import FleetWatch, watch_fleet_once
from coati.fleet.generations import Chain
from coati.fleet.harvest import FleetHarvest, FleetHarvested, Listeners
from coati.fleet.leases import Leases, lease_name
from coati.fleet.objects import DamagedObjectError, ObjectStore, open_store
from coati.fleet.orders import SliceEnd, SliceOrder
from coati.fleet.slices import run_slice
from coati.fleet.status import summary_of_state, write_fleet_report
from coati.fleet.store_retries import StoreRetries
from coati.harvesting.sites import sites_of
from coati.testing.server import SiteServer, serve
from coati.watching.watch_options import WatchOptions
from tests.cli.commands import Coati, coati
from tests.fleet.test_client import files_harvest, make

__all__ = ["coati"]


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(make(0), make(1)) as served:
        yield served


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path / "store"))


def harvest(
    server: SiteServer, store: ObjectStore, requests: int, events: list[FleetEvent] | None = None
) -> FleetHarvested:
    """Harvest with the usual patience: waiting for what is damaged would never end."""
    cluster = OwnProcess(2)
    files = files_harvest(server, Path(), max_requests=requests)
    plan = FleetHarvest(files=files, store=store.url, sizes=SliceSizes(10, 40, 60.0))
    try:
        return harvest_fleet(plan, cluster, Listeners(on_event=None if events is None else events.append))
    finally:
        cluster.close()


def part_of(store: ObjectStore, server: SiteServer) -> str:
    newest = Chain(store, f"sites/{first_site(server)}").newest()
    assert newest is not None
    return newest.database[0].name


def generation_of(store: ObjectStore, server: SiteServer) -> str:
    place = f"sites/{first_site(server)}/generations"
    return f"{place}/{store.names(place)[-1]}"


def lease_of(store: ObjectStore, server: SiteServer) -> str:
    place = f"leases/{lease_name(server.sites[0].start_url)}"
    return f"{place}/{store.names(place)[-1]}"


def first_site(server: SiteServer) -> str:
    return sites_of([site.start_url for site in server.sites])[0].name


def damage(store: ObjectStore, name: str) -> bytes:
    """Leave the first half of an object, as a copy that was cut off does; returns what it was."""
    whole = store.read(name)
    assert whole
    store.replace(name, whole[: len(whole) // 2])
    return whole


@pytest.mark.parametrize("object_of", [part_of, generation_of, lease_of])
def test_a_damaged_site_is_left_out_and_the_others_continue(
    server: SiteServer, store: ObjectStore, object_of: Callable[[ObjectStore, SiteServer], str]
) -> None:
    harvest(server, store, 20)
    name = object_of(store, server)
    whole = damage(store, name)
    events: list[FleetEvent] = []
    fleet = harvest(server, store, 10_000, events)
    damaged, other = fleet.sites
    assert (other.state.done, other.damage, fleet.deaths) == (True, "", 0)
    assert f"{name} in the store is" in damaged.damage
    assert "Restore it from a backup, or delete" in damaged.damage
    kinds = [event.what.value for event in events if event.data.get("site") == damaged.site]
    assert kinds == ["sent", "failed", "sent", "failed", "sent", "damaged"]
    assert not damaged.quarantined
    # It has its row in the report, too.
    found = write_fleet_report(store, fleet.sites, fleet.stop.value)
    assert "damaged in the store" in {site.stop_reason for site in found}
    assert summary_of_state(damaged) in found
    # Who has mended it need only run the same command again.
    store.replace(name, whole)
    mended = harvest(server, store, 10_000)
    assert [(site.state.done, site.damage) for site in mended.sites] == [(True, "")] * 2


def test_a_site_begins_from_scratch_where_its_objects_were_deleted(
    server: SiteServer, tmp_path: Path, store: ObjectStore
) -> None:
    harvest(server, store, 20)
    damage(store, part_of(store, server))
    site = first_site(server)
    for folder in (tmp_path / "store").glob(f"tables/*/{site}"), [tmp_path / "store" / "sites" / site]:
        for place in folder:
            for file in [path for path in place.rglob("*") if path.is_file()]:
                file.unlink()
    fleet = harvest(server, store, 10_000)
    assert [one.state.done for one in fleet.sites] == [True, True]
    download_run(store, f"sites/{site}", tmp_path / "pulled")


def test_commands_name_what_is_damaged(coati: Coati, server: SiteServer, store: ObjectStore) -> None:
    harvest(server, store, 20)
    site, other = [one.name for one in sites_of([one.start_url for one in server.sites])]
    part = part_of(store, server)
    whole = damage(store, part)
    said = coati("pull", store.url, site, "--out", "pulled")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert f"{part} in the store is missing or damaged. Restore it" in said.err
    store.replace(part, whole)
    table = f"tables/requests/{site}/{store.names(f'tables/requests/{site}')[-1]}"
    damage(store, table)
    said = coati("fleet", "log", store.url, site)
    assert (said.code, f"{table} in the store is damaged" in said.err) == (2, True)
    generation, lease = generation_of(store, server), lease_of(store, server)
    damage(store, generation)
    damage(store, lease)
    for command in (["pull", store.url, site, "--out", "pulled"], ["fleet", "free", store.url, site]):
        said = coati(*command)
        assert (said.code, f"{generation} in the store is damaged" in said.err) == (2, True)
    shown = coati("fleet", "status", store.url)
    assert (shown.code, other in shown.out) == (0, True)
    told = coati("fleet", "status", store.url, "--format", "json").out.splitlines()[-1]
    for name in (generation, lease):
        assert f"damaged:    {name} in the store" in shown.out
        assert name in told


@pytest.mark.parametrize("object_of", [part_of, generation_of])
def test_a_watch_leaves_a_damaged_site_out(
    server: SiteServer, store: ObjectStore, object_of: Callable[[ObjectStore, SiteServer], str]
) -> None:
    harvest(server, store, 40)
    name = object_of(store, server)
    damage(store, name)
    events: list[FleetEvent] = []
    cluster = OwnProcess(2)
    watch = FleetWatch(store=store.url, options=WatchOptions(per_cycle=2, scheduler="rr"), delay=0.0)
    cycle = watch_fleet_once(watch, cluster, Listeners(on_event=events.append))
    cluster.close()
    assert (cycle.sites, len(cycle.results), list(cycle.damaged)) == (2, 1, [first_site(server)])
    assert name in cycle.damaged[first_site(server)]
    assert [event.data["site"] for event in events if event.what.value == "damaged"] == list(cycle.damaged)


def test_damage_is_not_waited_for_and_comes_back_whole_from_a_worker() -> None:
    def damaged() -> None:
        raise DamagedObjectError("sites/a.org/parts/1", "is damaged")

    def pause(_: float) -> None:
        raise AssertionError("nobody mends it meanwhile")

    with pytest.raises(DamagedObjectError) as raised:
        StoreRetries(pause=pause).run(damaged)
    sent: DamagedObjectError = pickle.loads(pickle.dumps(raised.value))  # noqa: S301
    assert (sent.name, str(sent)) == (raised.value.name, str(raised.value))
    assert "delete sites/a.org and tables/*/a.org" in str(sent)


def test_notes_that_are_damaged_count_as_what_their_names_say(memory: ObjectStore) -> None:
    memory.replace("sites/a.org/deaths/a.org-1", b"{")
    assert deaths_at(memory, "sites/a.org") == (1, 0)
    quarantine(memory, "sites/a.org", 3, 0.0)
    damage(memory, "sites/a.org/quarantine")
    assert has_last_try(memory, "sites/a.org")
    assert use_last_try(memory, "sites/a.org", 7, 0.0)
    assert not has_last_try(memory, "sites/a.org")


def test_an_old_generation_that_is_damaged_does_not_keep_new_ones_from_being_published(
    server: SiteServer, store: ObjectStore
) -> None:
    harvest(server, store, 20)
    place = f"sites/{first_site(server)}/generations"
    damage(store, f"{place}/{store.names(place)[-2]}")
    fleet = harvest(server, store, 10_000)
    assert all(site.state.done for site in fleet.sites)


def test_a_pull_follows_a_harvest_that_goes_on(
    server: SiteServer, store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(server, store, 20)
    part, chain = part_of(store, server), Chain(store, f"sites/{first_site(server)}")
    newest = chain.newest()
    assert newest is not None
    read = ObjectStore.read

    def moves_on(self: ObjectStore, name: str) -> bytes | None:
        """Have the next generation published, and the part removed that only the one before needed."""
        if name == part and (content := read(self, name)):
            other = replace(newest.database[0], name=part.replace("/parts/", "/parts/9"))
            self.replace(other.name, content)
            self.delete(part)
            database = (other, *newest.database[1:])
            chain.add(replace(newest, generation=newest.generation + 1, database=database))
        return read(self, name)

    monkeypatch.setattr(ObjectStore, "read", moves_on)
    pulled = download_run(store, chain.place, tmp_path / "pulled")
    assert pulled.generation == newest.generation + 1


def test_one_whose_lease_is_lost_does_not_take_missing_parts_for_damage(
    server: SiteServer, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(server, store, 20)

    def taken_over(*_: object) -> None:
        Leases(store, "another", 60.0, lambda: 1e12).take(lease_name(site.urls[0]), order.place)
        raise DamagedObjectError(part_of(store, server), "is missing or damaged")

    site = sites_of([server.sites[0].start_url])[0]
    order = SliceOrder(store=store.url, site=site, settings=files_harvest(server, Path()).settings)
    monkeypatch.setattr("coati.fleet.slices.download_for_crawl", taken_over)
    assert run_slice(order).end is SliceEnd.LOST
