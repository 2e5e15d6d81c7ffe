from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest
from scrapy.http import Response

from coati.live.adaptive_delay import AdaptiveDelayMiddleware
from coati.live.outcomes import ANSWER_SECONDS
from coati.runs.reader import RunReader
from tests.live.crawling import crawl_into
from tests.live.plain_spider import run_spider
from tests.live.scripted import Route, answer, in_turn, page, scripted


class Host:
    """One download slot, as the middleware meets it."""

    def __init__(self, own: float, asked: float | None = None, maximum: float = 60.0) -> None:
        self.slot = SimpleNamespace(delay=max(own, asked or 0.0))
        per_slot = {} if asked is None else {"h": {"delay": asked}}
        settings: dict[str, Any] = {"DOWNLOAD_DELAY": own, "COATI_MAX_DELAY": maximum}
        downloader = SimpleNamespace(slots={"h": self.slot}, per_slot_settings=per_slot)
        crawler: Any = SimpleNamespace(
            settings=SimpleNamespace(getfloat=lambda name, default=0.0: settings.get(name, default)),
            engine=SimpleNamespace(downloader=downloader),
            spider=None,
        )
        self._middleware = AdaptiveDelayMiddleware(crawler)

    def answers(self, status: int = 200, latency: float = 0.0, own_share: float | None = None) -> float:
        meta = {"download_slot": "h", "download_latency": latency}
        request = Request(
            "http://h/", meta=meta if own_share is None else {**meta, ANSWER_SECONDS: own_share}
        )
        self._middleware.process_response(request, Response("http://h/", status=status))
        return float(self.slot.delay)

    def reaches_the_downloader(self) -> float:
        self._middleware.request_reached(Request("http://h/", meta={"download_slot": "h"}))
        return float(self.slot.delay)

    def restores(self, delay: float) -> None:
        self._middleware.restore("h", delay)

    def fails(self, error: Exception) -> float:
        self._middleware.process_exception(Request("http://h/", meta={"download_slot": "h"}), error)
        return float(self.slot.delay)


def test_trouble_doubles_the_delay_and_health_brings_it_back() -> None:
    host = Host(own=1.0)
    assert [host.answers(503), host.answers(429), host.fails(DownloadTimeoutError())] == [2.0, 4.0, 8.0]
    delays = [host.answers() for _ in range(10)]
    assert delays[0] == 4.5
    assert delays == sorted(delays, reverse=True)
    assert delays[-1] == 1.0


def test_a_page_that_does_not_work_is_not_trouble() -> None:
    host = Host(own=1.0)
    assert [host.answers(500), host.answers(404), host.fails(IgnoreRequest())] == [1.0, 1.0, 1.0]


def test_a_slow_host_is_asked_half_of_the_time_at_most() -> None:
    assert Host(own=1.0).answers(latency=3.0) == 6.0
    assert Host(own=1.0).answers(latency=0.4) == 1.0
    # Whoever sets no delay asks a server of their own.
    assert Host(own=0.0).answers(latency=3.0) == 0.0


def test_what_the_crawler_itself_took_is_no_slowness_of_the_host() -> None:
    host = Host(own=1.0)
    assert host.answers(latency=3.0, own_share=0.01) == 1.0
    assert host.answers(latency=3.0, own_share=2.0) == 4.0


def test_a_grown_delay_outlives_its_slot() -> None:
    host = Host(own=1.0)
    host.answers(503)
    host.answers(503)
    host.slot.delay = 1.0  # as in a slot that is made anew
    assert host.reaches_the_downloader() == 4.0
    for _ in range(10):
        host.answers()
    assert host.reaches_the_downloader() == 1.0


def test_a_delay_of_an_earlier_session_is_kept_to_within_bounds() -> None:
    host = Host(own=1.0, maximum=10.0)
    host.restores(8.0)
    assert host.reaches_the_downloader() == 8.0
    host.restores(1e9)
    assert host.reaches_the_downloader() == 10.0


def test_trouble_is_remembered_in_the_run_and_forgotten_when_it_is_over(tmp_path: Path) -> None:
    routes: dict[str, Route] = {"/": page("/a", "/b"), "/a": answer(503), "/b": page()}
    with scripted(routes) as server:
        crawl_into(tmp_path, server.start, max_requests=2, max_delay_seconds=0.6)
        with RunReader(tmp_path) as reader:
            rows = reader.connection.execute("SELECT host, delay_seconds FROM hosts").fetchall()
        assert [tuple(row) for row in rows] == [("127.0.0.1", 0.6)]


def test_a_crawl_delay_is_a_floor() -> None:
    host = Host(own=1.0, asked=10.0)
    host.answers(503)
    for _ in range(20):
        host.answers(latency=0.1)
    assert host.slot.delay == 10.0


@given(
    own=st.sampled_from([0.0, 1.0, 90.0]),
    asked=st.sampled_from([None, 0.5, 20.0]),
    steps=st.lists(st.tuples(st.sampled_from([200, 404, 429, 503]), st.floats(0, 100)), max_size=30),
)
def test_whatever_happens_the_delay_stays_in_its_bounds(
    own: float, asked: float | None, steps: list[tuple[int, float]]
) -> None:
    host = Host(own, asked)
    floor = max(own, asked or 0.0)
    for status, latency in steps:
        assert floor <= host.answers(status, latency) <= max(floor, 60.0)


@pytest.mark.parametrize("trouble", [answer(503), lambda exchange: exchange.raw(b"")])
def test_alone_in_a_spider_it_slows_retries_down(trouble: Route) -> None:
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"coati.live.adaptive_delay.AdaptiveDelayMiddleware": 890},
        # Without our own, aiohttp sends a request again by itself when a connection breaks.
        "DOWNLOAD_HANDLERS": {"http": "coati.live.streaming.StreamingDownloadHandler"},
        "COATI_ALLOW_PRIVATE": True,
        "DOWNLOAD_DELAY_JITTER": 0,
    }
    with scripted({"/": in_turn(trouble, page())}) as server:
        spider = run_spider([server.start], settings)
    first, second = server.times("/")
    assert [response.status for response in spider.responses] == [200]
    assert second - first > 0.85
