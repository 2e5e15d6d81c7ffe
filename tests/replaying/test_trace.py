from __future__ import annotations

import csv
from pathlib import Path

from coati.model import (
    NO_LINKS,
    Failure,
    Method,
    Other,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Settlement,
    Target,
)
from coati.replaying.trace import Step, Trace


def url(number: int) -> str:
    return f"http://a.test/{number}"


def trace_of(*steps: tuple[Method, int, Outcome]) -> Trace:
    trace = Trace()
    for identity, (method, number, outcome) in enumerate(steps):
        trace.add(Request(identity, method, url(number), arm=number, score=number / 2), outcome)
    return trace


STEPS: tuple[tuple[Method, int, Outcome], ...] = (
    (Method.GET, 0, Page(200, 50, NO_LINKS)),
    (Method.HEAD, 1, Target(200, 0, "text/csv")),
    (Method.GET, 1, Target(200, 30, "text/csv")),
    (Method.GET, 1, Target(200, 30, "text/csv")),
    (Method.GET, 2, Refused("out of scope")),
    (Method.GET, 3, Redirect(301, 5, url(4))),
    (Method.GET, 4, Other(200, 7, "text/css")),
    (Method.GET, 5, Failure(404, 0, "status 404")),
    (Method.GET, 6, Failure(0, 0, "no response")),
    (Method.GET, 7, Target(206, 11, "text/csv")),
)


def test_the_running_totals_count_each_target_once_and_only_when_it_was_got() -> None:
    trace = trace_of(*STEPS)
    assert len(trace) == 9
    assert trace.refused == 1
    assert list(trace.targets) == [0, 0, 1, 1, 1, 1, 1, 1, 2]
    assert list(trace.target_bytes) == [0, 0, 30, 30, 30, 30, 30, 30, 41]
    assert list(trace.sizes) == [50, 0, 30, 30, 5, 7, 0, 0, 11]


def test_a_relevant_page_counts_as_a_target_once() -> None:
    trace = trace_of(
        (Method.GET, 0, Page(200, 50, NO_LINKS, relevant=True)),
        (Method.GET, 1, Page(200, 60, NO_LINKS)),
        (Method.HEAD, 2, Page(200, 0, NO_LINKS, relevant=True)),
        (Method.GET, 0, Page(200, 50, NO_LINKS, relevant=True)),
    )
    assert list(trace.targets) == [1, 1, 1, 1]
    assert list(trace.target_bytes) == [50, 50, 50, 50]


def test_each_step_says_what_was_asked_why_and_what_came() -> None:
    trace = trace_of(*STEPS)
    trace.settle(Settlement(0, 2.0))
    # Neither a refused request nor one of another run has a step.
    trace.settle(Settlement(4, 9.0))
    trace.settle(Settlement(99, 9.0))
    steps = list(trace.steps())
    assert [step.step for step in steps] == list(range(1, 10))
    assert steps[0] == Step(1, "GET", url(0), 200, 50, "page", 0, 0.0, 2.0, 0)
    assert steps[1] == Step(2, "HEAD", url(1), 200, 0, "target", 1, 0.5, None, 0)
    assert steps[-1] == Step(9, "GET", url(7), 206, 11, "target", 7, 3.5, None, 2)
    assert [step.kind for step in steps] == [
        *("page", "target", "target", "target", "redirect", "other", "failure", "failure", "target")
    ]
    assert [step.status for step in steps] == [200, 200, 200, 200, 301, 200, 404, 0, 206]


def test_a_status_of_any_size_is_kept() -> None:
    trace = trace_of((Method.GET, 0, Failure(99_999, 2**40, "odd")))
    (step,) = trace.steps()
    assert (step.status, step.size_bytes) == (99_999, 2**40)


def test_an_empty_trace_has_no_steps() -> None:
    assert list(Trace().steps()) == []
    assert len(Trace()) == 0


def test_it_is_written_as_a_table(tmp_path: Path) -> None:
    trace = trace_of(*STEPS)
    trace.add(Request(50, Method.GET, 'http://a.test/?q="a,b"\n'), Failure(404, 0, ""))
    trace.settle(Settlement(0, 2.5))
    trace.write_csv(tmp_path / "trace.csv")
    with (tmp_path / "trace.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        *("step", "method", "url", "status", "size_bytes", "kind", "arm", "score", "reward", "targets")
    ]
    assert len(rows) == len(trace)
    assert (rows[0]["reward"], rows[1]["reward"]) == ("2.5", "")
    assert rows[-1]["url"] == 'http://a.test/?q="a,b"\n'
    assert (rows[-1]["arm"], rows[-1]["score"]) == ("", "")
