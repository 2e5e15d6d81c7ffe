"""When requests leave, by the clock that paces them, and an engine that is woken or waits for ever."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from scrapy import Request
from scrapy.core.engine import ExecutionEngine

from coati.live.pace import PaceMiddleware


class Departures:
    """The moment at which each request of a test left its crawl.

    It is taken from the crawl's own clock just before the pace takes it, so that the time between two
    departures is never shorter than the delay, however busy the machine is. A server notices a request late.
    """

    def __init__(self) -> None:
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        # Requests that have left stay alive here, so that no later one has the identity of another.
        self._requests: list[Request] = []

    def note(self, request: Request, now: float) -> None:
        if id(request) not in self._first:
            self._requests.append(request)
            self._first[id(request)] = now
        self._last[id(request)] = now

    @property
    def urls(self) -> list[str]:
        return [request.url for request in self._requests]

    def gaps(self, chosen: Callable[[str], bool] = lambda _: True) -> list[float]:
        """Return the seconds between successive requests, of those whose URL is chosen."""
        numbers = [id(request) for request in self._requests if chosen(request.url)]
        # The clock of a run has milliseconds.
        return [round(self._first[after] - self._last[before], 3) for before, after in pairwise(numbers)]


@pytest.fixture
def departures(monkeypatch: pytest.MonkeyPatch) -> Departures:
    noted = Departures()
    leaves = PaceMiddleware.leaves

    def note(middleware: PaceMiddleware, request: Request) -> None:
        noted.note(request, middleware._now())  # noqa: SLF001 - it reads the clock that paces
        leaves(middleware, request)

    monkeypatch.setattr(PaceMiddleware, "leaves", note)
    return noted


@pytest.fixture
def no_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine look for work only when somebody wakes it."""
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 3600.0)
