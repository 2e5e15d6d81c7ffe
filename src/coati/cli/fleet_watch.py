"""``coati watch --store``: what is new on all sites of a fleet's store."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

from coati.cli.fleet_harvest import say_event, say_wait
from coati.cli.terminal import say, say_json
from coati.units import format_count

if TYPE_CHECKING:
    from coati.fleet.fleet_watch import FleetCycle
    from coati.watching.watch_options import WatchOptions

_SHOWN = 20
_INTERRUPTED = 130


def watch_with_fleet(
    store: str, cluster: str | None, options: WatchOptions, delay: float | None, *, once: bool, form: str
) -> int:
    """Run one cycle of all sites, or one after the other; returns the exit code."""
    from coati.fleet.fleet_watch import FleetWatch, watch_fleet, watch_fleet_once
    from coati.fleet.harvest import Listeners
    from coati.fleet.store_jobs import cluster_at

    watch = FleetWatch(store=store, options=options, delay=delay)
    with cluster_at(cluster) as workers:
        listeners = Listeners(on_event=say_event, on_wait=say_wait)
        try:
            if once:
                cycle = watch_fleet_once(watch, workers, listeners)
                _show(cycle, form)
            else:
                cycle = watch_fleet(
                    watch, workers, time.time, _wait_until, lambda ended: _show(ended, form), listeners
                )
        except KeyboardInterrupt:
            say("Interrupted between two cycles; run the same command to continue.", err=True)
            return _INTERRUPTED
    return cycle.stop.exit_code


def _wait_until(at: float) -> bool:
    # The clock may jump; waiting in steps notices.
    while (left := at - time.time()) > 0:
        threading.Event().wait(min(left, 60.0))
    return True


def _show(cycle: FleetCycle, form: str) -> None:
    changes = cycle.changes
    if form == "json":
        for site, change in changes:
            say(json.dumps({"site": site, **change.as_json()}, ensure_ascii=False))
        for site, result in cycle.results.items():
            say_json({"site": site, **result.as_json()})
        return
    kinds = [change.what for _, change in changes]
    requests = sum(result.requests for result in cycle.results.values())
    sites = f"{len(cycle.results):,} of {format_count(cycle.sites, 'site')}"
    say(
        f"{kinds.count('new')} new, {kinds.count('changed')} changed, {kinds.count('gone')} gone;"
        f" {format_count(requests, 'request')} to {sites}."
    )
    for site, change in changes[:_SHOWN]:
        say(f"  {change.what:<8}{site}  {change.url}")
    if len(changes) > _SHOWN:
        say(f"  … and {len(changes) - _SHOWN:,} more; --format json prints them all")
