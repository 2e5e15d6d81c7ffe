"""The middleware between Scrapy and the pace of hosts: what it tells, what it holds, what a run keeps."""

import asyncio
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import Response

from coati.live.failures import HostEndedError
from coati.live.outcomes import ANSWER_SECONDS, REQUEST
from coati.live.pace import PaceMiddleware
from coati.live.spider import LiveSpider
from coati.live.streaming import StreamingDownloadHandler
from coati.model import Method
from coati.model import Request as ChosenRequest
from coati.pacing.host_pace import HostPace, HostPause
from coati.runs.reader import RunReader
from coati.times import from_iso
from tests.live.conftest import Departures
from tests.live.crawling import crawl_into
from tests.live.plain_spider import run_spider
from tests.live.scripted import Route, answer, in_turn, page, scripted

URL = "http://h/"


class Settings(dict[str, Any]):
    """Scrapy's settings, as far as they are asked for."""

    def getfloat(self, name: str, default: float = 0.0) -> float:
        return float(self.get(name, default))

    def getint(self, name: str) -> int:
        return int(self.get(name, 0))

    def getlist(self, name: str) -> list[str]:
        return list(self.get(name, ()))

    def getdict(self, name: str) -> dict[str, float]:
        return dict(self.get(name, {}))


class Network:
    """What is behind the middleware; nothing there takes any time."""

    def __init__(self, **settings: object) -> None:
        known = Settings(USER_AGENT="Coati", **settings)
        crawler: Any = SimpleNamespace(settings=known, spider=None)
        self.middleware = PaceMiddleware(crawler)

    def lets_through(self, url: str = URL) -> Request:
        request = Request(url)
        asyncio.run(self.middleware.process_request(request))
        return request

    def answers(self, status: int = 200, latency: float = 0.0, own_share: float | None = None) -> float:
        request = self.lets_through()
        request.meta["download_latency"] = latency
        if own_share is not None:
            request.meta[ANSWER_SECONDS] = own_share
        self.middleware.process_response(request, Response(URL, status=status))
        return self.middleware.pace.delay("h")

    def fails(self, error: Exception) -> float:
        request = self.lets_through()
        self.middleware.process_exception(request, error)
        return self.middleware.pace.delay("h")


def test_trouble_is_told_and_what_is_none_is_not() -> None:
    quick = {"COATI_MAX_DELAY": 0.01}
    for error in (DownloadTimeoutError(), CannotResolveHostError()):
        assert Network(**quick).fails(error) == 0.01
    assert Network(**quick).fails(IgnoreRequest()) == 0.0
    assert Network(**quick).answers(502) == 0.01
    assert Network(**quick).answers(500) == 0.0


def test_what_the_crawler_itself_took_is_no_slowness_of_the_host() -> None:
    assert Network(DOWNLOAD_DELAY=1.0).answers(latency=3.0) == 6.0
    assert Network(DOWNLOAD_DELAY=1.0).answers(latency=3.0, own_share=0.01) == 1.0
    assert Network(DOWNLOAD_DELAY=1.0).answers(latency=3.0, own_share=2.0) == 4.0


def test_a_request_begins_when_it_leaves_and_not_while_it_waits_for_its_host() -> None:
    left: list[int] = []
    now = iter([0.0, 0.0, 0.0, 5.0, 5.0, 5.0])
    drive: Any = SimpleNamespace(
        now=now.__next__,
        plan=SimpleNamespace(one_site=True),
        host_pauses=lambda: {"h": HostPause(rests_until=0.001)},
        aborted=False,
        note_sent=lambda number, _now: left.append(number),
    )
    crawler: Any = SimpleNamespace(settings=Settings(USER_AGENT="Coati"), spider=LiveSpider(drive))
    middleware = PaceMiddleware(crawler)
    # What others ask for on the way, as for a robots.txt, is none of the crawl's requests.
    asyncio.run(middleware.process_request(Request("http://other/robots.txt")))
    assert left == []
    request = Request(URL, meta={REQUEST: ChosenRequest(7, Method.GET, URL)})
    asyncio.run(middleware.process_request(request))
    assert left == [7]


def test_an_answer_that_came_from_no_server_says_nothing() -> None:
    network = Network(DOWNLOAD_DELAY=1.0)
    request = Request(URL)
    network.middleware.process_response(request, Response(URL, status=503))
    network.middleware.process_exception(request, DownloadTimeoutError())
    network.middleware.note_sent(request)
    assert network.middleware.pace.delay("h") == 1.0
    assert network.middleware.pace.ready("h", 0.0)


def test_in_our_own_crawls_another_setting_than_scrapys_is_the_delay() -> None:
    assert Network(DOWNLOAD_DELAY=0, COATI_DELAY=0.5).answers() == 0.5


def test_a_host_may_have_a_delay_of_its_own() -> None:
    assert Network(DOWNLOAD_DELAY=1.0, COATI_DELAYS={"h": 0.25}).answers() == 0.25


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://[::1]:80/", "[::1]"),
        ("http://H.org/", "h.org"),
        ("search://engine/?q=rain", "search://engine"),
    ],
)
def test_hosts_are_named_as_strategies_name_them(url: str, host: str) -> None:
    network = Network(DOWNLOAD_DELAY=1e6)
    network.lets_through(url)
    assert list(network.middleware.pace.waits(0.0)) == [host]


def test_what_has_no_host_has_no_pace() -> None:
    network = Network(DOWNLOAD_DELAY=1e6)
    for _ in range(2):
        network.lets_through("data:,x")


def test_a_host_that_is_ended_is_not_asked_again() -> None:
    network = Network()
    request = network.lets_through()
    patient = Response(URL, status=503, headers={"Retry-After": "86400"})
    network.middleware.process_response(request, patient)
    with pytest.raises(HostEndedError):
        network.lets_through()
    network.lets_through("http://other/")


def test_trouble_is_remembered_in_the_run_and_forgotten_when_it_is_over(tmp_path: Path) -> None:
    routes: dict[str, Route] = {"/": page("/a", "/b", "/c", "/d", "/e"), "/a": answer(504), "*": page()}

    def kept() -> list[tuple[str, float | None, str | None]]:
        with RunReader(tmp_path) as reader:
            rows = reader.connection.execute("SELECT host, delay_seconds, rests_until FROM hosts")
            return [tuple(row) for row in rows]

    with scripted(routes) as server:
        slow = {"max_delay_seconds": 0.6, "robots": False}
        crawl_into(tmp_path, server.start, max_requests=2, **slow)
        assert kept() == [("127.0.0.1", 0.6, None)]
        crawl_into(tmp_path, server.start, max_requests=3, **slow)
        # An answer brought it half of the way back.
        assert kept() == [("127.0.0.1", 0.3, None)]
        crawl_into(tmp_path, server.start, **slow)
        assert kept() == [("127.0.0.1", None, None)]


def test_a_resumed_run_goes_on_as_slowly_as_it_had_to(tmp_path: Path, departures: Departures) -> None:
    with scripted({"/": page("/a", "/b", "/c"), "/a": answer(504), "*": page()}) as server:
        slow = {"max_delay_seconds": 0.6, "robots": False}
        crawl_into(tmp_path, server.start, max_requests=2, **slow)
        before = len(departures.gaps())
        crawl_into(tmp_path, server.start, max_requests=4, **slow)
    # The first good answer brought the delay half of the way back; without trouble there would be none.
    assert departures.gaps()[before + 1] >= 0.3


def test_the_log_has_the_moments_that_the_pace_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paced: list[float] = []
    sent = HostPace.sent

    def noted(pace: HostPace, host: str, now: float) -> None:
        paced.append(now)
        sent(pace, host, now)

    monkeypatch.setattr(HostPace, "sent", noted)
    with scripted({"/": page("/a", "/b"), "*": page()}) as server:
        # A clock that never shows the same moment twice.
        moments = count(time.time(), 0.01)  # noqa: TID251 - a run has real times
        crawl_into(tmp_path, server.start, robots=False, clock=lambda: next(moments))
    with RunReader(tmp_path) as reader:
        logged = [from_iso(at) for (at,) in reader.connection.execute("SELECT started_at FROM requests")]
    assert len(logged) == 3
    assert {round(at, 3) for at in logged} <= {round(at, 3) for at in paced}


def test_a_request_leaves_when_it_is_written_and_not_when_it_is_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_ups: list[float] = []
    download = StreamingDownloadHandler._download  # noqa: SLF001 - between the pace and the socket

    def now() -> float:
        return time.time() + 10.0 * len(hold_ups)  # noqa: TID251 - a run has real times

    async def held_up(handler: StreamingDownloadHandler, request: Request) -> Response:
        hold_ups.append(10.0)
        hold_ups[-1] = now()
        return await download(handler, request)

    monkeypatch.setattr(StreamingDownloadHandler, "_download", held_up)
    # One connection is opened, and used again.
    with scripted({"/": page("/a", "/b"), "*": page()}) as server:
        crawl_into(tmp_path, server.start, robots=False, clock=now)
    with RunReader(tmp_path) as reader:
        rows = reader.connection.execute("SELECT started_at FROM requests ORDER BY started_at")
        logged = [from_iso(at) for (at,) in rows]
    assert len(logged) == 3
    # The log has milliseconds.
    assert all(at >= left - 0.001 for at, left in zip(logged, hold_ups, strict=True))


@pytest.mark.parametrize("trouble", [answer(504), lambda exchange: exchange.raw(b"")])
def test_alone_in_a_spider_it_slows_retries_down(trouble: Route, departures: Departures) -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"coati.live.pace.PaceMiddleware": 890},
        # Without our own, aiohttp sends a request again by itself when a connection breaks.
        "DOWNLOAD_HANDLERS": {"http": "coati.live.streaming.StreamingDownloadHandler"},
        "COATI_ALLOW_PRIVATE": True,
    }
    with scripted({"/": in_turn(trouble, page())}) as server:
        spider = run_spider([server.start], settings)
    assert [response.status for response in spider.responses] == [200]
    (gap,) = departures.gaps()
    assert gap >= 1.0


def test_alone_in_a_spider_it_keeps_the_delay_of_the_project_exactly(departures: Departures) -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"coati.live.pace.PaceMiddleware": 890},
        "DOWNLOAD_DELAY": 0.4,
        # Scrapy's own would ask after half of it at times.
        "DOWNLOAD_DELAY_JITTER": 0.5,
    }
    with scripted({"*": page()}) as server:
        run_spider([f"{server.base}/{number}" for number in range(4)], settings)
    assert len(departures.gaps()) == 3
    assert min(departures.gaps()) >= 0.4
