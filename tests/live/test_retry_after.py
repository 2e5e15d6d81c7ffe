import time
from contextlib import ExitStack
from email.utils import formatdate
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.live import EventKind, Progress, StopReason
from coati.live.failures import HostEndedError
from coati.live.pace import TOO_LONG, parse_retry_after
from coati.runs.reader import RunReader
from coati.times import from_iso
from coati.web.media import PRESETS
from tests.live.conftest import Deadline, Departures
from tests.live.crawling import crawl_from, crawl_into
from tests.live.plain_spider import run_spider
from tests.live.scripted import answer, file, in_turn, page, scripted

NOON = 1_800_014_400.0
ALONE = {"DOWNLOADER_MIDDLEWARES": {"coati.live.pace.PaceMiddleware": 890}}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        ("Thursday, 01-Jan-70 00:02:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("\u0663", None),
    ],
)
def test_seconds_and_dates_are_read(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, now=100.0) == seconds


@given(st.text(max_size=60), st.floats(0, 1e10))
def test_no_header_breaks_the_parser(value: str, now: float) -> None:
    seconds = parse_retry_after(value, now)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("status", [429, 503])
def test_a_host_gets_the_pause_that_it_asks_for(
    status: int, form: str, departures: Departures, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Between the answer and its reading a busy machine may let any time go by; here it is always noon.
    monkeypatch.setattr("coati.live.pace.parse_retry_after", lambda value, _: parse_retry_after(value, NOON))
    wait = "1" if form == "seconds" else formatdate(NOON + 1, usegmt=True)
    with scripted(
        {"/": page("/a.csv"), "/a.csv": in_turn(answer(status, Retry_After=wait), file())}
    ) as server:
        crawled = crawl_from(server.start, retries=2, max_delay_seconds=0.1)
    (gap,) = departures.gaps(lambda url: url.endswith("/a.csv"))
    assert gap >= 1.0
    told = crawled.observed[server.base + "/a.csv"]
    assert (told["kind"], told["charged"]) == ("target", 2)
    waits = {wait["why"]: wait["seconds"] for wait in crawled.told(EventKind.WAITING)}
    assert waits.keys() == {"errors", "Retry-After"}
    assert waits["Retry-After"] == 1.0


def test_who_asks_for_no_pause_is_not_said_to_be_waited_for() -> None:
    limited = in_turn(answer(429, Retry_After="0"), file())
    with scripted({"/": page("/a.csv"), "/a.csv": limited}) as server:
        crawled = crawl_from(server.start, retries=2, max_delay_seconds=0.1)
    assert [wait["why"] for wait in crawled.told(EventKind.WAITING)] == ["errors"]


def test_a_rest_is_told_while_it_lasts_and_kept_to_when_the_run_goes_on(
    tmp_path: Path, deadline: Deadline
) -> None:
    told: list[Progress] = []
    limits = {"retries": 2, "max_seconds": 3600.0}

    def note(progress: Progress) -> None:
        told.append(progress)
        if progress.waits:
            deadline.comes()

    with scripted({"/": answer(429, Retry_After="200")}) as server:
        crawl_into(tmp_path / "run", server.start, **limits, on_progress=note)
        asked = list(server.paths)
        told_again: list[Progress] = []

        def note_again(progress: Progress) -> None:
            told_again.append(progress)
            # The first is told before anything is chosen.
            if len(told_again) == 2:
                deadline.comes()

        again = crawl_into(tmp_path / "run", server.start, **limits, on_progress=note_again)
        assert server.paths == asked
    (waits,) = {tuple(progress.waits) for progress in told if progress.waits}
    assert waits == ("127.0.0.1",)
    longest = max(wait.seconds for progress in told for wait in progress.waits.values())
    assert 100 < longest <= 200
    assert {wait.why for progress in told for wait in progress.waits.values()} == {"Retry-After"}
    assert again.result.progress.requests == 1


def test_everything_else_on_the_host_waits_too(departures: Departures) -> None:
    limited = in_turn(answer(429, Retry_After="1"), file())
    with scripted({"/": page("/a.csv", "/b", "/c"), "/a.csv": limited, "*": page()}) as server:
        crawl_from(server.start, retries=2, max_delay_seconds=0.1)
    assert sorted(set(server.paths)) == ["/", "/a.csv", "/b", "/c", "/robots.txt"]
    after = [urlsplit(url).path for url in departures.urls].index("/a.csv")
    assert departures.gaps()[after] >= 1.0


def test_a_wait_beyond_the_limit_ends_the_crawl() -> None:
    with scripted({"/": page("/a", "/b"), "/a": answer(429, Retry_After="86400")}) as server:
        crawled = crawl_from(server.start, retries=2)
    assert crawled.result.stop is StopReason.RATE_LIMITED
    assert crawled.result.stop.exit_code == 4
    assert server.paths == ["/robots.txt", "/", "/a"]


def test_a_wait_beyond_the_limit_is_kept_as_it_was_asked_for(tmp_path: Path) -> None:
    with scripted({"/": page("/a", "/b"), "/a": answer(429, Retry_After="86400")}) as server:
        crawl_into(tmp_path / "run", server.start)
        asked = list(server.paths)
        with RunReader(tmp_path / "run") as reader:
            (until,) = reader.connection.execute("SELECT rests_until FROM hosts").fetchone()
        again = crawl_into(tmp_path / "run", server.start)
    assert 86000 < from_iso(until) - time.time() <= 86400  # noqa: TID251 - a run has real times
    assert again.result.stop is StopReason.RATE_LIMITED
    assert server.paths == asked


def test_a_host_that_is_to_be_left_alone_may_be_answered_for_by_an_archive(tmp_path: Path) -> None:
    tired = in_turn(page(), answer(429, Retry_After="86400"))
    with ExitStack() as stack:
        server = stack.enter_context(scripted({"/": page("/a", "/b"), "/a": tired, "/b": page()}))
        meta = ArchiveMeta("a site", server.start, PRESETS["data"])
        archive = stack.enter_context(Archive.create(tmp_path / "archive", meta))
        crawl_from(server.start, archive=archive, robots=False)
        limited = crawl_into(tmp_path / "run", server.start, robots=False)
        asked = list(server.paths)
        again = crawl_into(tmp_path / "run", server.start, archive=archive, robots=False)
    assert limited.result.stop is StopReason.RATE_LIMITED
    assert again.result.stop is StopReason.FINISHED
    assert again.result.progress.archived
    assert server.paths == asked


def test_alone_in_a_spider_it_makes_scrapys_retries_wait(departures: Departures) -> None:
    with scripted({"/": in_turn(answer(503, Retry_After="1"), page())}) as server:
        spider = run_spider([server.start], ALONE)
    (gap,) = departures.gaps()
    assert gap >= 1.0
    assert [response.status for response in spider.responses] == [200]


def test_alone_in_a_spider_it_passes_on_what_asks_for_too_much() -> None:
    with scripted({"/": answer(503, Retry_After="4000")}) as server:
        spider = run_spider([server.start], {**ALONE, "COATI_MAX_RETRY_AFTER": 2})
    assert [response.meta[TOO_LONG] for response in spider.responses] == [4000.0]
    assert server.paths == ["/"]


def test_alone_in_a_spider_it_asks_nothing_more_of_such_a_host() -> None:
    with scripted({"/": answer(503, Retry_After="4000")}) as server:
        one_by_one = {**ALONE, "COATI_MAX_RETRY_AFTER": 2, "CONCURRENT_REQUESTS": 1}
        spider = run_spider([server.start, server.base + "/other"], one_by_one)
    assert server.paths == ["/"]
    assert [type(error) for error in spider.errors] == [HostEndedError]
