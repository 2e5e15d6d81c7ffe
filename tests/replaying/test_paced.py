"""The pace of a live crawl on a simulated clock."""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from coati.budget import Budget, Limit
from coati.model import NO_LINKS, Deferred, Failure, Later, Outcome, Page, Request
from coati.pacing.host_pace import HostPace, PaceSettings
from coati.replaying.driver import FINISHED
from coati.strategies.baselines.simple_orders import breadth_first
from coati.web.urls import host_of
from tests.pacing.host_rounds import HostRounds
from tests.replaying.paced import PacedReplay, replay_paced

PAGE = Page(200, 100, NO_LINKS)


class Web:
    """Answers everything with a page, but for what is written down."""

    def __init__(self, **by_host: Outcome) -> None:
        self._by_host = by_host

    def respond(self, request: Request) -> Outcome:
        return self._by_host.get(host_of(request.url), PAGE)


def urls(hosts: int, pages: int) -> list[str]:
    return [f"http://h{host}/{page}" for host in range(hosts) for page in range(pages)]


def by_host(chosen: list[tuple[float, str]]) -> dict[str, list[float]]:
    times = defaultdict(list)
    for at, url in chosen:
        times[host_of(url)].append(at)
    return times


def test_ten_thousand_hosts_through_a_day() -> None:
    delay, day = 7200.0, 86400.0
    hosts = 10_000
    pace = HostPace(PaceSettings(delay_seconds=delay, many_hosts=True))
    strategy = HostRounds(urls(hosts, 40))
    seconds = random.Random(1)
    run = PacedReplay(Web(), strategy, pace, concurrency=50)
    result = replay_paced(run, lambda _: seconds.uniform(0.1, 2.0), Budget(max_seconds=day))
    assert result.stop == Limit.SECONDS.value
    assert result.ended_at >= day
    times = by_host(strategy.chosen)
    assert len(times) == hosts
    gaps = [after - before for host in times.values() for before, after in pairwise(host)]
    # But for the last digit of a floating point number.
    assert min(gaps) > delay - 1e-6
    # And none is forgotten: each is asked as soon as it may be and a request is free.
    assert {len(host) for host in times.values()} == {12}
    assert max(gaps) < delay + 10.0
    # A host that sleeps is not looked at: once when it is asked, once when it is found not to be ready.
    assert strategy.looks < 2.2 * len(strategy.chosen) + hosts


def test_a_run_ends_when_nothing_is_left_and_takes_the_time_that_politeness_takes() -> None:
    strategy = HostRounds(urls(3, 4))
    run = PacedReplay(Web(), strategy, HostPace(PaceSettings(many_hosts=True)), concurrency=3)
    result = replay_paced(run, lambda _: 0.25, begins_at=1000.0)
    assert (result.stop, len(result.trace)) == (FINISHED, 12)
    assert result.ended_at == 1003.25
    assert strategy.chosen[:4] == [(1000.0, f"http://h{host}/0") for host in range(3)] + [
        (1001.0, "http://h0/1")
    ]


def test_a_strategy_that_does_not_ask_which_hosts_are_ready_is_paced_as_well() -> None:
    starts = urls(2, 5)
    strategy = breadth_first(starts)
    run = PacedReplay(Web(), strategy, HostPace(PaceSettings(many_hosts=True)), concurrency=4)
    result = replay_paced(run, lambda _: 0.1)
    assert len(result.trace) == 10
    # Both hosts in parallel: five requests each, four delays.
    assert round(result.ended_at, 6) == 4.1


def test_a_host_that_is_down_is_given_up_and_the_others_continue() -> None:
    strategy = HostRounds(urls(3, 20))
    web = Web(h1=Failure(0, 0, "connection refused"))
    run = PacedReplay(web, strategy, HostPace(PaceSettings(many_hosts=True)), concurrency=4)
    result = replay_paced(run, lambda _: 0.1)
    asked = {host: len(times) for host, times in by_host(strategy.chosen).items()}
    assert asked == {"h0": 20, "h1": 8, "h2": 20}
    assert result.stop == FINISHED


def test_what_was_chosen_for_a_host_that_is_ended_is_refused() -> None:
    strategy = breadth_first(urls(1, 5))
    web = Web(h0=Deferred(503, 0, "status 503", until=1e6))
    run = PacedReplay(web, strategy, HostPace(PaceSettings(many_hosts=True)), concurrency=1)
    first = run.ask(0.0)
    assert isinstance(first, Request)
    assert run.finish(first, 0.5) == Deferred(503, 0, "status 503", until=1e6)
    # The others cost no request, and the first waits again for its time.
    assert run.ask(0.5) == Later(1e6)
    assert run.trace.refused == 4


def test_a_rest_that_is_requested_is_kept_to() -> None:
    strategy = HostRounds(urls(1, 3))
    answers: Iterator[Outcome] = iter([Deferred(429, 0, "status 429", until=100.0), PAGE, PAGE])

    class Limited:
        def respond(self, request: Request) -> Outcome:
            return next(answers)

    run = PacedReplay(Limited(), strategy, HostPace(PaceSettings(many_hosts=True)), concurrency=4)
    replay_paced(run, lambda _: 0.5)
    assert [at for at, _ in strategy.chosen] == [0.0, 100.0, 101.5]
