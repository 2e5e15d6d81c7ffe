"""Where slices run: the process of a worker, its name and its loop."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from coati.fleet.crawl_thread import CrawlThread, crawl_thread
from coati.fleet.orders import SliceOrder
from coati.fleet.site_crawl import RestingCrawls
from coati.fleet.store_retries import pause_for
from coati.live.site_turns import Usage

# What a process ends with whose slice does not end.
_STUCK: Final = 70


def worker_name() -> str:
    """Say who works here: the machine and the process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _end_process() -> None:
    os._exit(_STUCK)


def _no_report(_order: SliceOrder, _spent: Usage) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Where slices run; ``scratch`` is where runs are while they are crawled, ``clock`` is that of watches.

    ``resting`` keeps crawls open between slices; none, unless there is one.
    ``report`` is told from time to time what the run of a slice has spent in all.
    ``end_process`` is for a slice that does not end: nothing else stops code that never returns.
    """

    name: str = field(default_factory=worker_name)
    thread: Callable[[], CrawlThread] = crawl_thread
    scratch: Path | None = None
    resting: RestingCrawls = field(default_factory=lambda: RestingCrawls(0))
    pause: Callable[[float], None] = pause_for
    clock: Callable[[], float] = time.time
    report: Callable[[SliceOrder, Usage], None] = _no_report
    end_process: Callable[[], None] = _end_process
