"""Many sites into one store, by slices in this process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.bandits.slice_choice import SliceSizes
from coati.errors import ConfigError
from coati.fleet import client
from coati.fleet.client import harvest_fleet
from coati.fleet.client_lease import take_client_lease
from coati.fleet.cluster import FinishedSlice, OwnProcess
from coati.fleet.deaths import quarantine
from coati.fleet.downloading import download_run
from coati.fleet.events import FleetEvent
from coati.fleet.generations import RunState
from coati.fleet.harvest import FleetHarvest, FleetHarvested, Listeners
from coati.fleet.leases import Lease, Leases
from coati.fleet.objects import ObjectStore, StoreError, open_store
from coati.fleet.orders import SliceEnd, SliceOrder, SliceResult, WorkerVersionError
from coati.fleet.site_log import site_log
from coati.fleet.slices import run_slice
from coati.fleet.status import fleet_status, write_fleet_report
from coati.fleet.worker import Worker
from coati.harvesting.files_harvest import FilesHarvest, harvest_files
from coati.harvesting.sites import HarvestSite
from coati.live.progress import Progress
from coati.live.site_turns import Usage
from coati.runs.reader import RunReader
from coati.settings.run_file import with_values
from coati.settings.run_settings import RunSettings
from coati.stop_reasons import StopReason
from coati.testing.generator import generate_site
from coati.testing.server import MakeSite, SiteServer, serve
from coati.testing.site_parameters import SiteParameters
from coati.web.rules import Scope

SITES = 4
_BY_SITE = """
SELECT site, sum(charged), sum(new_target::int), count(*), count(DISTINCT id)
FROM read_parquet(?) GROUP BY site
"""
_ALL_TARGETS = "SELECT count(*), count(DISTINCT url), min(object) FROM read_parquet(?)"


def make(number: int) -> MakeSite:
    parameters = SiteParameters(
        pages=30,
        target_share=0.4,
        pages_with_targets=0.3,
        target_bytes=500,
        target_bytes_sd=100,
        page_bytes=1500,
    )
    return lambda base_url: generate_site(parameters, seed=number, base_url=base_url)


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with serve(*[make(number) for number in range(SITES)]) as served:
        yield served


@pytest.fixture
def store_url() -> str:
    return f"memory://{uuid.uuid4().hex}"


def files_harvest(server: SiteServer, out: Path, **settings: object) -> FilesHarvest:
    chosen = with_values(RunSettings(), {"types": "data", "delay": 0.0, "stop_when_dry": "off", **settings})
    return FilesHarvest(urls=tuple(site.start_url for site in server.sites), out=out, settings=chosen)


def harvest(
    files: FilesHarvest, store_url: str, listeners: Listeners | None = None, sizes: SliceSizes | None = None
) -> FleetHarvested:
    cluster = OwnProcess(3)
    try:
        plan = FleetHarvest(files=files, store=store_url, sizes=sizes or SliceSizes(10, 40, 60.0))
        return harvest_fleet(plan, cluster, listeners)
    finally:
        cluster.close()


def hashes(folder: Path) -> dict[str, str]:
    with RunReader(folder) as run:
        return dict(tuple(row) for row in run.connection.execute("SELECT url, sha256 FROM targets"))


def test_slices_bring_what_one_machine_brings(server: SiteServer, store_url: str, tmp_path: Path) -> None:
    files = files_harvest(server, tmp_path / "alone")
    alone = harvest_files(files)
    events: list[FleetEvent] = []
    fleet = harvest(files, store_url, Listeners(on_event=events.append))
    assert fleet.stop.value == "nothing was left to request"
    assert fleet.slices > 2 * SITES
    assert all(site.state.done for site in fleet.sites)
    assert sum(site.state.targets for site in fleet.sites) == sum(site.targets for site in alone.sites) > 20
    for site in fleet.sites:
        download_run(open_store(store_url), f"sites/{site.site}", tmp_path / site.site)
        assert hashes(tmp_path / site.site) == hashes(tmp_path / "alone" / "sites" / site.site)
    ended = [event.data for event in events if event.what.value == "ended"]
    assert sum(int(str(data["requests"])) for data in ended) == sum(
        site.state.requests for site in fleet.sites
    )


def test_a_budget_is_kept_and_a_larger_one_continues(
    server: SiteServer, store_url: str, tmp_path: Path
) -> None:
    first = harvest(files_harvest(server, tmp_path, max_requests=30), store_url)
    assert first.stop.value == "the limit of requests was reached"
    assert sum(site.state.requests for site in first.sites) == 30
    before = len(server.requests)
    second = harvest(files_harvest(server, tmp_path, max_requests=60), store_url)
    assert (second.resumed, sum(site.state.requests for site in second.sites)) == (True, 60)
    # What was asked in the first harvest is not asked again; robots.txt is, once per slice.
    asked = [seen.url for seen in server.requests[before:] if not seen.url.endswith("robots.txt")]
    assert len(asked) == 30
    with pytest.raises(ConfigError, match="other settings: types is 'data' there and 'tables' here"):
        harvest(files_harvest(server, tmp_path, types="tables"), store_url)


def test_a_budget_is_kept_where_results_are_lost(server: SiteServer, store_url: str, tmp_path: Path) -> None:
    lost: set[str] = set()

    class Loses(OwnProcess):
        """Loses what came of the first slice of each site, as if its worker died after it was published."""

        def wait(self, seconds: float) -> FinishedSlice | None:
            finished = super().wait(seconds)
            if finished is None or finished.site in lost:
                return finished
            lost.add(finished.site)
            return FinishedSlice(finished.site, error=ConnectionError("killed"), worker_died=True)

    cluster = Loses(1)
    before = len(server.requests)
    files = files_harvest(server, tmp_path, max_requests=60)
    try:
        fleet = harvest_fleet(
            FleetHarvest(files=files, store=store_url, sizes=SliceSizes(10, 40, 60.0)), cluster
        )
    finally:
        cluster.close()
    assert len(lost) == SITES
    assert sum(site.state.requests for site in fleet.sites) == 60
    asked = [seen.url for seen in server.requests[before:] if not seen.url.endswith("robots.txt")]
    assert len(asked) == 60


class FirstProgress:
    """Holds a server's answers back until progress is told; ``ended`` are slices that ended before that."""

    def __init__(self, server: SiteServer, answers: int) -> None:
        self._server = server
        self.told: Progress | None = None
        self.ended = 0
        self.listeners = Listeners(self._on_progress, self._on_event)
        server.hold_after(answers)

    def _on_progress(self, progress: Progress) -> None:
        if self.told is None and progress.requests:
            self.told = progress
            self._server.release()

    def _on_event(self, event: FleetEvent) -> None:
        if self.told is None and event.what.value == "ended":
            self.ended += 1
            self._server.release()


def test_progress_counts_what_slices_have_done_before_they_end(
    server: SiteServer, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coati.fleet.slice_crawl._REPORT_SECONDS", 0.01)
    first = FirstProgress(server, 2 * SITES + 3)
    files = files_harvest(server, tmp_path, max_requests=60)
    fleet = harvest(files, store_url, first.listeners, SliceSizes(30, 40, 60.0))
    assert first.ended == 0
    assert first.told is not None
    assert 0 < first.told.requests == first.told.session_requests < 2 * SITES + 3
    assert sum(site.state.requests for site in fleet.sites) == 60


def test_progress_counts_only_slices_that_are_out(store_url: str) -> None:
    class Heard(Scripted):
        """Still tells of slices that came back, and of one that another client sent."""

        def underway(self) -> dict[str, Usage]:
            return {"a.org": Usage(50, 0, 0), "elsewhere.org": Usage(7, 0, 0)}

    told: list[Progress] = []
    cluster = Heard(a_org=[crawled("a.org")])
    files = FilesHarvest(
        urls=("https://a.org/",), out=Path(), settings=with_values(RunSettings(), {"types": "data"})
    )
    listeners = Listeners(on_progress=told.append)
    harvested = harvest_fleet(FleetHarvest(files=files, store=store_url), cluster, listeners)
    (site,) = harvested.sites
    assert (told[-1].requests, told[-1].pages) == (10, site.state.pages)


def test_a_slice_that_came_back_is_no_longer_underway() -> None:
    def crawl(order: SliceOrder, worker: Worker) -> SliceResult:
        worker.report(order, Usage(3, 0, 0))
        reported.set()
        gate.wait()
        return crawled(order.site.name)

    reported, gate = threading.Event(), threading.Event()
    cluster = OwnProcess(1, crawl)
    site = HarvestSite("a.org", ("https://a.org/",), Scope.HOST)
    cluster.send(SliceOrder(store="memory://x", site=site, settings=RunSettings()))
    reported.wait()
    assert cluster.underway() == {"a.org": Usage(3, 0, 0)}
    gate.set()
    assert cluster.wait(60.0) is not None
    assert cluster.underway() == {}
    cluster.close()


def test_everything_can_be_read_as_one_table(server: SiteServer, tmp_path: Path) -> None:
    import duckdb

    store_url = str(tmp_path / "store")
    fleet = harvest(files_harvest(server, tmp_path / "x", max_requests=60), store_url)
    sites = write_fleet_report(open_store(store_url), fleet.sites, fleet.stop.value)
    with duckdb.connect() as connection:
        requests = connection.execute(_BY_SITE, [f"{store_url}/tables/requests/*/*.parquet"]).fetchall()
        targets = connection.execute(_ALL_TARGETS, [f"{store_url}/tables/targets/*/*.parquet"]).fetchall()
    assert {(site, asked, new) for site, asked, new, _, _ in requests} == {
        (site.site, site.requests, site.targets) for site in sites
    }
    assert all(rows == distinct for *_, rows, distinct in requests)
    assert targets[0][:2] == (sum(site.targets for site in sites),) * 2
    assert (tmp_path / "store" / targets[0][2]).is_file()
    report = (tmp_path / "store" / "report.html").read_text()
    for site in sites:
        assert f"sites/{site.site}/report.html" in report
        assert (tmp_path / "store" / "sites" / site.site / "report.html").is_file()
    rows = site_log(open_store(store_url), sites[0].site, 5)
    assert len(rows) == 5
    assert rows == site_log(open_store(store_url), sites[0].site, 1000)[-5:]


def test_a_status_tells_how_a_store_stands(server: SiteServer, store_url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no harvest"):
        fleet_status(open_store(store_url))
    harvest(files_harvest(server, tmp_path, max_requests=40), store_url)
    lease = Leases(open_store(store_url), "worker 7").take("127.0.0.1", "some site")
    status = fleet_status(open_store(store_url))
    assert status.client is None
    assert [lease.owner for lease in status.leases] == ["worker 7"]
    assert sum(site.summary.requests for site in status.sites) == 40
    assert all(site.slices >= 1 for site in status.sites)
    lease.release()
    assert fleet_status(open_store(store_url)).leases == []
    later = status.looked_at + 10.0
    harvest(files_harvest(server, tmp_path, max_requests=60), store_url)
    since = fleet_status(open_store(store_url), now=later).since(status)
    assert (since.seconds, since.requests_per_second) == (10.0, 2.0)
    assert 0 < since.sites_published <= SITES


class Scripted:
    """Slices that end as a test wants: each site has a list of what happens to its slices."""

    def __init__(self, **script: list[SliceResult | Exception]) -> None:
        self.script = {name.replace("_", "."): list(steps) for name, steps in script.items()}
        self.orders: list[SliceOrder] = []
        self.gone: set[str] = set()
        self._finished: list[FinishedSlice] = []

    def places(self) -> int:
        return 4

    def workers(self) -> set[str]:
        return {"w1", "w2"}

    def send(self, order: SliceOrder, *, apart: bool = False) -> None:
        self.orders.append(order)
        step = self.script[order.site.name].pop(0)
        if isinstance(step, Exception):
            died = isinstance(step, ConnectionError)
            self._finished.append(FinishedSlice(order.site.name, error=step, worker_died=died))
        else:
            self._finished.append(FinishedSlice(order.site.name, step))

    def wait(self, seconds: float) -> FinishedSlice | None:
        assert seconds < 2
        return self._finished.pop(0) if self._finished else None

    def underway(self) -> dict[str, Usage]:
        return {}

    def recall(self) -> None:
        pass

    def leave_out(self, worker: str) -> None:
        self.gone.add(worker)

    def close(self) -> None:
        pass


def crawled(site: str, by: str = "w1", **state: object) -> SliceResult:
    known = {"start_url": f"https://{site}/", "requests": 10, "pages": 5, "done": True}
    run_state = RunState(**{**known, **state})  # type: ignore[arg-type]
    return SliceResult(site=site, end=SliceEnd.CRAWLED, by=by, state=run_state, requests=10)


def scripted_harvest(
    cluster: Scripted, store_url: str, events: list[FleetEvent] | None = None, **settings: object
) -> FleetHarvested:
    files = FilesHarvest(
        urls=tuple(f"https://{name}/" for name in cluster.script),
        out=Path(),
        settings=with_values(RunSettings(), {"types": "data", **settings}),
    )
    listeners = Listeners(on_event=None if events is None else events.append)
    return harvest_fleet(FleetHarvest(files=files, store=store_url), cluster, listeners)


def kinds(events: list[FleetEvent], site: str) -> list[str]:
    return [event.what.value for event in events if event.data.get("site") == site]


def test_a_slice_whose_worker_died_is_sent_again(store_url: str) -> None:
    cluster = Scripted(
        a_org=[ConnectionError("killed"), crawled("a.org")],
        b_org=[StoreError("away"), crawled("b.org")],
        c_org=[
            SliceResult(site="c.org", end=SliceEnd.HELD, by="a dead one", until=0.0),
            SliceResult(site="c.org", end=SliceEnd.LOST, by="w1"),
            ValueError("a bug"),
            SliceResult(site="c.org", end=SliceEnd.QUARANTINED, by="w1", deaths=3),
        ],
    )
    events: list[FleetEvent] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coati.fleet.client._STORE_SECONDS", 0.0)
        fleet = scripted_harvest(cluster, store_url, events)
    assert kinds(events, "a.org") == ["sent", "died", "sent", "ended"]
    assert kinds(events, "b.org") == ["sent", "failed", "sent", "ended"]
    assert kinds(events, "c.org") == ["sent", "held", "sent", "held", "sent", "failed", "sent", "quarantined"]
    assert [(site.site, site.quarantined) for site in fleet.sites] == [
        ("a.org", False),
        ("b.org", False),
        ("c.org", True),
    ]
    assert fleet.deaths == 2
    assert all(json.loads(event.line())["what"] == event.what.value for event in events)


class Quarantines(Scripted):
    """Leaves sites alone as workers do; ``tried`` has how many slices were out at each last try."""

    def __init__(self, **script: list[SliceResult | Exception]) -> None:
        super().__init__(**script)
        self.tried: list[tuple[bool, int]] = []

    def send(self, order: SliceOrder, *, apart: bool = False) -> None:
        result = self.script[order.site.name][0]
        if isinstance(result, SliceResult) and result.end is SliceEnd.QUARANTINED:
            quarantine(open_store(order.store), order.place, 3, 0.0)
        super().send(order, apart=apart)
        if order.last_try:
            self.tried.append((apart, len(self._finished)))


def left_alone(site: str) -> SliceResult:
    return SliceResult(site=site, end=SliceEnd.QUARANTINED, by="w1", deaths=3)


def held(site: str) -> SliceResult:
    return SliceResult(site=site, end=SliceEnd.HELD, by="a dead one", until=0.0)


def test_a_site_in_quarantine_gets_a_last_try_when_all_others_are_over(store_url: str) -> None:
    cluster = Quarantines(
        # Not only the first slice after it is waited for.
        a_org=[
            left_alone("a.org"),
            crawled("a.org", done=False),
            held("a.org"),
            ConnectionError("killed"),
            crawled("a.org", requests=20),
        ],
        b_org=[crawled("b.org", done=False), crawled("b.org", requests=20)],
        # One whose worker dies is asked about again, and the store tells that its try is used up.
        c_org=[left_alone("c.org"), held("c.org"), ConnectionError("killed"), left_alone("c.org")],
    )
    fleet = scripted_harvest(cluster, store_url)
    sent = [(order.site.name, order.last_try) for order in cluster.orders]
    assert [last_try for _, last_try in sent[:4]] == [False] * 4
    assert [last_try for site, last_try in sent if site == "a.org"] == [False, True, False, False, False]
    assert [last_try for site, last_try in sent if site == "c.org"] == [False, True, True, True]
    assert [(site.site, site.quarantined, site.state.done) for site in fleet.sites] == [
        ("a.org", False, True),
        ("b.org", False, True),
        ("c.org", True, False),
    ]


def test_each_last_try_has_a_worker_to_itself(store_url: str) -> None:
    sites = [f"s{number}.org" for number in range(5)]
    script: dict[str, list[SliceResult | Exception]] = {
        site.replace(".", "_"): [left_alone(site), ConnectionError("killed"), left_alone(site)]
        for site in sites
    }
    cluster = Quarantines(**script)
    fleet = scripted_harvest(cluster, store_url)
    assert [site.quarantined for site in fleet.sites] == [True] * 5
    assert len(cluster.tried) == 10
    assert all(apart for apart, _ in cluster.tried)
    assert max(out for _, out in cluster.tried) == len(cluster.workers())


def test_workers_that_are_not_there_are_waited_for(store_url: str) -> None:
    class Late(Scripted):
        """Has no worker at first."""

        looks = 0

        def places(self) -> int:
            self.looks += 1
            return 0 if self.looks < 5 else 1

    cluster = Late(a_org=[crawled("a.org")])
    assert scripted_harvest(cluster, store_url).slices == 1
    assert cluster.looks >= 5


def test_it_says_once_that_no_worker_is_there_and_again_when_all_are_gone_again(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(Scripted):
        """Has no worker before each slice until it was waited for three times."""

        waits = 0

        def places(self) -> int:
            return 1 if self.waits >= 3 else 0

        def wait(self, seconds: float) -> FinishedSlice | None:
            finished = super().wait(seconds)
            self.waits += 1
            if finished is not None and self.script["a.org"]:
                self.waits = 0
            return finished

    monkeypatch.setattr(client, "_WORKER_SECONDS", 0.0)
    events: list[FleetEvent] = []
    cluster = Gone(a_org=[crawled("a.org", done=False), crawled("a.org")])
    assert scripted_harvest(cluster, store_url, events).slices == 2
    assert [event.what.value for event in events] == 2 * ["no_workers", "sent", "ended"]


def test_workers_of_another_version_end_it_before_anything_runs(store_url: str) -> None:
    error = WorkerVersionError("a worker has Coati 0.0")
    with pytest.raises(WorkerVersionError, match="has Coati"):
        scripted_harvest(Scripted(a_org=[error]), store_url)
    order = SliceOrder(
        store=store_url,
        site=HarvestSite("a.org", ("https://a.org/",), Scope.HOST),
        settings=RunSettings(),
        coati="0",
    )
    with pytest.raises(WorkerVersionError, match="and 0 was asked for"):
        run_slice(order)
    assert open_store(store_url).names("leases/a.org") == []


def test_a_worker_without_the_network_is_left_out_and_its_sites_are_tried_again(store_url: str) -> None:
    lost = {"pages": 0, "done": False, "stop_reason": "the start page could not be reached"}
    sites = [f"s{number}.org" for number in range(5)]
    script: dict[str, list[SliceResult | Exception]] = {"good_org": [crawled("good.org", by="w1")]}
    for site in sites:
        script[site.replace(".", "_")] = [crawled(site, by="w2", **lost), crawled(site, by="w1")]
    cluster = Scripted(**script)
    fleet = scripted_harvest(cluster, store_url)
    assert cluster.gone == {"w2"}
    assert all(site.state.done for site in fleet.sites)


def test_where_nobody_is_reached_it_says_so(store_url: str) -> None:
    lost = crawled("a.org", pages=0, done=False, stop_reason="the start page could not be reached")
    fleet = scripted_harvest(Scripted(a_org=[lost, lost]), store_url)
    assert fleet.stop.exit_code == 3


def test_two_sites_of_one_domain_are_not_out_at_once(store_url: str) -> None:
    cluster = Scripted(a_x_org=[crawled("a.x.org")], b_x_org=[crawled("b.x.org")], y_org=[crawled("y.org")])
    events: list[FleetEvent] = []
    scripted_harvest(cluster, store_url, events)
    told = [(event.what.value, event.data["site"]) for event in events if event.what.value != "stopping"]
    assert told.index(("ended", "a.x.org")) < told.index(("sent", "b.x.org"))


def test_a_second_client_is_refused_by_name(store_url: str) -> None:
    store = open_store(store_url)
    alive = Leases(store, "ann@elsewhere:1", 60.0).take("coati-client", "harvest")
    waited: list[float] = []

    def renewed_meanwhile(seconds: float) -> None:
        waited.append(seconds)
        alive.renew()

    with pytest.raises(
        ConfigError, match=r"written by another client: ann@elsewhere:1, since .* for a harvest"
    ):
        take_client_lease(store, "harvest", 60.0, pause=renewed_meanwhile)
    # It lives, and that is seen soon.
    assert 0 < sum(waited) <= 5


def test_the_lease_of_a_client_that_died_is_taken_over(store_url: str) -> None:
    store = open_store(store_url)
    now = 1000.0
    Leases(store, "ann@elsewhere:1", 60.0, lambda: now).take("coati-client", "harvest")
    heard: list[Lease] = []

    def time_goes_by(seconds: float) -> None:
        nonlocal now
        now += seconds

    lease = take_client_lease(store, "harvest", 60.0, heard.append, time_goes_by, lambda: now)
    assert ([held.owner for held in heard], now) == (["ann@elsewhere:1"], 1060.0)
    lease.release()
    # One of this machine that is gone is not waited for.
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    Leases(store, f"ann@{socket.gethostname()}:{process.pid}", 60.0).take("coati-client", "harvest")
    take_client_lease(store, "harvest", 60.0, heard.append).release()
    assert len(heard) == 1


def test_a_client_that_ends_while_it_is_waited_for_is_followed_at_once(store_url: str) -> None:
    store = open_store(store_url)
    now = 1000.0
    before = Leases(store, "ann@elsewhere:1", 60.0, lambda: now).take("coati-client", "harvest")

    def time_goes_by(seconds: float) -> None:
        nonlocal now
        now += seconds
        before.release()

    take_client_lease(store, "harvest", 60.0, pause=time_goes_by, clock=lambda: now).release()
    assert now == 1005.0


def test_one_whose_store_goes_away_says_so_and_not_that_its_lease_is_lost(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(Scripted):
        """The store goes away with the first slice, and the client gives up."""

        def send(self, order: SliceOrder, *, apart: bool = False) -> None:
            monkeypatch.setattr(ObjectStore, "names", away)
            raise ConfigError("nothing goes any more")

    def away(*_: object) -> list[str]:
        raise StoreError("away")

    with pytest.raises(ConfigError, match="nothing goes any more"):
        scripted_harvest(Away(a_org=[]), store_url)


def test_an_interrupted_harvest_takes_in_what_is_out(store_url: str) -> None:
    class Interrupted(Scripted):
        """Somebody presses Ctrl-C while the first slice is out."""

        recalled = 0

        def wait(self, seconds: float) -> FinishedSlice | None:
            if not self.recalled:
                raise KeyboardInterrupt
            return super().wait(seconds)

        def recall(self) -> None:
            self.recalled += 1

    ended = crawled("a.org", done=False, stop_reason="it was interrupted")
    cluster = Interrupted(a_org=[crawled("a.org", done=False), ended])
    fleet = scripted_harvest(cluster, store_url)
    assert (fleet.stop, cluster.recalled) == (StopReason.INTERRUPTED, 1)
    assert (fleet.sites[0].state, fleet.slices) == (ended.state, 1)
    # What rests is ended, too.
    assert [order.ends for order in cluster.orders] == [None, StopReason.INTERRUPTED]


def test_what_rests_is_left_as_it_is_where_no_worker_is_left(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(Scripted):
        """Loses its workers after the first slice."""

        def places(self) -> int:
            return 0 if self.orders else 4

    monkeypatch.setattr("coati.fleet.closing._WORKER_SECONDS", 0.0)
    cluster = Gone(a_org=[crawled("a.org", done=False)])
    fleet = scripted_harvest(cluster, store_url, max_requests=10)
    assert (fleet.stop, len(cluster.orders)) == (StopReason.BUDGET_REQUESTS, 1)


def test_at_the_end_of_the_budget_what_rests_is_ended_one_site_per_domain(store_url: str) -> None:
    over = {"done": False, "stop_reason": "the limit of requests was reached"}
    script: dict[str, list[SliceResult | Exception]] = {
        name.replace(".", "_"): [crawled(name, done=False), crawled(name, "w1", **over)]
        for name in ("a.x.org", "b.x.org", "y.org")
    }
    cluster = Scripted(**script)
    fleet = scripted_harvest(cluster, store_url, max_requests=30)
    assert fleet.stop is StopReason.BUDGET_REQUESTS
    assert [site.state.stop_reason for site in fleet.sites] == ["the limit of requests was reached"] * 3
    last = [order.site.name for order in cluster.orders if order.ends is StopReason.BUDGET_REQUESTS]
    assert last == ["a.x.org", "y.org", "b.x.org"]
