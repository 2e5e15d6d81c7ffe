"""What is said while a crawl runs."""

import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coati.budget import Budget
from coati.jobs.live_progress import CrawlView, shortened_path
from coati.live.progress import ArmYield, Event, EventKind, Progress
from coati.pacing.host_pace import Wait
from coati.stop_reasons import StopReason
from coati.strategies.stopping.stop_when_dry import StopWhenDry
from tests.live.scripted import page, scripted


class Clock:
    """Stands still until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def view(budget: Budget, progress: Progress, **more: float) -> tuple[CrawlView, Clock]:
    clock = Clock()
    made = CrawlView(budget, clock=clock, **more)  # type: ignore[arg-type]
    made.on_progress(progress)
    return made, clock


HALFWAY = Progress(
    requests=500, targets=1, failures=2, bytes=3_000_000, seconds=250.0, session_requests=250, archived=4
)


def test_counts_in_words() -> None:
    made, _ = view(Budget(), HALFWAY)
    assert made.counts() == "500 requests, 1 target, 1.0/s, 3.0 MB, 2 failures, 4 from the archive"


def test_the_nearest_limit_is_the_one_that_counts() -> None:
    assert view(Budget(), HALFWAY)[0].share_spent() is None
    made, _ = view(Budget(max_requests=1000, max_targets=4, max_bytes=4_000_000), HALFWAY)
    assert made.share_spent() == pytest.approx(0.75)


def test_time_left_is_of_the_budget_and_passes_between_reports() -> None:
    made, clock = view(Budget(max_seconds=600), HALFWAY, seconds_before=100.0)
    assert made.time_left() == "at most 4 min 10 s left"
    clock.now += 10
    assert made.time_left() == "at most 4 min left"
    made, _ = view(Budget(max_requests=560), HALFWAY)
    assert made.time_left() == "at most 1 min left"
    assert view(Budget(max_targets=5), HALFWAY)[0].time_left() == ""


def test_the_best_group_is_named_by_its_end() -> None:
    made, _ = view(Budget(), Progress(best_arm=ArmYield("html > body > div > ul.files > li > a", 4, 12.0)))
    assert made.best_group(70) == "html > body > div > ul.files > li > a (12 targets from 4 pages)"
    assert made.best_group(52) == "… > ul.files > li > a (12 targets from 4 pages)"
    assert view(Budget(), Progress(best_arm=ArmYield("x", 4, 0.0)))[0].best_group(60) == ""


@pytest.mark.parametrize("width", range(10, 60))
def test_what_is_shortened_fits(width: int) -> None:
    assert len(shortened_path("html > body > div.a > ul.files > li > a", width)) <= width


def test_addresses_that_could_not_be_reached_are_waited_for() -> None:
    made, _ = view(Budget(), replace(HALFWAY, deferred=2, in_flight=0, waits={}))
    assert made.resting() == "waiting for 2 URLs that could not be reached"
    assert "2 to retry" in made.counts()
    made, _ = view(Budget(), replace(HALFWAY, deferred=2, in_flight=1, waits={}))
    assert made.resting() == ""


def test_a_long_wait_is_told_and_passes() -> None:
    made, clock = view(Budget(), replace(HALFWAY, waits={"a.org": Wait(0.9, "delay")}))
    assert made.resting() == ""
    made.on_progress(
        replace(HALFWAY, waits={"a.org": Wait(0.9, "delay"), "b.org": Wait(30.0, "Retry-After")})
    )
    assert made.resting() == "waiting 30 s for b.org (Retry-After)"
    clock.now += 10
    assert made.line().endswith("waiting 20 s for b.org (Retry-After)")
    clock.now += 19
    assert made.resting() == ""


def test_the_end_is_taken_notice_of() -> None:
    made, _ = view(Budget(), HALFWAY)
    made.on_event(Event(0.0, EventKind.STOPPING, {"reason": StopReason.INTERRUPTED}))
    assert made.stopping is StopReason.INTERRUPTED


def test_one_line_says_it_all() -> None:
    rule = StopWhenDry()
    for number in range(1, 501):
        rule.observe(number, number // 5)
    made, _ = view(Budget(max_requests=1000), HALFWAY)
    made.early_stop = rule
    line = made.line()
    assert line.startswith("500 requests, ")
    assert "to come: about 200 targets per 1,000 further requests" in line
    assert line.endswith("at most 8 min 20 s left")


def test_a_terminal_sees_lines_that_stay_in_place_and_go(tmp_path: Path) -> None:
    links = [f"/p{number}" for number in range(30)]
    reader, writer = pty.openpty()
    with scripted({"/": page(*links), "*": page()}) as site:
        process = subprocess.Popen(
            [sys.executable, "-m", "coati", "crawl", site.start, "--delay", "0", "--max-requests", "25"],
            cwd=tmp_path,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
            stdout=subprocess.DEVNULL,
            stderr=writer,
        )
        os.close(writer)
        shown = _read_all(reader)
        assert process.wait(timeout=240) == 0
    assert "requests, 0 targets" in shown
    assert "of the budget" in shown
    # The last thing that is drawn is taken away again.
    assert "\x1b[2K" in shown.rpartition("of the budget")[2]


def _read_all(descriptor: int) -> str:
    parts = []
    try:
        while part := os.read(descriptor, 4096):
            parts.append(part)
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(descriptor)
    return b"".join(parts).decode("utf-8", "replace")
