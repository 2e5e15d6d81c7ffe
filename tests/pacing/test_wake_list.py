import math

from hypothesis import given
from hypothesis import strategies as st

from coati.pacing.wake_list import WakeList


def test_a_host_that_waits_for_something_in_flight_wakes_by_a_word() -> None:
    times = {"a": math.inf}
    sleeping = WakeList(times.__getitem__)
    sleeping.add("a")
    assert (sleeping.next_time(), sleeping.take_ready(1e9), len(sleeping)) == (math.inf, [], 1)
    times["a"] = 5.0
    sleeping.changed("a")
    assert (sleeping.next_time(), sleeping.take_ready(5.0), len(sleeping)) == (5.0, ["a"], 0)


def test_who_does_not_sleep_is_not_woken() -> None:
    sleeping = WakeList(lambda _: 1.0)
    sleeping.changed("a")
    assert sleeping.take_ready(2.0) == []


HOSTS = st.sampled_from("abcd")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), HOSTS),
        st.tuples(st.just("move"), HOSTS, st.integers(0, 40) | st.just(math.inf)),
        st.tuples(st.just("pass"), st.integers(0, 9)),
    ),
    max_size=60,
)


@given(STEPS)
def test_whatever_happens_each_sleeper_wakes_once_when_it_is_free(steps: list[tuple[object, ...]]) -> None:
    times = dict.fromkeys("abcd", 0.0)
    sleeping = WakeList(times.__getitem__)
    asleep: set[str] = set()
    now = 0
    for step in steps:
        match step:
            case ("add", str(host)):
                sleeping.add(host)
                asleep.add(host)
            case ("move", str(host), (int() | float()) as at):
                times[host] = at
                sleeping.changed(host)
            case ("pass", int(seconds)):
                now += seconds
        # What a scan of all hosts would find.
        free = {host for host in asleep if times[host] <= now}
        assert sleeping.next_time() == min((times[host] for host in asleep), default=math.inf)
        woken = sleeping.take_ready(now)
        assert sorted(woken) == sorted(free)
        asleep -= free
        assert len(sleeping) == len(asleep)
