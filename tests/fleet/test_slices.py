"""What a worker does with one slice, and what it leaves when something fails."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coati.bandits.site_choice import Promises, SiteChoice
from coati.budget import Budget
from coati.fleet.crawl_thread import CrawlThread, crawl_thread
from coati.fleet.deaths import deaths_at, has_last_try, is_quarantined, note_death, use_last_try
from coati.fleet.downloading import download_run
from coati.fleet.generations import Chain, Manifest
from coati.fleet.leases import Lease, Leases, lease_name
from coati.fleet.objects import ObjectStore, open_store
from coati.fleet.orders import SliceEnd, SliceOrder, SliceTimes
from coati.fleet.overtime import Overtime
from coati.fleet.site_crawl import RestingCrawls
from coati.fleet.slice_turns import SliceTurns
from coati.fleet.slices import run_slice
from coati.fleet.worker import Worker
from coati.harvesting.site_crawls import site_settings
from coati.harvesting.sites import sites_of
from coati.live.progress import Event, EventKind
from coati.live.running import crawl_many
from coati.live.site_turns import SiteTurns, Usage
from coati.live.stop_signal import StopSignal
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_file import to_toml_values, with_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.testing.server import SiteServer, serve
from tests.fleet.test_client import make
from tests.waiting import wait_until

LONG = SliceTimes(publish=1e6, term=1e6, patience=0.0, grace=1e6)


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(make(5)) as served:
        yield served


@pytest.fixture
def order(server: SiteServer) -> SliceOrder:
    settings = with_values(RunSettings(), {"types": "data", "delay": 0.0, "stop_when_dry": "off"})
    (site,) = sites_of([server.url])
    store = f"memory://{uuid.uuid4().hex}"
    return SliceOrder(store=store, site=site, settings=settings, requests=12, times=LONG)


def chain(order: SliceOrder) -> Chain:
    return Chain(open_store(order.store), order.place)


def lease_of(order: SliceOrder) -> Lease:
    lease = Leases(open_store(order.store), "").newest(lease_name(order.site.urls[0]))
    assert lease is not None
    return lease


def test_a_slice_spends_its_requests_and_gives_the_site_back(order: SliceOrder, tmp_path: Path) -> None:
    first = run_slice(order, Worker("first", scratch=tmp_path))
    assert (first.end, first.requests, first.by) == (SliceEnd.CRAWLED, 12, "first")
    assert lease_of(order).released
    second = run_slice(order, Worker("second"))
    assert (second.requests, second.state.requests) == (12, 24)
    assert second.state.promises.promise is not None
    newest = chain(order).newest()
    assert newest is not None
    assert (newest.slices, newest.owner, newest.state) == (2, "second", second.state)
    # Nothing is left on the machine of the worker.
    assert list(tmp_path.iterdir()) == []


def test_a_slice_whose_result_was_lost_is_not_crawled_twice(order: SliceOrder) -> None:
    first = run_slice(replace(order, known_requests=0), Worker("first"))
    assert first.requests == 12
    again = run_slice(replace(order, known_requests=0), Worker("second"))
    assert (again.end, again.requests, again.state.requests) == (SliceEnd.CRAWLED, 0, 12)
    # One that died on the way had published a part.
    rest = run_slice(replace(order, known_requests=5), Worker("third"))
    assert (rest.requests, rest.state.requests) == (5, 17)


def test_a_crawl_that_rests_is_continued_where_it_is(order: SliceOrder, server: SiteServer) -> None:
    resting = RestingCrawls()
    worker = Worker("first", resting=resting)
    before = len(server.requests)
    first = run_slice(order, worker)
    second = run_slice(order, worker)
    assert (first.requests, second.requests, second.state.requests) == (12, 12, 24)
    assert second.state.stop_reason is None
    # It is one session of one crawl: the rules of the site are asked for once, and no page twice.
    asked = [seen.url for seen in server.requests[before:]]
    assert len(asked) == len(set(asked)) == 25
    # Somebody else continues from the store, and then what rests here is out of date.
    assert run_slice(order, Worker("second")).state.requests == 36
    fourth = run_slice(order, worker)
    assert (fourth.state.requests, fourth.by) == (48, "first")
    asked = [seen.url for seen in server.requests[before:] if not seen.url.endswith("/robots.txt")]
    assert len(asked) == len(set(asked)) == 48
    resting.close()


def test_a_site_promises_what_it_does_in_a_harvest_on_one_machine(order: SliceOrder, tmp_path: Path) -> None:
    worker, elsewhere = Worker("here", resting=RestingCrawls()), Worker("elsewhere")
    for where in (worker, worker, elsewhere):
        state = run_slice(order, where).state
    worker.resting.close()
    choice = SiteChoice()
    choice.resume(0, state.requests, state.targets, state.promises)
    assert min(state.promises.promised, state.promises.came) > 0
    turns = SiteTurns(Budget(max_requests=state.requests), at_once=1)
    settings = site_settings(order.settings, order.site, order.per_site)
    with RunStore.create(tmp_path / "run", to_toml_values(settings), 0.0) as store:
        plan = crawl_plan(settings, CrawlResources(store=store))
        crawl_many([replace(plan, turns=turns.of(0))])
    assert turns.spent.targets == state.targets
    assert turns.value(0) == choice.value(0)


def test_a_crawl_that_rests_can_be_ended(order: SliceOrder, tmp_path: Path) -> None:
    resting = RestingCrawls()
    worker = Worker(scratch=tmp_path, resting=resting)
    last = replace(order, requests=0, ends=StopReason.BUDGET_REQUESTS)
    run_slice(order, worker)
    assert not open_store(order.store).exists(f"{order.place}/report.html")
    ended = run_slice(last, worker)
    assert (ended.requests, ended.state.requests) == (0, 12)
    assert ended.state.stop_reason == StopReason.BUDGET_REQUESTS
    assert not ended.state.done
    assert open_store(order.store).exists(f"{order.place}/report.html")
    assert list(tmp_path.iterdir()) == []
    # Also where it rests nowhere any more.
    run_slice(order, worker)
    resting.close()
    assert list(tmp_path.iterdir()) == []
    ended = run_slice(last, worker)
    assert (ended.state.requests, ended.state.stop_reason) == (24, StopReason.BUDGET_REQUESTS)


def test_of_many_crawls_those_that_rest_longest_are_let_go(order: SliceOrder, tmp_path: Path) -> None:
    resting = RestingCrawls(1)
    worker = Worker(scratch=tmp_path, resting=resting)
    other = replace(order, store=f"memory://{uuid.uuid4().hex}")
    run_slice(order, worker)
    run_slice(other, worker)
    assert resting.take((open_store(order.store).url, order.place)) is None
    assert run_slice(other, worker).state.requests == 24
    resting.close()
    assert list(tmp_path.iterdir()) == []


def test_a_site_that_had_its_share_is_done(order: SliceOrder) -> None:
    order = replace(order, per_site=Budget(max_requests=5))
    first = run_slice(order)
    assert (first.requests, first.state.done) == (5, True)
    again = run_slice(order)
    assert (again.end, again.requests, again.state.done) == (SliceEnd.CRAWLED, 0, True)


def test_a_site_that_turns_out_to_be_done_is_so_in_the_store(order: SliceOrder) -> None:
    run_slice(order)
    # Its share is smaller now, for one.
    run_slice(replace(order, per_site=Budget(max_requests=5)))
    newest = chain(order).newest()
    assert newest is not None
    assert newest.state.done


def test_a_site_that_somebody_else_has_is_left_to_them(order: SliceOrder, server: SiteServer) -> None:
    before = len(server.requests)
    other = Leases(open_store(order.store), "another", 1e6).take(lease_name(order.site.urls[0]), "it")
    held = run_slice(order)
    assert (held.end, held.by) == (SliceEnd.HELD, "another")
    assert held.until == other.lease.expires_at
    assert len(server.requests) == before


def test_a_site_that_is_free_in_a_moment_is_waited_for(order: SliceOrder) -> None:
    pauses: list[float] = []
    lease = Leases(open_store(order.store), "another", 1e6).take(lease_name(order.site.urls[0]), "it")
    lease.release(free_at=lease.lease.taken_at + 1.0)

    def free_it(seconds: float) -> None:
        pauses.append(seconds)
        lease.release(free_at=0.0)

    assert run_slice(order, Worker(pause=free_it)).end is SliceEnd.CRAWLED
    assert 0 < pauses[0] <= 1.0


def die_at(order: SliceOrder, *, claims: bool = True) -> None:
    """Leave what a worker leaves that is killed: a lease that has run out, and a claim if it got so far."""
    store, name = open_store(order.store), lease_name(order.site.urls[0])
    before = Leases(store, "").newest(name)
    number = 1 if before is None else before.number + 1
    lease = Lease(name, number, "a dead one", order.place, 0.0, 0.0)
    store.create(f"leases/{name}/{number:012}", json.dumps(asdict(lease)).encode())
    if claims:
        newest = chain(order).newest() or Manifest(order.site.name, 0, 0, "", 0.0)
        chain(order).add(replace(newest, generation=newest.generation + 1, token=number))
    # Whoever takes the lease over does this.
    note_death(store, lease)


def test_a_site_at_which_workers_die_is_left_alone_after_three(order: SliceOrder, server: SiteServer) -> None:
    store, site = open_store(order.store), order.place
    for _ in range(2):
        die_at(order)
    assert run_slice(order).deaths == 2
    # A slice that ended counts from nothing again.
    assert deaths_at(store, site).all == 0
    for _ in range(3):
        die_at(order)
    before = len(server.requests)
    result = run_slice(order)
    assert (result.end, result.deaths) == (SliceEnd.QUARANTINED, 3)
    assert is_quarantined(store, site)
    assert len(server.requests) == before


def test_a_last_try_that_ends_well_ends_the_quarantine(order: SliceOrder) -> None:
    store, site = open_store(order.store), order.place
    assert not has_last_try(store, site)
    for _ in range(3):
        die_at(order)
    run_slice(order)
    assert has_last_try(store, site)
    # What a store that failed after it had noted the try was asked twice is one try.
    assert use_last_try(store, site, lease_of(order).number + 1, 0.0)
    assert run_slice(replace(order, last_try=True)).end is SliceEnd.CRAWLED
    assert not is_quarantined(store, site)
    assert run_slice(order).end is SliceEnd.CRAWLED


def test_a_last_try_that_ends_in_a_death_was_the_last(
    order: SliceOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, site = open_store(order.store), order.place
    for _ in range(3):
        die_at(order)
    run_slice(order)

    def dies(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("coati.fleet.slice_crawl.SliceCrawl.run", dies)
    with pytest.raises(MemoryError):
        run_slice(replace(order, last_try=True))
    assert is_quarantined(store, site)
    assert not has_last_try(store, site)
    # Nor does another quarantine give it one, nor who asks for the same try again.
    assert run_slice(order).end is SliceEnd.QUARANTINED
    assert run_slice(replace(order, last_try=True)).end is SliceEnd.QUARANTINED
    assert not has_last_try(store, site)


def test_workers_that_die_before_they_crawl_do_not_count_against_the_site(order: SliceOrder) -> None:
    for _ in range(12):
        die_at(order, claims=False)
    result = run_slice(order)
    assert (result.end, result.deaths) == (SliceEnd.CRAWLED, 0)
    for _ in range(12):
        die_at(order, claims=False)
    assert run_slice(order).deaths == 0


def test_deaths_count_in_a_row_while_nothing_is_published_between_them(order: SliceOrder) -> None:
    store, site = open_store(order.store), order.place
    run_slice(replace(order, requests=3), Worker("a"))
    for _ in range(9):
        die_at(order)
        at_one_place = deaths_at(store, site)
        newest = chain(order).newest()
        assert newest is not None
        state = replace(newest.state, requests=newest.state.requests + 1)
        chain(order).add(replace(newest, generation=newest.generation + 1, state=state))
        assert (at_one_place.here, deaths_at(store, site).here) == (1, 0)
        assert not deaths_at(store, site).are_too_many
    die_at(order)
    assert deaths_at(store, site).are_too_many


def forget_lease(order: SliceOrder) -> None:
    lease = lease_of(order)
    open_store(order.store).delete(f"leases/{lease.name}/{lease.number:012}")


class Broken(CrawlThread):
    """A thread on which every crawl fails at once."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def start(self, crawl: Any, stop: StopSignal) -> Future[Any]:  # noqa: ANN401
        crawl.close()
        future: Future[Any] = Future()
        future.set_exception(self._error)
        return future

    def call(self, function: Callable[[], object]) -> None:
        function()


def test_an_error_of_ours_counts_as_a_death_and_frees_the_site(order: SliceOrder) -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        run_slice(order, Worker(thread=lambda: Broken(RuntimeError("a bug"))))
    assert deaths_at(open_store(order.store), order.place) == (1, 1)
    assert lease_of(order).released


class Endless(CrawlThread):
    """A thread on which crawls never end, until the test lets them."""

    def __init__(self) -> None:
        self.future: Future[Any] = Future()
        self.stops: list[StopSignal] = []

    def start(self, crawl: Any, stop: StopSignal) -> Future[Any]:  # noqa: ANN401
        crawl.close()
        self.stops.append(stop)
        return self.future

    def call(self, function: Callable[[], object]) -> None:
        function()


def test_a_slice_that_does_not_end_is_told_to_and_then_ends_the_process(
    order: SliceOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless()

    def end_process() -> None:
        endless.future.set_exception(RuntimeError("the process is gone"))

    order = replace(order, seconds=0.0, times=replace(LONG, grace=0.0, transfer=0.0))
    monkeypatch.setattr("coati.fleet.overtime._LAST_SECONDS", 0.0)
    with pytest.raises(RuntimeError, match="the process is gone"):
        run_slice(order, Worker(thread=lambda: endless, end_process=end_process))


class Site:
    """A crawl as its turns see it."""

    def __init__(self) -> None:
        self.open_count = 1
        self.woken = 0
        self.stopped: StopReason | None = None

    def spent(self) -> Usage:
        return Usage(0, 0, 0)

    def seconds_before(self) -> float:
        return 0.0

    def expects(self) -> float | None:
        return 0.5

    def rests_seconds(self) -> float:
        return 2.0

    def wake(self) -> None:
        self.woken += 1

    def stop(self, reason: StopReason) -> None:
        self.stopped = reason

    def abandon(self) -> None:
        raise AssertionError("slices finish what is in flight")


def test_a_slice_whose_time_is_over_rests_then_ends_and_its_process_ends_if_it_does_not_answer() -> None:
    called: list[Callable[[], object]] = []
    ended: list[float] = []

    class Deaf(Endless):
        """Takes calls, and makes them when the test does."""

        def call(self, function: Callable[[], object]) -> None:
            called.append(function)

    turns, site, rested = turns_of(Site())
    now = 0.0
    worker = Worker(thread=Deaf, end_process=lambda: ended.append(now))
    overtime = Overtime(turns, worker, SliceTimes(grace=10.0, transfer=100.0))
    now += overtime.act(now)
    called.pop()()
    # Something is in flight.
    assert not rested.done()
    now += overtime.act(now)
    called.pop(0)()
    assert site.stopped is StopReason.BUDGET_SECONDS
    # A long transfer continues while the loop answers, and not without end.
    while not ended:
        called.pop()()
        now += overtime.act(now)
    assert 100.0 <= now <= 130.0
    ended.clear()
    overtime.act(now)
    overtime.act(now)
    assert ended


def test_within_a_slice_the_lease_is_renewed_and_the_run_published(
    order: SliceOrder, server: SiteServer, tmp_path: Path
) -> None:
    order = replace(order, requests=60, times=SliceTimes(publish=0.0, term=0.4, patience=5.0, grace=1e6))
    server.hold_after(20)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_slice, order)
        # The claim is the first; the crawl is not done before more were published.
        wait_until(lambda: (newest := chain(order).newest()) is not None and newest.generation > 1)
        server.release()
        result = running.result()
    assert (result.end, result.messages) == (SliceEnd.CRAWLED, ())
    # A generation for the claim, one for the end, and others between.
    assert result.generation > 2
    download_run(open_store(order.store), order.place, tmp_path / "pulled")


def test_one_whose_site_was_taken_over_publishes_nothing(
    order: SliceOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(order.store)
    run_slice(order)
    before = chain(order).newest()

    def take_over(self: ObjectStore, name: str, content: bytes) -> bool:
        made = create(self, name, content)
        if "generations" in name:
            monkeypatch.setattr(ObjectStore, "create", create)
            Leases(store, "another", 60.0, lambda: 1e12).take(lease_of(order).name, order.place)
        return made

    create = ObjectStore.create
    monkeypatch.setattr(ObjectStore, "create", take_over)
    lost = run_slice(order)
    assert lost.end is SliceEnd.LOST
    newest = chain(order).newest()
    assert before is not None
    assert newest is not None
    # The claim came first; nothing else did.
    assert (newest.state, newest.generation) == (before.state, before.generation + 1)


def turns_of(site: Site, requests: int = 10, seconds: float = 1.0) -> tuple[SliceTurns, Site, Future[None]]:
    rested: Future[None] = Future()
    turns = SliceTurns(1.0, Promises())
    turns.add(site)
    turns.begin(requests, lambda: seconds, rested)
    return turns, site, rested


def test_without_its_lease_a_crawl_does_not_ask() -> None:
    turns, *_ = turns_of(Site())
    assert turns.may_choose()
    assert turns.charge(1)
    turns, _, rested = turns_of(Site(), seconds=-1.0)
    assert not turns.may_choose()
    assert not turns.charge(1)
    # What was charged may be given back.
    assert turns.charge(-1)
    assert not rested.done()


def test_a_crawl_rests_when_its_slice_is_spent_and_goes_on_with_the_next() -> None:
    turns, site, rested = turns_of(Site(), requests=2)
    assert turns.may_choose()
    # One is on its way, and one is left for a further attempt.
    assert turns.charge(1)
    assert not turns.charge(1)
    turns.observed(Usage(2, 10, 0))
    assert not turns.may_choose()
    assert rested.done()
    assert (turns.promises, turns.rest_seconds) == (Promises(0.5, 0.5, 0.0), 2.1)
    woken = site.woken
    again: Future[None] = Future()
    turns.begin(1, lambda: 1.0, again)
    assert site.woken == woken + 1
    assert turns.may_choose()
    site.open_count = 0
    turns.spend()
    assert again.done()


def test_the_longest_pace_is_kept() -> None:
    turns = SliceTurns(1.0, Promises())
    for seconds, pace in ((0.5, 1.0), (20.0, 20.0), (1e9, 3600.0)):
        turns.on_event(Event(0.0, EventKind.WAITING, {"seconds": seconds}))
        assert turns.pace_seconds == pace
    turns.on_event(Event(0.0, EventKind.SKIPPED, {"seconds": 5000.0}))
    assert turns.pace_seconds == 3600.0


def test_a_process_has_one_thread_for_crawls_however_many_ask_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = threading.Barrier(8)

    class Slow(CrawlThread):
        """Takes a while to be made."""

        def __init__(self) -> None:
            threading.Event().wait(0.01)

    def ask() -> CrawlThread:
        begin.wait()
        return crawl_thread()

    monkeypatch.setattr("coati.fleet.crawl_thread._only", cache(Slow))
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask) for _ in range(8)]
    assert len({id(one.result()) for one in asked}) == 1


def test_all_slices_of_a_process_can_be_recalled(order: SliceOrder, server: SiteServer) -> None:
    before = len(server.requests)
    server.hold_after(3)
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(run_slice(replace(order, requests=1000))))
    thread.start()
    wait_until(lambda: len(server.requests) == before + 3)
    assert crawl_thread().stop_all() == 1
    server.release()
    thread.join()
    assert results[0].state.stop_reason == "it was interrupted"
    assert not results[0].state.done


def test_a_site_that_could_not_be_reached_begins_again() -> None:
    settings = with_values(RunSettings(), {"types": "data", "delay": 0.0, "limits": {"retries": 0}})
    (site,) = sites_of(["http://127.0.0.99:9/"])
    order = SliceOrder(store=f"memory://{uuid.uuid4().hex}", site=site, settings=settings, times=LONG)
    for slices in (1, 2):
        failed = run_slice(order)
        assert failed.state.stop_reason == "the start page could not be reached"
        assert not failed.state.done
        newest = chain(order).newest()
        assert newest is not None
        assert newest.slices == slices
        forget_lease(order)


def test_what_is_pulled_of_a_crawl_that_rests_lists_all_files(order: SliceOrder, tmp_path: Path) -> None:
    resting = RestingCrawls()
    result = run_slice(replace(order, requests=40), Worker(resting=resting))
    resting.close()
    assert result.state.is_open
    download_run(open_store(order.store), order.place, tmp_path / "pulled")
    listed = (tmp_path / "pulled" / "files.csv").read_text().splitlines()
    assert len(listed) - 1 == result.state.targets > 5
