import asyncio
import selectors

import pytest

from coati.live import idle_time
from coati.live.idle_time import IdleTimedLoop, idle_seconds


class Clock:
    """A clock that moves only where a test moves it, and while a selector waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    waits = selectors.DefaultSelector.select

    def select(
        self: selectors.DefaultSelector, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        clock.now += timeout or 0.0
        return waits(self, timeout)

    monkeypatch.setattr(idle_time, "time", clock)
    monkeypatch.setattr(selectors.DefaultSelector, "select", select)
    return clock


def test_the_clock_goes_on_while_nothing_is_to_do_and_stands_while_there_is(clock: Clock) -> None:
    async def work_and_wait() -> tuple[float, float, float]:
        begun = idle_seconds()
        clock.now += 5.0
        await asyncio.sleep(0)
        worked = idle_seconds()
        await asyncio.sleep(0.01)
        return begun, worked, idle_seconds()

    with asyncio.Runner(loop_factory=IdleTimedLoop) as runner:
        begun, worked, waited = runner.run(work_and_wait())
    assert worked == begun
    assert 0.0 < waited - worked < 1.0


def test_on_another_loop_it_is_the_time_without_computing(clock: Clock) -> None:
    async def read() -> float:
        before = idle_seconds()
        clock.now += 2.0
        return idle_seconds() - before

    assert asyncio.run(read()) == 2.0
