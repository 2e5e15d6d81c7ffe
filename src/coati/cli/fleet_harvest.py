"""``coati harvest --store``: one budget over many sites, on many machines."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from coati.cli.harvest_result import SiteColumns, print_sites, say_next
from coati.cli.terminal import say, say_json
from coati.harvesting.folder import sums_of
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.jobs.progress_bar import both
from coati.stop_reasons import StopReason
from coati.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from pathlib import Path

    from coati.fleet.events import FleetEvent
    from coati.fleet.leases import Lease
    from coati.fleet.store_jobs import StoreHarvest
    from coati.harvesting.files_harvest import FilesHarvest


def harvest_with_fleet(
    files: FilesHarvest, store_url: str, cluster_address: str | None, events: Path | None
) -> int:
    """Harvest into a store, and say how it went; returns the exit code."""
    # What a fleet needs takes a moment to import, and most harvests do without it.
    from coati.fleet.events import events_appended
    from coati.fleet.harvest import FleetHarvest, Listeners
    from coati.fleet.store_jobs import check_store, run_in_store

    settings = files.settings
    harvest = FleetHarvest(files=files, store=store_url)
    store = check_store(store_url, cluster_address)
    if not settings.quiet:
        sites = format_count(len(files.sites()), "site")
        where = cluster_address or "this process"
        say(f"Harvesting {settings.types} from {sites} into {store.url}, by {where}.", err=True)
    view = CrawlView(settings.budget)
    with events_appended(events) as write, progress_shown(view, quiet=settings.quiet) as on_progress:
        on_event = both(write, None if settings.quiet else say_event)
        done = run_in_store(harvest, cluster_address, Listeners(on_progress, on_event, say_wait))
    show_harvest(done, settings.format)
    return done.exit_code


def say_event(event: FleetEvent) -> None:
    """Report an event on stderr, if people should know of it."""
    if words := _words(event):
        say(words, err=True)


def _words(event: FleetEvent) -> str:
    data = event.data
    words = ""
    match event.what.value:
        case "died":
            words = f"A worker died at {data['site']}: {data['error']}"
        case "failed":
            words = f"Failed: {data.get('site', 'the client')}: {data['error']}"
        case "quarantined":
            words = f"{data['site']} is in quarantine: {data['deaths']} workers died while crawling it."
        case "damaged":
            words = f"{data['site']} is left out: {data['error']}. Then run the same command again."
        case "left_out":
            words = f"Worker {data['worker']} gets no more slices: {data['why']}."
        case "no_workers":
            words = "There is no worker: waiting for one."
        case "stopping" if data["reason"] == StopReason.INTERRUPTED.value:
            words = "Stopping: publishing what is under way. Press Ctrl-C again to stop at once."
    return words


def say_wait(lease: Lease) -> None:
    """Say for whom the client waits."""
    say(f"The store is locked by {lease.owner}: waiting to see whether it is still running.", err=True)


def show_harvest(done: StoreHarvest, form: str) -> None:
    """Print what a harvest on many machines brought: one object per site and one for all, or a table."""
    harvested, sites = done.harvested, done.sites
    sums = sums_of(sites)
    if form == "json":
        for site in sites:
            say_json({"what": "site", **asdict(site)})
        say_json({"what": "total", **done.as_json()})
        return
    say(f"Stopped: {harvested.stop.text.brief}.")
    where = format_count(sums["sites"], "site")
    say(f"  requests:   {sums['requests']:,} ({format_bytes(sums['bytes'])}) to {where}")
    say(f"  targets:    {sums['targets']:,} ({format_bytes(sums['target_bytes'])})")
    say(f"  slices:     {harvested.slices:,}, in which {format_count(harvested.deaths, 'worker')} died")
    longest = max((site.seconds for site in sites), default=0.0)
    say(f"  time:       {format_seconds(longest)} at most spent on one site")
    say(f"  report:     {done.report}")
    rows = [(site.site, site.targets, site.requests, site.stop_reason or "not ended") for site in sites]
    print_sites(rows, SiteColumns("site"), "sites.csv")
    if sums["targets"]:
        best = sites[0].site
        pull = shlex.join(["coati", "pull", harvested.store, best, "--out", best])
        say(f"Next: for a folder with the files of a site: {pull}", err=True)
    say_next(harvested.stop, "the same command")
