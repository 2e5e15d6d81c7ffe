"""Harvest into a store and watch what it holds, as functions: what ``--store`` does.

A store is given by its address: a folder, or a URL such as ``s3://bucket/name``. A cluster is given by its
address too: ``local:2`` for two processes on this machine, or that of a Dask scheduler; without one,
everything runs in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from coati.errors import UsageError
from coati.fleet.client import harvest_fleet
from coati.fleet.cluster import Cluster, OwnProcess
from coati.fleet.events import OnFleetEvent, events_appended
from coati.fleet.fleet_watch import FleetCycle, FleetWatch, watch_fleet_once
from coati.fleet.harvest import FleetHarvest, FleetHarvested, Listeners
from coati.fleet.objects import ObjectStore, open_store
from coati.fleet.status import write_fleet_report
from coati.harvesting.files_harvest import FilesHarvest
from coati.harvesting.folder import SiteSummary, sums_of
from coati.harvesting.harvest_place import HarvestChoices, HarvestSource, find_harvest
from coati.jobs.arguments import PathText, Seconds, checked_arguments, path_of, seconds_of, text_of
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.jobs.notebook import is_shown
from coati.jobs.notebook_tables import rows_table
from coati.jobs.options import CrawlOptions, plain_values
from coati.jobs.progress_bar import both
from coati.live.progress import Progress
from coati.settings.run_file import read_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.units import format_count
from coati.watching.watch_options import CycleOptions, WatchOptions, with_options

# Slices in this process at once, unless the user says otherwise.
_IN_PROCESS = 16


@dataclass(frozen=True, slots=True, repr=False)
class StoreHarvest:
    """What `coati.harvest_into_store` returns: how it ended, and all sites of the store, the best first."""

    harvested: FleetHarvested
    sites: list[SiteSummary]
    report: str

    def __repr__(self) -> str:
        """Show on one line what the store holds and why it ended; the fields are many."""
        targets = format_count(sum(site.targets for site in self.sites), "target")
        sites = format_count(len(self.sites), "site")
        return f"<StoreHarvest {self.harvested.store!r}: {targets} from {sites}; {self.stop.text.brief}>"

    @property
    def stop(self) -> StopReason:
        """Why it ended."""
        return self.harvested.stop

    @property
    def exit_code(self) -> int:
        """The exit status of a command that made this harvest."""
        return self.stop.exit_code

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it, all sites together."""
        harvested = self.harvested
        return {
            "stop": self.stop.name.lower(),
            "stop_reason": self.stop.value,
            **sums_of(self.sites),
            "slices": harvested.slices,
            "deaths": harvested.deaths,
            "quarantined": [site.site for site in harvested.sites if site.quarantined],
            "damaged": {site.site: site.damage for site in harvested.sites if site.damage},
            "resumed": harvested.resumed,
            "store": harvested.store,
        }

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {"site": site.site, "targets": site.targets, "requests": site.requests} for site in self.sites
        ]
        return rows_table(f"Sites in {self.harvested.store}", rows)


@checked_arguments
def harvest_into_store(  # noqa: PLR0913 - one argument per option of the command
    source: PathText | Iterable[str] | None = None,
    *,
    store: str | Path,
    cluster: str | None = None,
    discovery: PathText | None = None,
    sites_at_once: int | None = None,
    fair: bool = False,
    exclude_hosts: str | Path | Iterable[str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_event: OnFleetEvent | None = None,
    show_progress: bool | None = None,
    **options: Unpack[CrawlOptions],
) -> StoreHarvest:
    """Share one budget among many sites on many machines, and write everything to a store.

    ``source`` and the other arguments are those of `coati.harvest`; ``cluster`` says where to run, and
    ``events`` is a file to which events are appended. What the store holds of the same harvest is resumed.
    `coati.pull` makes a run folder of one of its sites.
    """
    events = path_of("events", options.pop("events")) if options.get("events") else None
    values = read_values(plain_values(options, CrawlOptions.__annotations__))
    if values.get("goal"):
        raise UsageError("a store takes files only: pages that meet a goal are collected by one machine")
    plan, _ = find_harvest(
        HarvestSource.named(source, discovery),
        # A harvest needs a folder; here everything goes into the store.
        {**values, "out": text_of("store", store)},
        HarvestChoices.named(sites_at_once, exclude_hosts, fair=fair, extract=False),
    )
    if not isinstance(plan, FilesHarvest):
        raise UsageError("say which files are wanted: types='data', for example")
    files = replace(plan, settings=replace(plan.settings, out=RunSettings().out))
    harvest = FleetHarvest(files=files, store=text_of("store", store))
    check_store(harvest.store, cluster)
    with (
        events_appended(events) as write,
        progress_shown(CrawlView(files.settings.budget), quiet=not is_shown(show_progress)) as show,
    ):
        listeners = Listeners(both(show, on_progress), both(write, on_event))
        return run_in_store(harvest, cluster, listeners)


def check_store(url: str, cluster: str | None) -> ObjectStore:
    """Open a store and check that it can be written, as far as that leaves no trace of a missing cluster."""
    store = open_store(url)
    if cluster is None:
        store.check()
        return store
    if store.is_of_one_process:
        raise UsageError("a cluster cannot use a store in memory: leave it out, or use another store")
    # Dask takes a second to import, and most harvests do without it.
    from coati.fleet.dask_cluster import starts_here

    if starts_here(cluster):
        store.check()
    return store


def run_in_store(harvest: FleetHarvest, cluster: str | None, listeners: Listeners) -> StoreHarvest:
    """Harvest into a store, and write the report over all its sites."""
    with cluster_at(cluster, harvest.files.at_once) as workers:
        harvested = harvest_fleet(harvest, workers, listeners)
    store = open_store(harvest.store)
    sites = write_fleet_report(store, harvested.sites, harvested.stop.value)
    return StoreHarvest(harvested, sites, store.address("report.html"))


@checked_arguments
def watch_store(
    store: str | Path,
    *,
    cluster: str | None = None,
    delay: Seconds | None = None,
    on_event: OnFleetEvent | None = None,
    **options: Unpack[CycleOptions],
) -> FleetCycle:
    """Run one cycle over all sites of a store that were crawled, and return what is new, by site.

    The first cycle of a site only looks. The options are those of `coati.watch`.
    """
    seconds = None if delay is None else seconds_of("delay", delay)
    watch = FleetWatch(
        store=text_of("store", store),
        options=with_options(WatchOptions(), plain_values(options, CycleOptions.__annotations__)),
        delay=seconds,
    )
    with cluster_at(cluster) as workers:
        return watch_fleet_once(watch, workers, Listeners(on_event=on_event))


@contextmanager
def cluster_at(address: str | None, at_once: int | None = None) -> Iterator[Cluster]:
    """Find the workers that are meant, and let go of them at the end."""
    workers: Cluster
    if address is None:
        workers = OwnProcess(at_once or _IN_PROCESS)
    else:
        from coati.fleet.dask_cluster import DaskCluster

        workers = DaskCluster(address, at_once)
    try:
        yield workers
    finally:
        workers.close()
