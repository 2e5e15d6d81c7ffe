"""Whole crawls over loopback: budgets, stopping, resuming, and what is told."""

import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from coati.live import CrawlPlan, Event, EventKind, Progress, StopReason, crawl_many
from coati.runs.errors import RunWriteError
from coati.strategies.baselines.simple_orders import FrontierStrategy
from coati.strategies.frontier import Fifo
from coati.strategies.strategy import Strategy
from coati.testing.generator import generate_site
from coati.testing.server import serve
from coati.testing.site_parameters import SiteParameters
from coati.web.media import PRESETS
from tests.live.conftest import Deadline
from tests.live.crawling import crawl_from, crawl_into, plan_for
from tests.live.scripted import Exchange, Route, Script, answer, file, in_turn, page, scripted

SMALL = {"/": page("/a", "/b.csv"), "/a": page("/", "/c.csv", "/gone"), "/b.csv": file(), "/c.csv": file()}


def test_a_site_is_crawled_to_its_end() -> None:
    with scripted(SMALL) as server:
        crawled = crawl_from(server.start)
    progress = crawled.result.progress
    assert crawled.result.stop is StopReason.FINISHED
    assert (progress.requests, progress.pages, progress.targets, progress.failures) == (5, 2, 2, 1)
    assert server.paths == ["/robots.txt", "/", "/a", "/b.csv", "/c.csv", "/gone"]
    assert progress.robots_requests == 1
    assert crawled.result.start_links == 2


def test_every_request_says_who_asks_and_nothing_else() -> None:
    with scripted(SMALL) as server:
        crawl_from(server.start, contact="me@example.org", headers=(("X-Key", "k"),), cookies=(("id", "7"),))
    for asked in server.asked:
        assert asked.headers["user-agent"].endswith("(+me@example.org)")
        assert asked.headers["x-key"] == "k"
        assert "referer" not in asked.headers
        if asked.path != "/robots.txt":
            assert asked.headers["cookie"] == "id=7"


def test_cookies_of_the_site_are_kept() -> None:
    routes = {**SMALL, "/": lambda exchange: exchange.answer(body="<a href=/a>", Set_Cookie="seen=1; Path=/")}
    with scripted(routes) as server:
        crawl_from(server.start)
    assert {asked.headers.get("cookie") for asked in server.asked if asked.path == "/a"} == {"seen=1"}


def test_a_page_that_wants_a_cookie_first_is_asked_again() -> None:
    def gate(exchange: Exchange) -> None:
        if "seen=1" in exchange.headers.get("Cookie", ""):
            exchange.answer(body="<a href=/a.csv>")
        else:
            exchange.answer(302, Location="/", Set_Cookie="seen=1; Path=/")

    with scripted({"/": gate, "/a.csv": file()}) as server:
        crawled = crawl_from(server.start)
    assert server.paths == ["/robots.txt", "/", "/", "/a.csv"]
    assert crawled.observed[server.start]["charged"] == 2
    assert crawled.result.progress.requests == 3


def test_a_page_that_never_has_enough_cookies_ends() -> None:
    with scripted({"/": answer(302, Location="/", Set_Cookie="more=1")}) as server:
        crawled = crawl_from(server.start)
    assert server.paths == ["/robots.txt", "/", "/"]
    assert crawled.observed[server.start]["reason"] == "redirect loop"


@pytest.mark.parametrize(
    ("limit", "stop", "requests"),
    [
        ({"max_requests": 3}, StopReason.BUDGET_REQUESTS, 3),
        ({"max_targets": 1}, StopReason.BUDGET_TARGETS, 3),
    ],
)
def test_budgets_end_a_crawl(limit: dict[str, int], stop: StopReason, requests: int) -> None:
    with scripted(SMALL) as server:
        crawled = crawl_from(server.start, **limit)
    assert crawled.result.stop is stop
    assert crawled.result.progress.requests == requests
    assert len(server.asked) == requests + 1  # and robots.txt


def test_a_body_beyond_the_budget_of_bytes_is_given_back() -> None:
    with scripted(SMALL) as server:
        crawled = crawl_from(server.start, max_bytes=1)
    assert crawled.result.stop is StopReason.BUDGET_BYTES
    assert (crawled.result.progress.requests, crawled.result.progress.bytes) == (0, 0)
    assert server.paths == ["/robots.txt", "/"]


def test_a_limit_of_targets_holds_with_many_requests_in_flight() -> None:
    links = [f"/{number}.csv" for number in range(50)]
    routes: dict[str, Route] = {f"/{number}.csv": file(str(number).encode()) for number in range(50)}
    with scripted({"/": page(*links), **routes}) as server:
        crawled = crawl_from(server.start, max_targets=7, concurrency=16, per_host=16)
    assert crawled.result.stop is StopReason.BUDGET_TARGETS
    assert crawled.result.progress.targets == 7


def test_the_last_target_may_take_several_attempts() -> None:
    first = answer(302, Location="/a.csv", Set_Cookie="seen=1; Path=/")
    with scripted({"/": page("/a.csv"), "/a.csv": in_turn(first, file())}) as server:
        crawled = crawl_from(server.start, max_targets=1)
    assert crawled.result.progress.targets == 1
    assert crawled.observed[server.base + "/a.csv"]["charged"] == 2


def test_a_budget_holds_with_many_requests_in_flight() -> None:
    links = [f"/{number}" for number in range(50)]
    with scripted({"/": page(*links), "*": page()}) as server:
        crawled = crawl_from(server.start, max_requests=7, concurrency=16, per_host=16)
    assert crawled.result.progress.requests == 7
    assert len(server.asked) == 8


def test_the_budget_of_time_ends_a_crawl_that_waits(deadline: Deadline) -> None:
    def over_once_it_waits(event: Event) -> None:
        if event.what is EventKind.OBSERVED:
            deadline.comes()

    with scripted({"/": page("/a"), "/a": page()}) as server:
        # Had it waited for the delay, the test would have been ended first.
        limits = {"delay_seconds": 3600.0, "max_seconds": 3600.0, "robots": False}
        crawled = crawl_from(server.start, on_event=over_once_it_waits, **limits)
    assert crawled.result.stop is StopReason.BUDGET_SECONDS
    assert server.paths == ["/"]


def test_an_early_stop_ends_a_crawl() -> None:
    class Third:
        def observe(
            self, requests: int, targets: int, score: float | None = None, strategy: Strategy | None = None
        ) -> bool:
            assert strategy is not None
            return requests >= 3

    with scripted(SMALL) as server:
        crawled = crawl_from(server.start, early_stop=Third())
    assert crawled.result.stop is StopReason.STOPPED_EARLY
    assert crawled.result.progress.requests == 3


def test_a_start_that_does_not_answer_is_unreachable(own_port: int) -> None:
    crawled = crawl_from(f"http://127.0.0.1:{own_port}/", robots=False)
    assert crawled.result.stop is StopReason.START_UNREACHABLE
    assert crawled.result.first_failure == "connection refused"


@pytest.mark.parametrize(
    ("status", "stop"),
    [
        (404, StopReason.START_UNREACHABLE),
        (500, StopReason.START_UNREACHABLE),
        (403, StopReason.REFUSED),
        (401, StopReason.REFUSED),
        (429, StopReason.RATE_LIMITED),
    ],
)
def test_a_start_that_answers_an_error_says_which(status: int, stop: StopReason) -> None:
    with scripted({"/": answer(status, Retry_After="0")}) as server:
        crawled = crawl_from(server.start, max_delay_seconds=0.01)
    assert crawled.result.stop is stop
    assert crawled.result.first_failure == f"status {status}"


def test_a_site_that_falls_silent_ends_the_crawl() -> None:
    links = [f"/{number}" for number in range(60)]

    def silent(exchange: Exchange) -> None:
        exchange.raw(b"")

    with scripted({"*": silent, "/": in_turn(page(*links), silent)}) as server:
        crawled = crawl_from(
            server.start, robots=False, max_delay_seconds=0.01, retries=3, retry_seconds=60.0
        )
    assert crawled.result.stop is StopReason.SITE_SILENT
    assert crawled.result.stop.resumable
    progress = crawled.result.progress
    assert (progress.requests, progress.failures, progress.deferred) == (21, 0, 20)


@pytest.mark.parametrize(
    "route",
    [
        lambda exchange: exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n" + bytes(5000)),
        lambda exchange: exchange.answer(body=b"plain", media_type="text/csv", Content_Encoding="gzip"),
    ],
)
def test_files_that_are_too_large_or_cannot_be_unpacked_are_answers(route: Route) -> None:
    links = [f"/{number}.csv" for number in range(30)]
    with scripted({"*": route, "/": page(*links)}) as server:
        crawled = crawl_from(
            server.start, robots=False, max_delay_seconds=0.01, max_file_bytes=1000, retries=3
        )
    assert crawled.result.stop is StopReason.FINISHED
    assert (crawled.result.progress.failures, crawled.result.progress.requests) == (30, 31)


@pytest.mark.parametrize("size", [20, 200_000])
def test_the_name_that_a_server_proposes_tells_a_wanted_file(size: int) -> None:
    def download(media_type: str, disposition: str) -> Route:
        body = b"1;2\n" * (size // 4)
        return lambda exchange: exchange.answer(200, body, media_type, Content_Disposition=disposition)

    routes = {
        "/": page(*(f"/get/{number}" for number in range(1, 8))),
        "/get/1": download("application/octet-stream", "attachment; filename=table 1.csv"),
        "/get/2": download("application/force-download", "attachment; filename*=UTF-8''G%C3%A4ste.XLSX"),
        "/get/3": download("application/octet-stream", 'attachment; filename="setup.exe"'),
        "/get/4": download("binary/octet-stream", "inline"),
        # What a program sends that declares nothing.
        "/get/5": download("text/html; charset=UTF-8", 'attachment; filename="table.xlsx"'),
        "/get/6": download("text/html", 'attachment; filename="page.html"'),
        "/get/7": download("text/html", 'inline; filename="table.csv"'),
    }
    kinds = {}
    with scripted(routes) as script:
        for types in ("tables", "data"):
            crawled = crawl_from(script.start, types=PRESETS[types], robots=False)
            kinds[types] = [crawled.observed[f"{script.start}get/{number}"]["kind"] for number in range(1, 8)]
    saved, pages = ["target"], ["page", "page"]
    assert kinds == {
        "tables": ["target", "target", "other", "other", *saved, *pages],
        "data": ["target", "target", "target", "target", *saved, *pages],
    }


def test_a_file_that_is_declared_as_a_page_is_kept_whole(tmp_path: Path) -> None:
    body = b"1;2\n" * (5 << 20)  # more than is read of a page
    name = "attachment; filename=table.csv"
    routes = {
        "/": page("/get"),
        "/get": lambda exchange: exchange.answer(200, body, "text/html", Content_Disposition=name),
    }
    with scripted(routes) as script:
        crawl_into(tmp_path / "run", script.start, robots=False)
    assert (tmp_path / "run" / "files" / "table.csv").stat().st_size == len(body)


def test_what_leads_out_of_scope_is_refused_and_costs_nothing() -> None:
    with scripted({"/": page("/away"), "/away": answer(302, Location="http://example.com/")}) as server:
        crawled = crawl_from(server.start)
    assert crawled.result.progress.requests == 2
    assert crawled.skipped["http://example.com/"] == "out of scope"


def test_progress_and_events_are_told() -> None:
    told: list[Progress] = []
    with scripted(SMALL) as server:
        crawled = crawl_from(server.start, on_progress=told.append)
    assert told[-1] == crawled.result.progress
    assert [event.what for event in crawled.events[:5]] == [
        EventKind.CHOSEN,
        EventKind.ROBOTS,
        EventKind.OBSERVED,
        EventKind.CHOSEN,
        EventKind.OBSERVED,
    ]
    assert crawled.observed[server.base + "/b.csv"]["kind"] == "target"


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    parameters = SiteParameters(pages=40)
    with serve(lambda base: generate_site(parameters, 3, base)) as server:
        whole = crawl_from(server.url)
        asked = [seen.url for seen in server.requests if not seen.url.endswith("/robots.txt")]
        server.requests.clear()
        folder = tmp_path / "run"
        for limit in (5, 17, 30, None):
            crawled = crawl_into(folder, server.url, **({"max_requests": limit} if limit else {}))
        again = [seen.url for seen in server.requests if not seen.url.endswith("/robots.txt")]
    assert again == asked
    assert crawled.result.progress.requests == whole.result.progress.requests
    with sqlite3.connect(next(folder.rglob("*.sqlite"))) as database:
        assert database.execute("SELECT count(*) FROM targets").fetchone() == (whole.result.progress.targets,)
    database.close()


def test_a_full_disk_ends_the_crawl_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RunWriteError("the disk is full")

    monkeypatch.setattr("coati.runs.store.RunStore.record", fail)
    with scripted(SMALL) as server, pytest.raises(RunWriteError):
        crawl_into(tmp_path / "run", server.start)
    assert server.paths == ["/robots.txt", "/"]


def test_a_mistake_in_a_strategy_comes_out_at_once() -> None:
    class Wrong(FrontierStrategy):
        def observe(self, request_id: int, outcome: object, now: float) -> tuple[()]:
            raise ZeroDivisionError

    with scripted(SMALL) as server:
        strategy = Wrong([server.start], Fifo())
        with pytest.raises(ZeroDivisionError):
            crawl_from(server.start, new_strategy=lambda: strategy)


PROGRAM = """
    import sys
    from coati.live import CrawlPlan, EventKind, LiveSettings, crawl
    from coati.strategies.baselines.simple_orders import breadth_first
    from coati.web.rules import Rules

    start = sys.argv[1]
    settings = LiveSettings(delay_seconds=0.3, robots=False)

    def tell(event):
        if event.what is EventKind.STOPPING:
            print(event.what, flush=True)

    plan = CrawlPlan(
        new_strategy=lambda: breadth_first([start]), rules=Rules(start), settings=settings, on_event=tell
    )
    result = crawl(plan)
    print(result.stop.name, result.progress.requests, result.progress.in_flight, flush=True)
    sys.exit(result.stop.exit_code)
"""


@contextmanager
def crawl_in_flight() -> Iterator[tuple[subprocess.Popen[str], Callable[[], None]]]:
    """Run a crawl in a process of its own up to its second request, which is answered on demand."""
    arrived, released = threading.Event(), threading.Event()

    def slow(exchange: Exchange) -> None:
        arrived.set()
        released.wait(240)
        exchange.answer(body="<p>Nothing</p>")

    with scripted({"/": page("/a", "/b"), "*": slow}) as server:
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), server.start]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert arrived.wait(240)
                yield process, released.set
            finally:
                released.set()
                process.kill()


def next_word(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def last_words(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    assert process.stdout is not None
    words = process.stdout.read().split()
    return process.wait(timeout=240), words


def test_the_first_interrupt_finishes_what_is_in_flight() -> None:
    with crawl_in_flight() as (process, release):
        process.send_signal(signal.SIGTERM)
        assert next_word(process) == EventKind.STOPPING
        assert process.poll() is None
        release()
        assert last_words(process) == (130, ["INTERRUPTED", "2", "0"])


def test_the_second_interrupt_stops_at_once() -> None:
    with crawl_in_flight() as (process, _):
        process.send_signal(signal.SIGINT)
        assert next_word(process) == EventKind.STOPPING
        process.send_signal(signal.SIGINT)
        assert last_words(process) == (130, ["INTERRUPTED", "1", "1"])


def test_many_crawls_run_side_by_side_and_a_slow_one_holds_up_nobody() -> None:
    others_are_done = threading.Event()
    finished: set[str] = set()

    def slow(exchange: Exchange) -> None:
        # It answers when all the others are done, or else never in time.
        assert others_are_done.wait(240)
        page("/a")(exchange)

    def plan_of(server: Script) -> CrawlPlan:
        def note(progress: Progress) -> None:
            if progress.pages == 2:
                finished.add(server.start)
            if len(finished) == 11:
                others_are_done.set()

        return plan_for(server.start, on_progress=note)

    with ExitStack() as stack:
        routes = [{"/": slow, "/a": page()}, *[{"/": page("/a"), "/a": page()}] * 11]
        servers = [stack.enter_context(scripted(of_host)) for of_host in routes]
        results = crawl_many([plan_of(server) for server in servers])
    assert [result.progress.pages for result in results] == [2] * 12
