"""``coati fleet``: monitor the fleet of a store."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from coati.cli.output_format import format_option
from coati.cli.terminal import print_tables, say, say_json
from coati.fleet.status import FleetStatus, SiteStatus, StatusChange
from coati.fleet.store_access import describe_store, free_site, store_log
from coati.harvesting.folder import sums_of
from coati.units import format_bytes, format_count, format_seconds, parse_seconds
from coati.web.invisible_characters import safe

_SHOWN = 20


@click.group()
def fleet() -> None:
    """Monitor a harvest on many machines.

    STORE is a folder or an address such as s3://bucket/name.
    """


@fleet.command()
@click.argument("store")
@click.option("--follow", is_flag=True, help="Repeat until Ctrl-C, with what changed.")
@click.option("--every", default="10s", show_default=True, help="With --follow: how often.")
@format_option
def status(store: str, follow: bool, every: str, form: str) -> None:
    """Show what runs where, what it found, and what failed."""
    seconds = parse_seconds(every)
    show = _say_json if form == "json" else _print
    before = describe_store(store)
    show(before, None)
    while follow:
        threading.Event().wait(seconds)
        now = describe_store(store)
        if form != "json":
            click.clear()
        show(now, now.since(before))
        before = now


def _say_json(found: FleetStatus, since: StatusChange | None) -> None:
    for site in found.sites:
        say_json({"what": "site", **site.as_json()})
    say_json({"what": "total", **found.as_json(), **({} if since is None else since._asdict())})


@fleet.command()
@click.argument("store")
@click.argument("site")
@click.option("--last", type=click.IntRange(min=1), default=100, show_default=True, help="How many requests.")
@format_option
def log(store: str, site: str, last: int, form: str) -> None:
    """Print the last requests to a site, from the store."""
    for row in store_log(store, site, last):
        if form == "json":
            say_json(row)
        else:
            status_or_kind = row["status"] or row["kind"]
            say(f"{row['finished_at']}  {row['method']:4} {status_or_kind}  {row['kind']:8} {row['url']}")


@fleet.command(short_help="Release a site from quarantine.")
@click.argument("store")
@click.argument("site")
def free(store: str, site: str) -> None:
    """Release a site from quarantine, where it was put because workers died while crawling it."""
    was = free_site(store, site)
    say(f"{site} will be crawled again by the next harvest." if was else f"{site} was not in quarantine.")


def _print(found: FleetStatus, since: StatusChange | None) -> None:
    sums = sums_of([site.summary for site in found.sites])
    done = sum(site.done for site in found.sites)
    say(f"{found.store}")
    say(f"  sites:      {sums['sites']:,}, {done:,} of them done")
    say(f"  requests:   {sums['requests']:,} ({format_bytes(sums['bytes'])}), {sums['failures']:,} failures")
    say(f"  targets:    {sums['targets']:,} ({format_bytes(sums['target_bytes'])})")
    if since is not None:
        rates = f"{since.requests_per_second:.1f} requests/s, {since.targets_per_second:.2f} targets/s"
        published = f"{since.sites_published:,} sites published in {format_seconds(since.seconds)}"
        say(f"  now:        {rates}, {published}")
    client = "none is running" if found.client is None else found.client.owner
    say(f"  client:     {client}")
    workers = {lease.owner for lease in found.leases}
    say(f"  leases:     {len(found.leases):,}, held by {format_count(len(workers), 'worker')}")
    for site in found.sites:
        if site.quarantined:
            say(
                f"  quarantine: {site.summary.site}: {format_count(site.deaths, 'worker')} died at it"
                f" (coati fleet free {found.store} {site.summary.site})"
            )
    for damage in found.damaged:
        say(f"  damaged:    {damage}")
    _print_sites("Sites, the richest first", found.sites[:_SHOWN])
    troubled = [site for site in found.sites if site.summary.failures or not site.summary.targets]
    troubled.sort(key=lambda site: (-site.summary.failures, -site.summary.requests))
    if len(found.sites) > _SHOWN and troubled:
        _print_sites("Sites with the most failures, or without a file", troubled[:_SHOWN])


def _print_sites(title: str, sites: Sequence[SiteStatus]) -> None:
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for name in ("site", "files", "requests", "failures", "published", "worker", "state"):
        table.add_column(name, justify="right" if name in {"files", "requests", "failures"} else "left")
    now = time.time()
    for site in sites:
        summary = site.summary
        table.add_row(
            Text(safe(summary.site)),
            f"{summary.targets:,}",
            f"{summary.requests:,}",
            f"{summary.failures:,}",
            f"{format_seconds(max(0.0, now - site.published_at))} ago",
            Text(safe(site.worker or "")),
            site.state,
        )
    print_tables(table)
