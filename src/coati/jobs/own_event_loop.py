"""Run a crawl where an event loop is already running, as in a notebook: in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from coati.live.stop_signal import StopSignal

T = TypeVar("T")


def run_with_own_loop(work: Callable[[], T], stop: StopSignal) -> T:
    """Do work that needs an event loop of its own, and return what it returns.

    Where a loop runs in this thread, the work gets another thread. A first interrupt then sets ``stop``, and
    the work ends well; signals reach no other thread than the main one.
    """
    if not _runs_in_loop():
        return work()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="coati") as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            if stop.is_set:
                raise
            stop.set()
            return future.result()


def _runs_in_loop() -> bool:
    # Apart: what the work raises is not to be shown as raised while this was handled.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
