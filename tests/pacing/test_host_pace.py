import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.pacing.host_pace import HostPace, HostPause, PaceSettings, Wait

H = "a.org"


def pace(own: float = 1.0, **settings: float) -> HostPace:
    return HostPace(PaceSettings(delay_seconds=own, **settings))  # type: ignore[arg-type]


def answers(hosts: HostPace, status: int = 200, latency: float = 0.0) -> float:
    hosts.answered(H, 0.0, status, latency)
    return hosts.delay(H)


def fails(hosts: HostPace) -> float:
    hosts.failed(H, 0.0)
    return hosts.delay(H)


def test_trouble_doubles_the_delay_and_health_brings_it_back() -> None:
    hosts = pace()
    assert [answers(hosts, 504), answers(hosts, 502), fails(hosts)] == [2.0, 4.0, 8.0]
    delays = [answers(hosts) for _ in range(10)]
    assert delays[0] == 4.5
    assert delays == sorted(delays, reverse=True)
    assert delays[-1] == 1.0


def test_a_page_that_does_not_work_is_not_trouble() -> None:
    hosts = pace()
    assert [answers(hosts, 500), answers(hosts, 404)] == [1.0, 1.0]


def test_a_slow_host_is_asked_half_of_the_time_at_most() -> None:
    assert answers(pace(), latency=3.0) == 6.0
    assert answers(pace(), latency=0.4) == 1.0
    # Whoever sets no delay asks a server of their own.
    assert answers(pace(0.0), latency=3.0) == 0.0


def test_why_a_delay_has_grown_is_reported() -> None:
    hosts = pace()
    hosts.sent(H, 0.0)
    assert hosts.wait(H, 0.25) == Wait(0.75, "delay")
    answers(hosts, latency=3.0)
    assert hosts.wait(H, 0.0) == Wait(6.0, "slow answers")
    answers(hosts, 502)
    assert hosts.wait(H, 0.0) == Wait(12.0, "errors")
    answers(hosts, latency=5.0)
    assert hosts.wait(H, 0.0) == Wait(11.0, "errors")


def test_a_crawl_delay_is_a_floor() -> None:
    hosts = pace()
    assert hosts.set_crawl_delay(H, 10.0) == [Wait(10.0, "Crawl-delay")]
    answers(hosts, 502)
    for _ in range(20):
        answers(hosts, latency=0.1)
    assert hosts.delay(H) == 10.0
    hosts.sent(H, 0.0)
    assert hosts.wait(H, 0.0) == Wait(10.0, "Crawl-delay")


def test_a_host_may_have_a_delay_of_its_own_longer_or_shorter() -> None:
    hosts = HostPace(PaceSettings(delay_seconds=1.0, delays={"quick": 0.25, "slow": 90.0}))
    assert [hosts.delay(host) for host in ("quick", "slow", "other")] == [0.25, 90.0, 1.0]
    for host in ("quick", "slow", "other"):
        hosts.sent(host, 0.0)
        hosts.answered(host, 0.0)
    assert [hosts.free_at(host) for host in ("quick", "slow", "other")] == [0.25, 90.0, 1.0]
    assert hosts.set_crawl_delay("slow", 50.0) == []
    assert hosts.set_crawl_delay("slow", 100.0) == [Wait(90.0, "Crawl-delay")]
    assert hosts.set_crawl_delay("quick", 0.5) == [Wait(0.5, "Crawl-delay")]


@pytest.mark.parametrize("asked", [1.0, 0.5, -3.0, math.nan])
def test_a_crawl_delay_that_is_not_longer_changes_nothing(asked: float) -> None:
    hosts = pace()
    assert hosts.set_crawl_delay(H, asked) == []
    assert hosts.delay(H) == 1.0


def test_a_crawl_delay_is_bounded_but_never_below_the_settings() -> None:
    for own, expected in ((1.0, 60.0), (90.0, 90.0)):
        hosts = pace(own)
        hosts.set_crawl_delay(H, 86400.0)
        assert hosts.delay(H) == expected


@given(
    own=st.sampled_from([0.0, 1.0, 90.0]),
    asked=st.sampled_from([0.0, 0.5, 20.0]),
    steps=st.lists(st.tuples(st.sampled_from([0, 200, 404, 429, 503]), st.floats(0, 100)), max_size=30),
)
def test_whatever_happens_the_delay_stays_in_its_bounds(
    own: float, asked: float, steps: list[tuple[int, float]]
) -> None:
    hosts = pace(own)
    hosts.set_crawl_delay(H, asked)
    floor = max(own, asked)
    for status, latency in steps:
        delay = answers(hosts, status, latency) if status else fails(hosts)
        assert floor <= delay <= max(floor, 60.0)


def test_a_host_rests_as_long_as_it_asks_for() -> None:
    hosts = pace()
    told = hosts.answered(H, 100.0, 429, retry_after=200.0)
    assert told == [Wait(2.0, "errors"), Wait(200.0, "Retry-After")]
    assert hosts.wait(H, 110.0) == Wait(190.0, "Retry-After")
    # A shorter rest does not end a longer one, and an error without a word about it does not lengthen it.
    hosts.answered(H, 110.0, 503, retry_after=1.0)
    hosts.answered(H, 111.0, 503)
    assert hosts.wait(H, 120.0).seconds == 180.0
    assert hosts.ready(H, 300.0)


def test_a_host_that_does_not_say_how_long_rests_longer_each_time() -> None:
    hosts = pace()
    now, rests = 0.0, []
    for _ in range(5):
        rests.append(hosts.answered(H, now, 429)[1])
        now += rests[-1].seconds
    assert rests == [Wait(seconds, "status 429") for seconds in (5.0, 10.0, 20.0, 20.0, 20.0)]
    assert hosts.ended(H) == ""
    hosts.answered(H, now)
    assert hosts.answered(H, now, 503)[1] == Wait(5.0, "status 503")


def test_a_host_without_a_retry_after_does_not_rest() -> None:
    assert pace().answered(H, 0.0, 429, retry_after=0.0) == [Wait(2.0, "errors")]


def test_a_rest_beyond_all_patience_ends_the_host_and_is_kept_as_it_was_requested() -> None:
    hosts = pace()
    hosts.answered(H, 1000.0, 503, retry_after=86400.0)
    assert hosts.ended(H) == "Retry-After"
    assert not hosts.ready(H, 1e6)
    assert hosts.next_time(1000.0) == math.inf
    saved = hosts.unsaved()
    assert saved == {H: HostPause(2.0, 87400.0)}
    # Resumed an hour later it still ends the host, and a day later it is over.
    for now, ended in ((4600.0, "Retry-After"), (87200.0, ""), (90000.0, "")):
        resumed = pace()
        resumed.load(saved, now)
        assert resumed.ended(H) == ended
        assert resumed.wait(H, now).seconds == (max(0.0, 87400.0 - now))


def test_what_changed_is_saved_once_and_health_is_saved_too() -> None:
    hosts = pace()
    hosts.answered(H, 0.0)
    assert hosts.unsaved() == {}
    answers(hosts, 502)
    assert hosts.unsaved() == {H: HostPause(2.0)}
    assert hosts.unsaved() == {}
    for _ in range(10):
        answers(hosts)
    assert hosts.unsaved() == {H: HostPause()}


def test_a_delay_of_an_earlier_session_is_kept_to_within_bounds() -> None:
    hosts = pace(max_delay_seconds=10.0)
    hosts.load({"a": HostPause(8.0), "b": HostPause(1e9), "c": HostPause(None, 5.0), "d": HostPause()}, 6.0)
    assert [hosts.delay(host) for host in "abcd"] == [8.0, 10.0, 1.0, 1.0]
    assert all(hosts.ready(host, 6.0) for host in "abcd")


def test_what_is_in_flight_keeps_a_host_from_being_ready() -> None:
    hosts = pace(0.0, per_host=2)
    hosts.begin(H, 0.0)
    assert hosts.ready(H, 0.0)
    hosts.begin(H, 0.0)
    assert not hosts.ready(H, 1e9)
    assert (hosts.next_time(1e9), hosts.take_ready(1e9)) == (math.inf, [])
    hosts.end(H)
    assert hosts.take_ready(1e9) == [H]
    assert hosts.take_ready(1e9) == []


def test_what_is_on_its_way_counts_until_it_leaves_or_is_not_sent_at_all() -> None:
    hosts = pace(10.0, per_host=2)
    hosts.begin(H, 5.0)
    assert not hosts.ready(H, 14.0)
    assert hosts.ready(H, 15.0)
    # It waits for nobody at the network's door, where it was let in at 5.
    assert hosts.wait(H, 5.0).seconds == 0.0
    hosts.end(H)
    assert hosts.ready(H, 5.0)


def test_a_shorter_delay_wakes_a_host_earlier() -> None:
    hosts = pace()
    for _ in range(4):
        answers(hosts, 502)
    hosts.sent(H, 0.0)
    assert not hosts.ready(H, 1.0)
    assert hosts.next_time(1.0) == 16.0
    answers(hosts)
    assert hosts.next_time(1.0) == 8.5


def test_a_woken_host_that_was_asked_meanwhile_sleeps_again() -> None:
    hosts = pace()
    hosts.sent(H, 0.0)
    hosts.ready(H, 0.0)
    assert hosts.next_time(1.0) == math.inf
    hosts.sent(H, 1.0)
    assert hosts.take_ready(1.5) == []
    assert hosts.take_ready(2.0) == [H]


def test_among_many_hosts_one_without_a_connection_rests_longer_and_is_given_up_in_the_end() -> None:
    hosts = HostPace(PaceSettings(many_hosts=True))
    now, waited = 0.0, []
    while not hosts.ended(H):
        hosts.failed(H, now)
        waited.append(hosts.wait(H, now).seconds)
        now = max(now, hosts.free_at(H)) if not hosts.ended(H) else now
    assert waited[2:7] == [60.0, 120.0, 240.0, 480.0, 960.0]
    assert (len(waited), hosts.ended(H)) == (8, "errors")
    assert not hosts.ready(H, 1e12)
    assert hosts.ready("b.org", now)


def test_an_answer_makes_up_for_failed_connections() -> None:
    hosts = HostPace(PaceSettings(many_hosts=True))
    for _ in range(20):
        for _ in range(7):
            hosts.failed(H, 0.0)
        hosts.answered(H, 0.0)
    assert not hosts.ended(H)


def test_of_one_site_a_host_without_a_connection_is_not_given_up() -> None:
    hosts = pace()
    for _ in range(100):
        hosts.failed(H, 0.0)
    assert not hosts.ended(H)
    assert hosts.wait(H, 0.0).seconds <= 60.0


def test_names_without_end_are_forgotten_but_not_what_is_in_flight() -> None:
    hosts = HostPace(PaceSettings(remembered_hosts=10))
    for number in range(5):
        hosts.begin(f"busy{number}", 0.0)
    hosts.set_crawl_delay("slow", 9.0)
    for number in range(1000):
        hosts.sent(f"host{number}", 0.0)
    assert len(hosts.waits(0.5)) <= 10
    assert all(not hosts.ready(f"busy{number}", 1e9) for number in range(5))


def test_what_is_special_is_forgotten_last_and_memory_is_bounded_all_the_same() -> None:
    hosts = HostPace(PaceSettings(remembered_hosts=10))
    hosts.set_crawl_delay("slow", 9.0)
    for number in range(100):
        hosts.sent(f"host{number}", 0.0)
        assert hosts.delay("slow") == 9.0
    for number in range(100):
        hosts.answered(f"limited{number}", 0.0, 503, retry_after=1e9)
    assert hosts.delay("slow") == 1.0
    assert len(hosts.waits(0.0)) == 10


def test_who_sleeps_and_is_forgotten_wakes() -> None:
    hosts = HostPace(PaceSettings(remembered_hosts=1))
    hosts.sent("a", 0.0)
    assert not hosts.ready("a", 0.0)
    hosts.sent("b", 0.0)
    assert hosts.take_ready(0.0) == ["a"]


STEPS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["send", "ask", "limit", "fail"]),
        st.integers(0, 20),
    ),
    max_size=60,
)


@given(steps=STEPS, many=st.booleans())
def test_whatever_happens_a_host_that_was_refused_is_told_once_when_it_is_ready(
    steps: list[tuple[str, str, int]], *, many: bool
) -> None:
    hosts = HostPace(PaceSettings(many_hosts=many))
    refused: set[str] = set()
    now = 0.0
    for host, what, seconds in steps:
        now += seconds
        if what == "ask":
            if not hosts.ready(host, now):
                refused.add(host)
        elif what == "send" and hosts.free_at(host) <= now:
            hosts.begin(host, now)
            hosts.sent(host, now)
            hosts.answered(host, now, 200, float(seconds))
            hosts.end(host)
        elif what == "limit":
            hosts.answered(host, now, 429, retry_after=float(seconds))
        elif what == "fail":
            hosts.failed(host, now)
        ready = {host for host in "abc" if hosts.free_at(host) <= now}
        assert sorted(hosts.take_ready(now)) == sorted(refused & ready)
        refused -= ready
        sleeping = [hosts.free_at(host) for host in refused]
        assert hosts.next_time(now) == min(sleeping, default=math.inf)
