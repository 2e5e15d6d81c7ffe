"""The end of a harvest: crawls that rest end, so that their logs say so, and their reports are written."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from coati.fleet.cluster import Cluster
from coati.fleet.leases import lease_name
from coati.fleet.orders import SliceOrder, SliceResult

_TICK_SECONDS: Final = 1.0
# How long to wait for workers when all of them are gone.
_WORKER_SECONDS: Final = 60.0


def send_once(
    cluster: Cluster,
    orders: Iterable[SliceOrder],
    on_result: Callable[[SliceResult], None],
    on_tick: Callable[[], None],
) -> None:
    """Have slices crawled, each sent once, those of one domain one after the other.

    One that does not come back, that somebody else has, or that no worker is left for, is left as it is:
    resuming its run repairs it.
    """
    groups: dict[str, deque[SliceOrder]] = {}
    for order in orders:
        groups.setdefault(lease_name(order.site.urls[0]), deque()).append(order)
    waiting = deque(groups.values())
    out: dict[str, tuple[float, deque[SliceOrder]]] = {}
    gives_up_at = time.monotonic() + _WORKER_SECONDS
    while waiting or out:
        now = time.monotonic()
        while waiting and len(out) < cluster.places():
            group = waiting.popleft()
            order = group.popleft()
            cluster.send(order)
            until = now + order.seconds + order.times.grace + order.times.patience
            out[order.site.name] = until, group
        if out:
            gives_up_at = now + _WORKER_SECONDS
        elif now >= gives_up_at:
            return
        finished = cluster.wait(_TICK_SECONDS)
        if finished is not None and finished.result is not None:
            on_result(finished.result)
        back = [name for name, (until, _) in out.items() if now > until]
        for name in (*back, *(() if finished is None else (finished.site,))):
            _, group = out.pop(name, (0.0, deque()))
            if group:
                waiting.append(group)
        on_tick()
