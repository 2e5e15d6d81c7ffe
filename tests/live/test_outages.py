"""When to ask again and when to call a URL broken, with time as an argument."""

import pytest

from coati.archive.record import PASSING_STATUSES
from coati.live.failures import FailureReason
from coati.live.outages import Outages, is_outage
from coati.live.outcomes import DAMAGED, FetchResult
from coati.model import (
    AT_THE_END,
    NO_LINKS,
    Deferred,
    Failure,
    Kind,
    Method,
    Other,
    Outcome,
    Page,
    Refused,
    Request,
)
from coati.runs.host_answers import HostAnswer

HOST = "http://example.org"
OTHER = "http://other.example.org"
RESET = FetchResult(Failure(0, 0, FailureReason.BROKEN_OFF))
NO_RULES = FetchResult(Failure(0, 0, FailureReason.NO_RULES), unsent=True)
FINE = FetchResult(Other(200, 9, "text/plain"))


def asked(path: str, base: str = HOST) -> Request:
    return Request(0, Method.GET, base + path)


def outages(retries: int = 3, *, heard: bool = True) -> Outages:
    made = Outages(retries, first_seconds=10.0)
    if heard:
        made.answered(HOST + "/")
    return made


def until(
    made: Outages, path: str, now: float, reading: FetchResult = RESET, base: str = HOST
) -> float | None:
    """Let a request fail; returns when to ask again, None if it is called broken."""
    outcome = made.judge(asked(path, base), reading, now).outcome
    return outcome.until if isinstance(outcome, Deferred) else None


@pytest.mark.parametrize(
    ("reading", "passing"),
    [
        *((FetchResult(Failure(status, 0, f"status {status}")), True) for status in sorted(PASSING_STATUSES)),
        *(
            (FetchResult(Failure(status, 0, f"status {status}")), False)
            for status in (400, 403, 404, 410, 500, 501)
        ),
        (RESET, True),
        (FetchResult(Failure(0, 0, FailureReason.NO_HOST)), True),
        (FetchResult(Failure(0, 0, FailureReason.NOT_CONNECTED)), True),
        (FetchResult(Failure(0, 0, FailureReason.TIMEOUT)), True),
        (FetchResult(Failure(0, 0, FailureReason.SHORT_BODY)), True),
        (FetchResult(Failure(0, 0, FailureReason.CERTIFICATE)), False),
        (FetchResult(Failure(0, 0, FailureReason.CERTIFICATE), unsent=True), True),
        (FetchResult(Failure(0, 0, FailureReason.TOO_LARGE)), False),
        (FetchResult(Failure(0, 0, FailureReason.BOMB)), False),
        (FetchResult(Failure(0, 0, FailureReason.NOT_DECOMPRESSED)), False),
        (FetchResult(Failure(0, 0, FailureReason.BAD_ANSWER)), False),
        (NO_RULES, True),
        (FetchResult(Page(200, 9, NO_LINKS), drops=(DAMAGED,)), True),
        (FetchResult(Page(200, 9, NO_LINKS)), False),
        (FINE, False),
    ],
)
def test_some_failures_say_nothing_about_the_url(reading: FetchResult, *, passing: bool) -> None:
    assert is_outage(reading) is passing


def test_the_distance_grows_the_last_try_is_at_the_end_and_then_it_is_broken() -> None:
    made = outages()
    times = []
    for now in (100.0, 200.0, 300.0, 400.0):
        times.append(until(made, "/a", now))
        made.judge(asked("/well"), FINE, now + 1)
    assert times == [110.0, 240.0, AT_THE_END, None]
    assert len(made) == 0


def test_an_outage_of_the_host_breaks_no_url() -> None:
    made = outages()
    for spell in range(20):
        for path in ("/a", "/b"):
            assert until(made, path, 100.0 * spell) is not None
        made.judge(asked("/well"), FINE, 100.0 * spell + 50)
    assert len(made) == 2


def test_a_url_that_fails_while_nobody_else_is_asked_is_not_called_broken() -> None:
    made = outages()
    assert [until(made, "/a", 100.0 * number) is None for number in range(9)] == [False] * 9
    assert made.give_up


ERROR = FetchResult(Failure(500, 0, "status 500"))


def test_a_500_is_asked_again_once_and_broken_if_the_host_is_well() -> None:
    made = outages()
    assert until(made, "/a", 1.0, ERROR) == AT_THE_END
    made.judge(asked("/well"), FINE, 2.0)
    assert until(made, "/a", 3.0, ERROR) is None
    assert len(made) == 0
    # That it is broken says nothing about the host: the next one is not believed without a sign of life.
    until(made, "/b", 4.0, ERROR)
    assert made.probe_url(asked("/b")) is not None


def test_the_first_500_of_a_url_that_met_another_outage_is_asked_again() -> None:
    made = outages()
    until(made, "/a", 1.0)
    made.judge(asked("/well"), FINE, 2.0)
    assert until(made, "/a", 20.0, ERROR) == AT_THE_END
    made.judge(asked("/well"), FINE, 21.0)
    assert until(made, "/a", 30.0, ERROR) is None


def test_500s_of_a_host_in_trouble_break_nothing() -> None:
    made = outages()
    paths = [f"/{number}" for number in range(30)]
    for turn in range(3):
        assert {until(made, path, 10.0 * turn, ERROR) for path in paths} == {AT_THE_END}
        assert made.probe_url(asked("/new")) == HOST + "/"
    assert made.give_up


def test_a_500_of_a_head_or_a_query_stands() -> None:
    made = outages()
    for request in (Request(0, Method.HEAD, HOST + "/a"), asked("?q=a", "search://local/")):
        assert made.judge(request, ERROR, 1.0) == ERROR


def test_without_retries_a_500_is_broken_at_once_unless_its_host_is_down() -> None:
    made = outages(retries=0)
    assert until(made, "/a", 1.0, ERROR) is None
    assert until(made, "/b", 2.0, ERROR) == AT_THE_END


def test_without_retries_a_url_is_broken_at_once_unless_its_host_is_down() -> None:
    made = outages(retries=0)
    assert until(made, "/a", 1.0) is None
    assert until(made, "/b", 2.0) == AT_THE_END
    made.answered(HOST + "/")
    assert until(made, "/c", 3.0) is None


def test_a_retry_wants_a_sign_of_life_where_nothing_else_tells() -> None:
    made = outages()
    until(made, "/a", 1.0)
    assert made.probe_url(asked("/a")) == HOST + "/"
    assert made.probe_url(asked("/new")) is None
    for number in range(5):
        until(made, f"/{number}", 2.0)
    assert made.probe_url(asked("/new")) == HOST + "/"
    made.judge(asked("/well"), FINE, 3.0)
    assert made.probe_url(asked("/a")) is None


@pytest.mark.parametrize(
    ("method", "outcome", "proof"),
    [
        (Method.GET, Other(200, 9, "text/csv"), "/other"),
        (Method.GET, Failure(404, 0, "status 404"), "/other"),
        # Large, or of a size that nobody knows.
        (Method.GET, Other(200, 10**9, "text/csv"), "/"),
        (Method.GET, Other(200, 0, "video/mp4"), "/"),
        (Method.HEAD, Other(200, 0, "text/csv"), "/"),
        (Method.HEAD, Failure(404, 0, "status 404"), "/"),
    ],
)
def test_only_small_answers_are_signs_of_life(method: Method, outcome: Outcome, proof: str) -> None:
    made = outages()
    made.judge(Request(0, method, HOST + "/other"), FetchResult(outcome), 1.0)
    until(made, "/a", 2.0)
    assert made.probe_url(asked("/a")) == HOST + proof


def test_before_anybody_answered_there_are_a_few_quick_tries() -> None:
    made = outages(heard=False)
    assert [until(made, "/", now) for now in (0.0, 10.0)] == [1.0, 12.0]
    assert not made.give_up
    assert until(made, "/", 20.0) is not None
    assert made.give_up


def test_a_host_that_never_answered_is_given_up_as_a_whole() -> None:
    made = outages(retries=2)
    assert until(made, "/a", 0.0, NO_RULES, OTHER) == 10.0
    # Before the host is due again, its other URLs wait without being asked.
    assert not made.may_try(asked("/b", OTHER), 5.0)
    assert until(made, "/b", 5.0, NO_RULES, OTHER) == 10.0
    assert made.may_try(asked("/b", OTHER), 10.0)
    assert until(made, "/b", 10.0, NO_RULES, OTHER) == AT_THE_END
    assert until(made, "/a", 10.0, NO_RULES, OTHER) == AT_THE_END
    assert until(made, "/a", 99.0, NO_RULES, OTHER) is None
    assert until(made, "/c", 99.0, NO_RULES, OTHER) is None
    assert not made.may_try(asked("/d", OTHER), 99.0)


def test_a_page_that_always_breaks_off_at_the_same_place_is_taken_as_it_is() -> None:
    made = outages()

    def part(size: int) -> FetchResult:
        return FetchResult(Page(200, size, NO_LINKS), drops=(DAMAGED,))

    assert [until(made, "/a", now, part(500)) is None for now in (0.0, 9.0, 99.0, 999.0)] == [False] * 3 + [
        True
    ]
    assert [until(made, "/b", now, part(int(now))) is None for now in range(9)] == [False] * 9
    # A host whose pages are all like that is not asked for each of them again.
    for path in ("/c", "/d"):
        assert [until(made, path, now, part(7)) is None for now in (0.0, 1.0, 2.0, 3.0)][-1]
    assert until(made, "/e", 9.0, part(8)) is None


def test_the_part_that_came_is_not_kept_of_a_page_that_is_asked_again() -> None:
    reading = FetchResult(Page(200, 9, NO_LINKS), body=b"<p>", drops=(DAMAGED,))
    judged = outages().judge(asked("/a"), reading, 0.0)
    assert judged.outcome == Deferred(200, 9, DAMAGED, 10.0)
    assert (judged.body, judged.drops) == (None, ())


def test_a_refusal_is_none_of_its_business() -> None:
    made = outages(heard=False)
    reading = FetchResult(Refused("robots.txt"))
    assert made.judge(asked("/a"), reading, 0.0) is reading
    assert until(made, "/", 0.0) == 1.0


def test_an_archive_keeps_the_crawl_going_but_is_no_sign_of_life() -> None:
    made = outages(heard=False)
    made.archived(asked("/a"))
    assert until(made, "/b", 0.0) == 10.0
    made.archived(asked("/c"))
    assert until(made, "/d", 1.0) == 11.0
    assert made.probe_url(asked("/b")) is None


def past(path: str, at: float, kind: str, until: float = 0.0) -> HostAnswer:
    status = 0 if kind == "deferred" else 200
    return HostAnswer(at, Method.GET, HOST + path, kind, status, 0, 1, until)


def test_counts_are_rebuilt_from_the_log() -> None:
    log = [
        past("/", 0.0, Kind.PAGE),
        past("/a", 1.0, "deferred", 11.0),
        past("/b", 2.0, Kind.TARGET),
        past("/a", 12.0, "deferred", 52.0),
        past("/c", 13.0, "deferred", 23.0),
        past("/c", 24.0, Kind.TARGET),
        past("/a", 60.0, "deferred", AT_THE_END),
    ]
    made = Outages(3, 10.0, log)
    assert len(made) == 1
    made.answered(HOST + "/")
    # Of the three, the second was shared with another URL.
    assert until(made, "/a", 70.0) == AT_THE_END
    made.answered(HOST + "/")
    assert until(made, "/a", 80.0) is None


def test_a_new_session_begins_with_quick_tries() -> None:
    made = Outages(3, 10.0, [past("/", 0.0, Kind.PAGE)])
    assert until(made, "/a", 5.0) == 6.0


@pytest.mark.parametrize("remembered", [10, 1000])
def test_of_hosts_that_are_well_only_that_they_answered_is_kept_for_ever(remembered: int) -> None:
    made = Outages(3, first_seconds=10.0, remembered_hosts=remembered)
    for base in (HOST, OTHER):
        made.answered(base + "/")
    until(made, "/down", 0.0, base=OTHER)
    for number in range(100):
        made.answered(f"http://host-{number}.example/")
    # One that is in trouble is remembered with all that is known of it.
    assert made.probe_url(asked("/down", OTHER)) == OTHER + "/"
    # It answered once, so that an outage breaks none of its URLs.
    assert None not in [until(made, f"/{number}", 100.0 * number) for number in range(20)]
    assert made.probe_url(asked("/0")) == (HOST + "/" if remembered == 1000 else None)
