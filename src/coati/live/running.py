"""The entry points: run a plan, or many at once, on Scrapy.

Each crawl has an engine of its own, and all engines of a process share one asyncio loop. So a slow site holds
up none of the others, and a hundred polite crawls fit on one core.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from scrapy.crawler import Crawler
from scrapy.utils.reactor import is_reactor_installed

from coati.errors import UsageError
from coati.live.drive import Drive
from coati.live.engine_settings import engine_settings
from coati.live.event_loop import CrawlLoop
from coati.live.plan import CrawlPlan, CrawlResult
from coati.live.spider import LiveSpider
from coati.machine_errors import leave_closed_terminal
from coati.stop_reasons import StopReason

# A process that is told to end is killed soon, by whoever told it. What is in flight then is given back.
_TERM_SECONDS = 5.0

# What a crawl that must end at once may still take to close its connections.
_ABORT_SECONDS = 1.0

# Crawls that begin together take turns within the delay between two requests, or within this if it is less.
_SPREAD_SECONDS = 1.0

# Without any handler Python prints warnings of libraries to stderr, amid our progress. What matters of them
# reaches the user as an outcome, an event or an error.
logging.getLogger("scrapy").addHandler(logging.NullHandler())


def crawl(plan: CrawlPlan) -> CrawlResult:
    """Run one crawl to its end.

    The first Ctrl-C finishes what is in flight and saves, the second stops at once (for a look at a site the
    first does). SIGTERM and SIGHUP wait for what is in flight a few seconds. Raises what our own code or the
    disk raised; a site that fails is a result.
    """
    return crawl_many([plan])[0]


def crawl_many(plans: Sequence[CrawlPlan]) -> list[CrawlResult]:
    """Run crawls side by side in one process; signals are for all of them."""
    if is_reactor_installed():
        raise UsageError("a Twisted reactor runs this process: await crawl_async on its loop instead")
    with asyncio.Runner(loop_factory=CrawlLoop) as runner:
        return runner.run(_run(plans))


async def crawl_async(plan: CrawlPlan) -> CrawlResult:
    """Run one crawl on the running loop; signals are the caller's business."""
    return await _drive(Drive(plan))


async def _run(plans: Sequence[CrawlPlan]) -> list[CrawlResult]:
    drives = [Drive(plan) for plan in plans]
    with _stopped_by_signals(drives):
        turns = turns_of([plan.settings.delay_seconds for plan in plans])
        tasks = [asyncio.create_task(_drive(drive, turn)) for drive, turn in zip(drives, turns, strict=True)]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            # One failed for a reason of ours: the others save what they have.
            for drive, task in zip(drives, tasks, strict=True):
                if not task.done():
                    drive.stop(StopReason.INTERRUPTED)
            await asyncio.wait(tasks)
            raise


def turns_of(delays: Sequence[float]) -> list[float]:
    """Say after how many seconds each of several crawls begins, given the delay between its requests.

    All at once, they would send their requests in bursts ever after, and wait for each other's answers.

    >>> turns_of([1.0, 1.0, 0.0, 60.0])
    [0.0, 0.25, 0.0, 0.75]
    """
    return [min(delay, _SPREAD_SECONDS) * place / len(delays) for place, delay in enumerate(delays)]


async def _drive(drive: Drive, after_seconds: float = 0.0) -> CrawlResult:
    await asyncio.sleep(after_seconds)
    if drive.plan.stop is not None:
        loop = asyncio.get_running_loop()
        drive.plan.stop.attach(lambda: _stop_from_outside(loop, drive))
    crawler = Crawler(LiveSpider, engine_settings(drive.plan))
    engine = asyncio.ensure_future(crawler.crawl_async(drive=drive))
    aborted = asyncio.Event()
    drive.on_abort(aborted.set)
    abort = asyncio.ensure_future(aborted.wait())
    try:
        await asyncio.wait({engine, abort}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({engine}, timeout=_ABORT_SECONDS if drive.aborted else None)
    finally:
        abort.cancel()
    if engine.done():
        engine.result()
    else:
        engine.cancel()
    return drive.close()


def _stop_from_outside(loop: asyncio.AbstractEventLoop, drive: Drive) -> None:
    # A crawl that has ended has no loop left to hear it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(drive.stop, StopReason.INTERRUPTED)


@contextmanager
def _stopped_by_signals(drives: Sequence[Drive]) -> Iterator[None]:
    """Let a first signal end crawls well and a second one at once; only a main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []

    def interrupt() -> None:
        for drive in drives:
            if drive.stop_reason is StopReason.INTERRUPTED or not drive.plan.finishes:
                drive.abort()
            else:
                drive.stop(StopReason.INTERRUPTED)

    def terminate() -> None:
        interrupt()
        timers.extend(loop.call_later(_TERM_SECONDS, drive.abandon) for drive in drives)

    def hang_up() -> None:
        leave_closed_terminal()
        terminate()

    handlers = {signal.SIGINT: interrupt, signal.SIGTERM: terminate, signal.SIGHUP: hang_up}
    # Started by `nohup`, it is meant to continue.
    kinds = [kind for kind in handlers if signal.getsignal(kind) is not signal.SIG_IGN]
    before = [signal.getsignal(kind) for kind in kinds]
    for kind in kinds:
        loop.add_signal_handler(kind, handlers[kind])
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for kind, handler in zip(kinds, before, strict=True):
            loop.remove_signal_handler(kind)
            signal.signal(kind, handler)
