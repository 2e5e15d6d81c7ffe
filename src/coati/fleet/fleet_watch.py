"""Watch all sites of a store: cycles as slices, each site once per cycle."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from coati.bandits.slice_choice import ChosenSlice, SiteCounts, SliceSizes
from coati.errors import ConfigError
from coati.fleet.client import FleetClient
from coati.fleet.client_lease import release_lease, take_client_lease
from coati.fleet.cluster import Cluster
from coati.fleet.events import FleetEvent, FleetEventKind
from coati.fleet.generations import Chain
from coati.fleet.harvest import FleetHarvest, Listeners, stored_settings
from coati.fleet.leases import HeldLease
from coati.fleet.objects import DamagedObjectError, ObjectStore, open_store
from coati.fleet.orders import SliceOrder, SliceResult, SliceTimes
from coati.harvesting.files_harvest import FilesHarvest
from coati.harvesting.sites import HarvestSite
from coati.jobs.notebook_tables import rows_table
from coati.live.site_turns import Usage
from coati.runs.changes_file import Change
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.watching.cycle import CycleResult
from coati.watching.watch import next_cycle
from coati.watching.watch_options import WatchOptions
from coati.web.rules import Scope

# A cycle is as long as its pages; this is how long it may take.
_CYCLE_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetWatch:
    """The store whose sites are watched, and how; ``delay`` is that of the harvest unless given."""

    store: str
    options: WatchOptions = field(default_factory=WatchOptions)
    delay: float | None = None
    times: SliceTimes = field(default_factory=SliceTimes)


@dataclass(frozen=True, slots=True)
class FleetCycle:
    """What one cycle brought, by site; those that could not be watched this time are missing.

    ``damaged`` says of sites that are damaged in the store what is wrong with them.
    """

    stop: StopReason
    sites: int
    results: dict[str, CycleResult]
    damaged: dict[str, str] = field(default_factory=dict)

    @property
    def changes(self) -> list[tuple[str, Change]]:
        """What is new, changed or gone, each with the name of its site."""
        return [(site, change) for site, result in self.results.items() for change in result.changes]

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {"site": site, "change": each.what, "url": each.url, "title": each.title, "seen": each.seen_at}
            for site, each in self.changes
        ]
        return rows_table(f"Changes on {len(self.results):,} of {self.sites:,} sites", rows)


def watch_fleet_once(watch: FleetWatch, cluster: Cluster, listeners: Listeners | None = None) -> FleetCycle:
    """Run one cycle of every site that the store holds a crawl of.

    The first cycle of a site only looks. Raises `ConfigError` where nothing can be watched, and where another
    client has the store.
    """
    store = open_store(watch.store)
    listeners = listeners or Listeners()
    damaged: dict[str, str] = {}
    sites = watched_sites(store, damaged)
    if not sites and not damaged:
        raise ConfigError(f"{watch.store} holds no crawl to watch: harvest into it first")
    store.check()
    for site, error in damaged.items():
        if listeners.on_event is not None:
            data = {"site": site, "error": error}
            listeners.on_event(FleetEvent(time.time(), FleetEventKind.DAMAGED, data))
    lease = take_client_lease(store, "watch", watch.times.term, listeners.on_wait)
    try:
        client = _CycleClient(watch, cluster, listeners, lease, sites)
        harvested = client.run(resumed=True)
        watched = {site.name for site in sites}
        damaged |= {site.site: site.damage for site in harvested.sites if site.damage}
        return FleetCycle(harvested.stop, len(watched | set(damaged)), client.results, damaged)
    finally:
        release_lease(lease)


def watch_fleet(
    watch: FleetWatch,
    cluster: Cluster,
    clock: Callable[[], float],
    wait_until: Callable[[float], bool],
    on_cycle: Callable[[FleetCycle], None],
    listeners: Listeners | None = None,
) -> FleetCycle:
    """Run one cycle after the other, until somebody interrupts; cycles that were missed are skipped.

    ``wait_until`` waits until a time, and says whether to continue.
    """
    while True:
        cycle = watch_fleet_once(watch, cluster, listeners)
        on_cycle(cycle)
        every = watch.options.every
        if cycle.stop is StopReason.INTERRUPTED or not wait_until(next_cycle(every, clock())):
            return cycle


def watched_sites(store: ObjectStore, damaged: dict[str, str] | None = None) -> list[HarvestSite]:
    """Return the sites of a store that brought a page or a file; what is damaged is told in ``damaged``."""
    found = []
    for name in store.names("sites"):
        try:
            newest = Chain(store, f"sites/{name}").newest()
        except DamagedObjectError as error:
            if damaged is None:
                raise
            damaged[name] = str(error)
            continue
        if newest is not None and newest.database and (newest.state.pages or newest.state.targets):
            found.append(HarvestSite(name, (newest.state.start_url,), Scope.DOMAIN))
    return found


class _CycleClient(FleetClient):
    """Sends out a cycle of each site, and takes it in."""

    def __init__(
        self,
        watch: FleetWatch,
        cluster: Cluster,
        listeners: Listeners,
        lease: HeldLease,
        sites: list[HarvestSite],
    ) -> None:
        stored = stored_settings(open_store(watch.store)).get("delay")
        delay = watch.delay if watch.delay is not None else stored
        settings = with_values(RunSettings(), {} if delay is None else {"delay": delay})
        files = FilesHarvest(urls=tuple(site.urls[0] for site in sites), out=Path(), settings=settings)
        # A cycle has limits of its own.
        sizes = SliceSizes(first_requests=1, most_requests=1, seconds=_CYCLE_SECONDS)
        plan = FleetHarvest(files=files, store=watch.store, sizes=sizes, times=watch.times)
        super().__init__(plan, cluster, listeners, lease, sites)
        self._options = watch.options
        self.results: dict[str, CycleResult] = {}

    def _read_states(self) -> None:
        """What the crawls brought does not count here."""

    def _lost_counts(self, number: int) -> SiteCounts:
        """Nor does what a cycle brought before it reports."""
        return SiteCounts()

    def _underway(self) -> Usage:
        """Nor is it known what a watch had before."""
        return Usage(0, 0, 0)

    def _order(self, chosen: ChosenSlice) -> SliceOrder:
        site = self._sites[chosen.site]
        options = replace(self._options, sources=(f"sites/{site.name}",))
        return replace(super()._order(chosen), watch=options)

    def _take_crawled(self, number: int, result: SliceResult) -> None:
        self._slices += 1
        self._session_requests += result.requests
        if result.cycle is not None:
            self.results[result.site] = result.cycle
            data = {**result.cycle.as_json(), "site": result.site, "by": result.by}
            data.pop("what")
            self._tell(FleetEventKind.ENDED, **data)
        self._choice.end(number)
