"""A crawl over many hosts: each at its own pace, each with an end of its own, and the same as simulated."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from coati.live import Event, EventKind, StopReason
from coati.live import pace as live_pace
from coati.live.scheduler import EARLY_SECONDS
from coati.model import Outcome, Request
from coati.pacing.host_pace import HostPace, HostPause, PaceSettings, Wait
from coati.runs.store import RunStore
from coati.strategies.baselines.simple_orders import breadth_first
from coati.web.rules import Rules, Scope
from coati.web.urls import host_of
from tests.live.conftest import Deadline, Departures
from tests.live.crawling import FORM, Crawled, crawl_from
from tests.live.scripted import Exchange, Route, Script, answer, in_turn, page, pause, scripted
from tests.pacing.host_rounds import HostRounds
from tests.replaying.paced import PacedReplay
from tests.waiting import wait_until

HOSTS = [f"127.0.0.{number}" for number in range(1, 6)]


@pytest.fixture
def serve() -> Iterator[Callable[..., list[Script]]]:
    with ExitStack() as stack:

        def serve_all(*routes: dict[str, Route]) -> list[Script]:
            return [
                stack.enter_context(scripted(of_host, host))
                for of_host, host in zip(routes, HOSTS, strict=False)
            ]

        yield serve_all


def crawl_all(servers: list[Script], strategy: object, **changes: object) -> Crawled:
    start = servers[0].start
    changes = {"robots": False, "concurrency": 4, **changes}
    return crawl_from(
        start, new_strategy=lambda: strategy, rules=Rules(start, Scope.ANY), one_site=False, **changes
    )


def urls(servers: list[Script], pages: int) -> list[str]:
    return [f"{server.base}/{number}" for server in servers for number in range(pages)]


def test_a_strategy_that_does_not_ask_which_hosts_are_ready_does_not_block_them(
    serve: Callable[..., list[Script]], departures: Departures
) -> None:
    other_was_asked = threading.Event()

    def first(exchange: Exchange) -> None:
        # It answers when the other one was asked, or else never in time.
        assert other_was_asked.wait(240)
        exchange.answer(body="<p>")

    def second(exchange: Exchange) -> None:
        other_was_asked.set()
        exchange.answer(body="<p>")

    servers = serve({"*": first}, {"*": second})
    crawled = crawl_all(servers, breadth_first(urls(servers, 3)), delay_seconds=0.6)
    assert crawled.result.progress.pages == 6
    one, two = (server.base for server in servers)
    assert min(departures.gaps(lambda url: url.startswith(one))) >= 0.6
    assert min(departures.gaps(lambda url: url.startswith(two))) >= 0.6
    # All of the first host were chosen before any of the second, which did not wait for them.
    assert departures.urls[:2] == [f"{one}/0", f"{two}/0"]


def test_a_host_that_asks_for_a_day_is_ended_and_the_others_continue(
    serve: Callable[..., list[Script]],
) -> None:
    tired = in_turn(page(), answer(429, Retry_After="86400"))
    servers = serve({"*": page()}, {"*": tired}, {"*": page()})
    crawled = crawl_all(servers, breadth_first(urls(servers, 5)))
    assert crawled.result.stop is StopReason.FINISHED
    assert [len(server.asked) for server in servers] == [5, 2, 5]
    assert sorted(crawled.skipped.values()) == ["host keeps failing"] * 3


def test_a_host_that_is_gone_is_given_up_and_the_others_continue(serve: Callable[..., list[Script]]) -> None:
    def hang_up(exchange: Exchange) -> None:
        exchange.raw(b"")

    servers = serve({"*": page()}, {"*": hang_up})
    strategy = breadth_first(urls(servers, 12))
    crawled = crawl_all(servers, strategy, max_delay_seconds=0.01)
    assert crawled.result.stop is StopReason.FINISHED
    assert [len(server.asked) for server in servers] == [12, 8]
    # What met an outage may have come up again before the host was given up, or afterwards.
    left = {f"{servers[1].base}{path}" for path in (f"/{number}" for number in range(12))}
    left -= {servers[1].base + path for path in servers[1].paths}
    assert len(left) >= 4
    assert left <= crawled.skipped.keys()
    assert set(crawled.skipped.values()) == {"host keeps failing"}


def test_a_resumed_run_keeps_the_rests_and_delays_of_all_hosts(
    serve: Callable[..., list[Script]], tmp_path: Path, deadline: Deadline
) -> None:
    limited = in_turn(answer(429, Retry_After="100"), page())
    servers = serve({"*": page()}, {"*": limited}, {"*": in_turn(answer(504), page())})
    start = servers[0].start
    in_turns = [f"{server.base}/{number}" for number in range(3) for server in servers]

    def crawl_on(**changes: object) -> Crawled:
        now = time.time()  # noqa: TID251 - a run has real times
        folder = tmp_path / "run"
        opened = RunStore.open(folder, now) if folder.exists() else RunStore.create(folder, {}, now)
        with opened as store:
            kept.update(store.host_pauses())
            return crawl_from(
                start,
                new_strategy=lambda: breadth_first(in_turns),
                rules=Rules(start, Scope.ANY),
                one_site=False,
                robots=False,
                store=store,
                form=FORM,
                max_delay_seconds=0.5,
                **changes,
            )

    kept: dict[str, HostPause] = {}
    first = crawl_on(concurrency=3, max_requests=3)
    assert first.result.progress.requests == 3
    asked = len(servers[1].asked)

    def over_once_the_others_are_done(event: Event) -> None:
        if event.what is EventKind.OBSERVED and min(len(servers[0].asked), len(servers[2].asked)) >= 3:
            deadline.comes()

    crawl_on(concurrency=4, max_seconds=3600.0, on_event=over_once_the_others_are_done)
    assert kept.keys() == {HOSTS[1], HOSTS[2]}
    assert kept[HOSTS[2]] == HostPause(0.5, None)
    # The one that asked for rest was left alone; the others were asked.
    assert len(servers[1].asked) == asked == 1
    assert len(servers[0].asked) == 3


class Told(NamedTuple):
    """What the live crawl told its pace, and when."""

    verb: str
    host: str
    now: float
    status: int = 0
    server_seconds: float = 0.0


class RecordingPace(HostPace):
    """The pace of a live crawl, which keeps what it is told."""

    told: list[Told]

    def __init__(self, settings: PaceSettings) -> None:
        super().__init__(settings)
        type(self).told = []

    def sent(self, host: str, now: float) -> None:
        self.told.append(Told("sent", host, now))
        super().sent(host, now)

    def answered(
        self,
        host: str,
        now: float,
        status: int = 200,
        server_seconds: float = 0.0,
        retry_after: float | None = None,
    ) -> list[Wait]:
        self.told.append(Told("answered", host, now, status, server_seconds))
        return super().answered(host, now, status, server_seconds, retry_after)


class Recorder(HostRounds):
    """Keeps what is decided and observed among what the pace is told."""

    def choose(self, now: float, hosts: object) -> Request | None:
        request = super().choose(now, hosts)  # type: ignore[arg-type]
        if request is not None:
            RecordingPace.told.append(Told("chosen", request.url, now))
        return request

    def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[()]:
        super().observe(request_id, outcome, now)
        RecordingPace.told.append(Told("observed", self.chosen[request_id - 1][1], now))
        return ()


class Recorded:
    """Answers as the live crawl was answered."""

    def __init__(self, strategy: HostRounds) -> None:
        self._by_id = {request_id: outcome for request_id, outcome, _ in strategy.observed}

    def respond(self, request: Request) -> Outcome:
        return self._by_id[request.id]


def test_live_and_a_simulated_clock_decide_alike(
    serve: Callable[..., list[Script]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(exchange: Exchange) -> None:
        if len(servers[1].asked) == 5:
            # However slow the others are, the slow one is slower.
            wait_until(lambda: {len(server.asked) for server in (servers[0], *servers[2:])} == {6})
        pause(0.12)
        exchange.answer(body="<p>")

    servers = serve(
        {"*": page()},
        {"*": slow},
        {"*": in_turn(page(), answer(504), page(), answer(502), page())},
        {"*": page()},
    )
    monkeypatch.setattr(live_pace, "HostPace", RecordingPace)
    wanted = urls(servers, 6)
    live = Recorder(wanted)
    crawl_all(servers, live, delay_seconds=0.1, max_delay_seconds=0.4, concurrency=3, max_requests=1000)
    assert len(live.chosen) == len(live.observed) == len(wanted)

    # The same pace and the same times, in the same order: nothing else may have a say in what is decided.
    pace = HostPace(PaceSettings(delay_seconds=0.1, max_delay_seconds=0.4, many_hosts=True))
    simulated = HostRounds(wanted)
    run = PacedReplay(Recorded(live), simulated, pace, concurrency=3, early_seconds=EARLY_SECONDS)
    in_flight: dict[str, Request] = {}
    answers: dict[str, float] = {}
    for told in RecordingPace.told:
        match told.verb:
            case "chosen":
                request = run.ask(told.now)
                assert isinstance(request, Request), told
                assert request.url == told.host
                in_flight[host_of(request.url)] = request
            case "sent":
                pace.sent(told.host, told.now)
            case "answered":
                answers[told.host] = told.server_seconds
            case "observed":
                host = host_of(told.host)
                run.finish(in_flight.pop(host), told.now, answers.pop(host))
    assert [url for _, url in simulated.chosen] == [url for _, url in live.chosen]
    assert simulated.observed == live.observed
    # The order is not an accident of the order of the URLs: the slow host fell back.
    assert host_of(live.chosen[-1][1]) == HOSTS[1]
