"""A server's time is told from our own, whatever the speed of the machine: the clock is the tests'."""

import asyncio
import selectors
import socket
from collections.abc import Callable

import pytest

from coati.live import event_loop
from coati.live.event_loop import (
    NO_STALLS,
    STALL_SECONDS,
    CrawlLoop,
    Stalls,
    count_stalls_from_here,
    seconds_of_server,
    stalls_of_loop,
)


class Clock:
    """A clock that moves only where a test moves it, and while a selector waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    wait = selectors.DefaultSelector.select

    def select(
        self: selectors.DefaultSelector, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        found = wait(self, 0)
        if found or timeout == 0:
            return found
        # Nothing is there: whatever ends the wait, a hundred seconds have passed.
        clock.now += 100.0
        return wait(self, timeout)

    monkeypatch.setattr(event_loop, "time", clock)
    monkeypatch.setattr(selectors.DefaultSelector, "select", select)
    return clock


def ask(clock: Clock, *, work: float, server: Callable[[socket.socket], None]) -> float:
    """Ask a server, work for so long before and after the answer is awaited; gives the server's time."""

    async def asking() -> float:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours, theirs:
            started = clock.now
            server(theirs)
            loop = asyncio.get_running_loop()
            loop.call_soon(worked, work)
            await loop.sock_recv(ours, 10)
            clock.now += work
            return seconds_of_server(started)

    def worked(seconds: float) -> None:
        clock.now += seconds

    with asyncio.Runner(loop_factory=CrawlLoop) as runner:
        return runner.run(asking())


def later(theirs: socket.socket) -> None:
    asyncio.get_running_loop().call_later(0.01, theirs.send, b"answer")


def at_once(theirs: socket.socket) -> None:
    theirs.send(b"answer")


def test_what_we_did_meanwhile_is_not_the_servers_time(clock: Clock) -> None:
    assert ask(clock, work=5.0, server=at_once) <= 5.0
    assert ask(clock, work=0.0, server=at_once) == 0.0


def test_what_the_loop_waited_for_is_the_servers_time(clock: Clock) -> None:
    assert ask(clock, work=0.0, server=later) == 100.0
    assert 100.0 <= ask(clock, work=5.0, server=later) <= 110.0


def test_on_another_loop_all_the_time_counts(clock: Clock) -> None:
    async def read() -> float:
        clock.now += 2.0
        return seconds_of_server(0.0)

    assert asyncio.run(read()) == 2.0


def test_turns_that_take_too_long_are_counted(clock: Clock) -> None:
    async def turns(seconds: float) -> Stalls:
        for _ in range(3):
            clock.now += seconds
            await asyncio.sleep(0)
        return stalls_of_loop()

    with asyncio.Runner(loop_factory=CrawlLoop) as runner:
        assert runner.run(turns(0.9 * STALL_SECONDS)) == NO_STALLS
    with asyncio.Runner(loop_factory=CrawlLoop) as runner:
        assert runner.run(turns(1.1 * STALL_SECONDS)).times == 3
    with asyncio.Runner() as runner:
        assert runner.run(turns(1.1 * STALL_SECONDS)) == NO_STALLS


def test_what_was_before_the_crawl_is_not_counted(clock: Clock) -> None:
    async def turns() -> tuple[Stalls, Stalls]:
        clock.now += 5.0
        await asyncio.sleep(0)
        before = stalls_of_loop()
        clock.now += 5.0
        count_stalls_from_here()
        clock.now += 2.0
        await asyncio.sleep(0)
        return before, stalls_of_loop()

    with asyncio.Runner(loop_factory=CrawlLoop) as runner:
        assert runner.run(turns()) == (Stalls(1, 5.0), Stalls(1, 2.0))
