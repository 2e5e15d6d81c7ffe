"""When requests leave, by the clock that paces them, and times that come when a test says so."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request
from scrapy.core.engine import ExecutionEngine
from scrapy.http import Response
from scrapy.utils.asyncio import call_later

from coati.live.pace import PaceMiddleware
from coati.live.streaming import StreamingDownloadHandler


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
    note_sent = PaceMiddleware.note_sent

    def note(middleware: PaceMiddleware, request: Request) -> None:
        noted.note(request, middleware._now())  # noqa: SLF001 - it reads the clock that paces
        note_sent(middleware, request)

    monkeypatch.setattr(PaceMiddleware, "note_sent", note)
    return noted


class Deadline:
    """The end of the budget of time of a crawl that runs in this process."""

    def __init__(self) -> None:
        self._waiting: list[tuple[asyncio.AbstractEventLoop, Callable[[], object]]] = []

    def waits(self, on_deadline: Callable[[], object]) -> asyncio.Handle:
        """Take note of what is to be called; what is returned can be cancelled, as a timer can."""
        loop = asyncio.get_running_loop()
        handle = asyncio.Handle(on_deadline, [], loop)
        self._waiting.append((loop, lambda: handle.cancelled() or on_deadline()))
        return handle

    def comes(self) -> None:
        """Let the time be over, by whichever thread notices that it should be; once per crawl."""
        while self._waiting:
            loop, on_deadline = self._waiting.pop()
            loop.call_soon_threadsafe(on_deadline)


@pytest.fixture
def deadline(monkeypatch: pytest.MonkeyPatch) -> Deadline:
    """Let the budget of time end where the test says so, and not by a clock."""
    made = Deadline()

    def call(seconds: float, called: Callable[..., object], *arguments: object) -> Any:  # noqa: ANN401 - Scrapy's
        if getattr(called, "__name__", "") == "_on_deadline":
            return made.waits(called)
        return call_later(seconds, called, *arguments)

    monkeypatch.setattr("coati.live.scheduler.call_later", call)
    return made


def no_patience_with(
    monkeypatch: pytest.MonkeyPatch, is_meant: Callable[[Request], bool], seconds: float = 0.5
) -> None:
    """Give up some requests soon, while all the others have the time that a busy machine takes for them."""
    download = StreamingDownloadHandler._download  # noqa: SLF001 - where the time of a request is read

    async def download_soon(handler: StreamingDownloadHandler, request: Request) -> Response:
        if is_meant(request):
            request.meta["download_timeout"] = seconds
        return await download(handler, request)

    monkeypatch.setattr(StreamingDownloadHandler, "_download", download_soon)


def path_of(request: Request) -> str:
    return urlsplit(request.url).path


@pytest.fixture
def no_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine look for work only when somebody wakes it."""
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 3600.0)
