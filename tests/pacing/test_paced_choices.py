import math
from collections import deque
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.model import Hosts, Later, Method, Request
from coati.pacing.host_pace import HostPace, PaceSettings
from coati.pacing.paced_choices import PacedChoices
from coati.web.urls import host_of


class Chooser:
    """Chooses these hosts in order, one request each, whether they are ready or not."""

    def __init__(self, hosts: Iterable[str], then: Later | None = None) -> None:
        self._hosts = deque(hosts)
        self._then = then
        self.chosen = 0

    def __call__(self, hosts: Hosts) -> Request | Later | None:
        if not self._hosts:
            return self._then
        self.chosen += 1
        return Request(self.chosen, Method.GET, f"http://{self._hosts.popleft()}/{self.chosen}")


class Sender:
    """Sends what is handed out, and has it answered by hand."""

    def __init__(self, *, concurrency: int, one_site: bool, early: float = 0.0, per_host: int = 1) -> None:
        self.pace = HostPace(PaceSettings(per_host=per_host, many_hosts=not one_site))
        self.choices = PacedChoices(self.pace, concurrency, any_host=not one_site, early_seconds=early)
        self.on_their_way: list[Request] = []

    def ask(self, now: float, choose: Chooser) -> str | Later | None:
        request = self.choices.next(now, choose)
        if not isinstance(request, Request):
            return request
        self.on_their_way.append(request)
        self.pace.sent(host_of(request.url), now)
        return request.url.removeprefix("http://")

    def answer(self, now: float, status: int = 200, retry_after: float | None = None) -> None:
        request = self.on_their_way.pop(0)
        self.pace.answered(host_of(request.url), now, status, 0.0, retry_after)
        self.choices.observed(request)


def test_what_is_on_its_way_is_limited() -> None:
    sender, choose = Sender(concurrency=2, one_site=False), Chooser("abc")
    assert [sender.ask(0.0, choose) for _ in range(3)] == ["a/1", "b/2", None]
    assert choose.chosen == 2
    sender.answer(0.5)
    assert sender.ask(0.5, choose) == "c/3"


def test_a_request_for_a_busy_host_waits_and_others_continue() -> None:
    sender, choose = Sender(concurrency=3, one_site=False), Chooser("aaabc")
    assert sender.ask(0.0, choose) == "a/1"
    assert [sender.ask(0.1, choose) for _ in range(3)] == ["b/4", "c/5", None]
    sender.answer(0.2)
    # The host has to rest, and what was chosen first for it goes first.
    assert sender.ask(0.2, choose) == Later(1.0)
    assert sender.ask(1.0, choose) == "a/2"
    assert sender.choices.waiting == 1
    for _ in range(3):
        sender.answer(1.1)
    assert sender.ask(1.1, choose) == Later(2.0)
    assert sender.ask(2.0, choose) == "a/3"


def test_no_more_than_a_hundred_wait() -> None:
    sender, choose = Sender(concurrency=2, one_site=False), Chooser("a" * 1000)
    assert [sender.ask(0.0, choose) for _ in range(5)] == ["a/1", None, None, None, None]
    assert (choose.chosen, sender.choices.waiting) == (102, 101)


def test_of_one_site_what_waits_counts_as_if_it_were_on_its_way() -> None:
    sender, choose = Sender(concurrency=3, one_site=True), Chooser("abbbb")
    assert sender.ask(0.0, choose) == "a/1"
    sender.answer(0.1)
    assert sender.ask(1.0, choose) == "b/2"
    assert sender.ask(1.0, choose) is None
    assert choose.chosen == 4
    sender.answer(1.1)
    assert sender.ask(1.1, choose) == Later(2.0)
    assert choose.chosen == 5


def test_of_one_site_nothing_is_chosen_while_none_of_its_hosts_may_get_a_request() -> None:
    sender, choose = Sender(concurrency=4, one_site=True), Chooser("aab")
    assert sender.ask(0.0, choose) == "a/1"
    assert sender.ask(0.3, choose) is None
    sender.answer(0.3)
    assert sender.ask(0.3, choose) == Later(1.0)
    assert choose.chosen == 1
    assert sender.ask(1.0, choose) == "a/2"


def test_of_several_given_sites_none_waits_for_another_that_is_busy() -> None:
    pace = HostPace(PaceSettings(many_hosts=True))
    choices = PacedChoices(pace, 4, any_host=False, early_seconds=0.0, given="abc")
    choose = Chooser("abca")
    for host in "abc":
        request = choices.next(0.0, choose)
        assert isinstance(request, Request)
        assert host_of(request.url) == host
        pace.sent(host, 0.0)
    # From here on all of them are busy, so that choosing waits.
    assert (choices.next(0.1, choose), choose.chosen) == (None, 3)


def test_in_a_long_rest_with_nothing_on_its_way_it_is_found_out_whether_all_is_done() -> None:
    sender, choose = Sender(concurrency=4, one_site=True), Chooser("a")
    assert sender.ask(0.0, choose) == "a/1"
    sender.answer(0.0, 429, retry_after=200.0)
    assert sender.ask(0.1, choose) is None

    sender, choose = Sender(concurrency=4, one_site=True), Chooser("aaa")
    assert sender.ask(0.0, choose) == "a/1"
    sender.answer(0.0, 429, retry_after=200.0)
    assert sender.ask(0.1, choose) == Later(200.0)
    # One choice was made to find that out, and no second one.
    assert sender.ask(0.2, choose) == Later(200.0)
    assert choose.chosen == 2


def test_a_strategy_that_waits_chooses_again_at_its_time_or_when_a_host_wakes() -> None:
    sender = Sender(concurrency=2, one_site=False)
    assert sender.ask(0.0, Chooser("", Later(7.0))) == Later(7.0)
    assert sender.ask(0.0, Chooser("")) is None
    assert sender.ask(0.0, Chooser("a")) == "a/1"
    sender.answer(0.2)

    def asks_about_a(hosts: Hosts) -> Later:
        assert not hosts.ready("a")
        return Later(7.0)

    assert sender.choices.next(0.5, asks_about_a) == Later(1.0)
    # Told or not, a host that has woken does not keep the clock from moving on.
    assert sender.ask(1.0, Chooser("", Later(7.0))) == Later(7.0)


def test_a_strategy_that_waits_for_no_time_does_not_stop_the_clock() -> None:
    sender = Sender(concurrency=1, one_site=False)
    assert sender.ask(5.0, Chooser("", Later(4.0))) == Later(5.001)


def test_a_request_is_handed_out_early_where_a_driver_wants_that() -> None:
    sender, choose = Sender(concurrency=1, one_site=False, early=0.25), Chooser("aa")
    assert sender.ask(0.0, choose) == "a/1"
    sender.answer(0.1)
    assert sender.ask(0.1, choose) == Later(0.75)
    assert sender.ask(0.75, choose) == "a/2"


def test_a_request_that_must_be_sent_again_goes_before_what_waits() -> None:
    sender, choose = Sender(concurrency=2, one_site=False), Chooser("aab")
    assert [sender.ask(0.0, choose), sender.ask(0.0, choose)] == ["a/1", "b/3"]
    first = sender.on_their_way.pop(0)
    sender.pace.answered("a", 0.1, 504)
    sender.choices.again(first)
    assert sender.choices.waiting == 2
    assert sender.ask(0.1, choose) == Later(2.0)
    assert sender.ask(2.0, choose) == "a/1"
    assert sender.choices.waiting == 1


def test_what_was_chosen_for_a_host_that_is_ended_is_handed_out_to_be_answered() -> None:
    sender, choose = Sender(concurrency=1, one_site=False), Chooser("aaaa")
    assert sender.ask(0.0, choose) == "a/1"
    assert sender.ask(0.0, choose) is None
    sender.answer(0.1, 503, retry_after=86400.0)
    assert sender.ask(0.1, choose) == "a/2"
    assert sender.pace.ended("a")


@pytest.mark.parametrize("one_site", [True, False])
@given(
    hosts=st.text("abc", max_size=30),
    concurrency=st.integers(1, 4),
    per_host=st.integers(1, 2),
    seconds=st.lists(st.sampled_from([0.0, 0.25, 0.5, 3.0]), min_size=1, max_size=8),
)
def test_everything_that_was_chosen_is_sent_in_the_end_and_no_host_too_often(
    *, one_site: bool, hosts: str, concurrency: int, per_host: int, seconds: list[float]
) -> None:
    sender = Sender(concurrency=concurrency, one_site=one_site, per_host=per_host)
    choose = Chooser(hosts)
    now = 0.0
    sent: list[tuple[float, str]] = []
    ends: deque[float] = deque()
    while True:
        asked = sender.ask(now, choose)
        assert len(sender.on_their_way) <= concurrency
        if isinstance(asked, str):
            sent.append((now, asked))
            ends.append(now + seconds[len(sent) % len(seconds)])
            continue
        wakes = asked.at if asked is not None else math.inf
        if ends and ends[0] <= wakes:
            now = max(now, ends.popleft())
            sender.answer(now)
        elif wakes < math.inf:
            now = wakes
        else:
            break
    assert len(sent) == len(hosts)
    for host in set(hosts):
        times = [at for at, url in sent if url[0] == host]
        assert all(after - before >= 1.0 for before, after in pairwise(times))
        numbers = [int(url[2:]) for _, url in sent if url[0] == host]
        assert numbers == sorted(numbers)
