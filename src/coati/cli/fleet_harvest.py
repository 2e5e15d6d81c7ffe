"""``coati harvest --store``: one budget over many sites, on many machines."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from coati.cli.harvest_result import print_sites
from coati.cli.terminal import say
from coati.errors import UsageError
from coati.harvesting.folder import sums_of
from coati.jobs.live_progress import CrawlView, shown
from coati.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from coati.fleet.client import FleetHarvested
    from coati.fleet.cluster import Cluster
    from coati.fleet.events import FleetEvent
    from coati.fleet.leases import Lease
    from coati.harvesting.files import FilesHarvest
    from coati.harvesting.folder import SiteSummary

# Slices in this process at once, unless the user says otherwise.
_IN_PROCESS = 16


def harvest_with_fleet(
    files: FilesHarvest, store_url: str, cluster_address: str | None, events: Path | None
) -> int:
    """Harvest into a store, and say how it went; returns the exit code."""
    # Dask takes a second to import, and most harvests do without it.
    from coati.fleet.client import FleetHarvest, Listeners, harvest_fleet
    from coati.fleet.objects import open_store
    from coati.fleet.status import write_fleet_report

    settings = files.settings
    plan = FleetHarvest(files=files, store=store_url)
    store = open_store(store_url)
    if store.is_of_one_process and cluster_address:
        raise UsageError("--cluster cannot use a store in memory: leave it out, or use another store")
    store.check()
    if not settings.quiet:
        sites = format_count(len(files.sites()), "site")
        where = cluster_address or "this process"
        say(f"Harvesting {settings.types} from {sites} into {store.url}, by {where}.", err=True)
    view = CrawlView(settings.budget)
    with ExitStack() as stack:
        cluster = stack.enter_context(cluster_at(cluster_address, files.at_once))
        on_event = stack.enter_context(_events_to(events, quiet=settings.quiet))
        on_progress = stack.enter_context(shown(view, quiet=settings.quiet))
        listeners = Listeners(on_progress, on_event, _say_wait)
        harvested = harvest_fleet(plan, cluster, listeners)
    sites_found = write_fleet_report(store, harvested.sites, harvested.stop.value)
    _show(harvested, sites_found, store.address("report.html"), settings.format)
    return harvested.stop.exit_code


@contextmanager
def cluster_at(address: str | None, at_once: int | None) -> Iterator[Cluster]:
    """Find the workers that are meant, and let go of them at the end."""
    cluster: Cluster
    if address is None:
        from coati.fleet.cluster import OwnProcess

        cluster = OwnProcess(at_once or _IN_PROCESS)
    else:
        from coati.fleet.dask_cluster import DaskCluster

        cluster = DaskCluster(address, at_once)
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def _events_to(file: Path | None, *, quiet: bool) -> Iterator[Callable[[FleetEvent], None]]:
    """Write each event to a file, and what people should know to stderr."""
    with ExitStack() as stack:
        out = None if file is None else stack.enter_context(file.open("a", encoding="utf-8"))

        def tell(event: FleetEvent) -> None:
            if out is not None:
                out.write(event.line() + "\n")
                out.flush()
            if not quiet and (words := _words(event)):
                say(words, err=True)

        yield tell


def _words(event: FleetEvent) -> str:
    data = event.data
    match event.what.value:
        case "died":
            return f"A worker died at {data['site']}: {data['error']}"
        case "failed":
            return f"Failed: {data.get('site', 'the client')}: {data['error']}"
        case "quarantined":
            return f"{data['site']} is in quarantine: {data['deaths']} workers died while crawling it."
        case "left_out":
            return f"Worker {data['worker']} gets no more slices: {data['why']}."
    return ""


def _say_wait(lease: Lease) -> None:
    say(f"The store is locked by {lease.owner}: waiting to see whether it is still running.", err=True)


def _show(harvested: FleetHarvested, sites: list[SiteSummary], report: str, form: str) -> None:
    sums = sums_of(sites)
    left_alone = [site.site for site in harvested.sites if site.quarantined]
    if form == "json":
        for site in sites:
            say(json.dumps({"kind": "site", **asdict(site)}))
        why = {"kind": "total", "stop": harvested.stop.name.lower(), "stop_reason": harvested.stop.value}
        more = {"slices": harvested.slices, "deaths": harvested.deaths, "quarantined": left_alone}
        said = {**why, **sums, **more, "resumed": harvested.resumed, "store": harvested.store}
        say(json.dumps(said))
        return
    say(f"Stopped: {harvested.stop.words.brief}.")
    say(f"  requests:   {sums['requests']:,} ({format_bytes(sums['bytes'])}) to {sums['sites']:,} sites")
    say(f"  targets:    {sums['targets']:,} ({format_bytes(sums['target_bytes'])})")
    say(f"  slices:     {harvested.slices:,}, in which {format_count(harvested.deaths, 'worker')} died")
    longest = max((site.seconds for site in sites), default=0.0)
    say(f"  time:       {format_seconds(longest)} at most spent on one site")
    say(f"  report:     {report}")
    rows = [(site.site, site.targets, site.requests, site.stop_reason or "not ended") for site in sites]
    print_sites(rows, "site", "sites.csv")
    if harvested.stop.resumable:
        say("Next: to continue, run the same command with a larger budget.", err=True)
