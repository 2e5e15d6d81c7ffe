"""The client: one budget over many sites on many machines.

Nothing of the choice is saved: what it knows of a site stands in the site's last generation. So a client that
was killed is started again by the same command. One client at a time has the store, by a lease.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Final

from coati.bandits.slice_choice import ChosenSlice, SiteCounts, SliceChoice
from coati.errors import ConfigError
from coati.fleet.client_lease import release_lease, take_client_lease
from coati.fleet.closing import send_once
from coati.fleet.cluster import Cluster, FinishedSlice
from coati.fleet.deaths import MOST_AT_ONE_PLACE, has_last_try, is_quarantined
from coati.fleet.events import FleetEvent, FleetEventKind
from coati.fleet.generations import Chain, RunState
from coati.fleet.harvest import FleetHarvest, FleetHarvested, FleetSite, Listeners, take_store
from coati.fleet.leases import HeldLease, lease_name
from coati.fleet.objects import DamagedObjectError, StoreError, open_store
from coati.fleet.orders import SliceEnd, SliceOrder, SliceResult, WorkerVersionError
from coati.fleet.worker_health import WorkerHealth
from coati.harvesting.sites import HarvestSite
from coati.jobs.progress_bar import PROGRESS_SECONDS, at_most_every
from coati.live.progress import Progress
from coati.live.site_turns import Usage
from coati.stop_reasons import FAILED_STARTS, StopReason

_READERS: Final = 16
# How long a client waits at most before it looks around.
_TICK_SECONDS: Final = 1.0
# How long a slice that could not reach the store waits for its next try.
_STORE_SECONDS: Final = 30.0
# Workers that die are mostly back within this; then it is said that nobody is there.
_WORKER_SECONDS: Final = 15.0

# After these a site is left for another harvest.
_LEFT: Final = FAILED_STARTS | {StopReason.SITE_SILENT}


def harvest_fleet(
    harvest: FleetHarvest, cluster: Cluster, listeners: Listeners | None = None
) -> FleetHarvested:
    """Harvest with a cluster, or resume it where the store holds one; Ctrl-C lets slices end well.

    Raises `ConfigError` for a store that cannot be written, that holds another harvest, or that another
    client writes.
    """
    store = open_store(harvest.store)
    store.check()
    listeners = listeners or Listeners()
    lease = take_client_lease(store, "harvest", harvest.times.term, listeners.on_wait)
    try:
        resumed = take_store(store, harvest.files)
        return FleetClient(harvest, cluster, listeners, lease).run(resumed=resumed)
    finally:
        release_lease(lease)


class FleetClient:
    """Sends slices out and collects their results, until nothing is left or the budget is spent."""

    def __init__(
        self,
        harvest: FleetHarvest,
        cluster: Cluster,
        listeners: Listeners,
        lease: HeldLease,
        sites: Sequence[HarvestSite] | None = None,
    ) -> None:
        self._harvest = harvest
        self._cluster = cluster
        self._listeners = listeners
        self._lease = lease
        self._store = open_store(harvest.store)
        self._sites = harvest.files.sites() if sites is None else sites
        self._numbers = {site.name: number for number, site in enumerate(self._sites)}
        files = harvest.files
        groups = [lease_name(site.urls[0]) for site in self._sites]
        self._choice = SliceChoice(groups, files.settings.budget, harvest.sizes, fair=files.fair)
        self._states = [RunState()] * len(self._sites)
        self._quarantined: set[int] = set()
        # Of these, those that have their last try now.
        self._last_tries: set[int] = set()
        # How often in a row a site was found damaged; and what was, where it is left out for that.
        self._found_damaged: Counter[int] = Counter()
        self._damaged: dict[int, str] = {}
        self._health = WorkerHealth()
        self._sent_at: dict[int, float] = {}
        self._begun = time.monotonic()
        self._renew_at = self._begun + harvest.times.term / 4
        # When it is to be said that there is no worker, unless one is seen until then.
        self._missed_at = self._begun + _WORKER_SECONDS
        self._slices = self._deaths = self._session_requests = self._failures = self._pages = 0
        self._stop: StopReason | None = None
        self._tell_progress = at_most_every(PROGRESS_SECONDS, self._tell_progress_now, at_once=True)

    def run(self, *, resumed: bool) -> FleetHarvested:
        """Harvest to the end."""
        self._read_states()
        try:
            self._run_slices()
            self._give_last_tries()
            self._run_slices()
        except KeyboardInterrupt:
            self._interrupt()
        self._end_crawls()
        self._tell_progress_now()
        stop = self._stop or self._natural_end()
        sites = [
            FleetSite(
                site.name, self._states[number], number in self._quarantined, self._damaged.get(number, "")
            )
            for number, site in enumerate(self._sites)
        ]
        return FleetHarvested(stop, self._store.url, sites, resumed, self._slices, self._deaths)

    def _read_states(self) -> None:
        """Learn where every site stands."""
        with ThreadPoolExecutor(_READERS) as pool:
            found = pool.map(self._first_state, self._sites)
            for number, (state, is_left_alone) in enumerate(found):
                self._states[number] = state
                self._failures += state.failures
                self._pages += state.pages
                if is_left_alone:
                    self._quarantined.add(number)
                self._choice.resume(number, _counts(state), over=state.done or is_left_alone)

    def _first_state(self, site: HarvestSite) -> tuple[RunState, bool]:
        try:
            return self._read_state(site)
        except DamagedObjectError:
            # Others continue. The worker that is sent there finds it, too, and reports it.
            return RunState(start_url=site.urls[0]), False

    def _read_state(self, site: HarvestSite) -> tuple[RunState, bool]:
        newest = Chain(self._store, f"sites/{site.name}").newest()
        state = RunState() if newest is None else newest.state
        return state, is_quarantined(self._store, f"sites/{site.name}")

    def _give_last_tries(self) -> None:
        """Let the sites in quarantine be chosen once more, now that no other is left."""
        for number in sorted(self._quarantined):
            order = self._order(ChosenSlice(number, 0, 0.0, 0.0, is_suspect=True))
            if has_last_try(self._store, order.place):
                self._last_tries.add(number)
                self._choice.reopen(number, time.time())

    def _run_slices(self) -> None:
        while True:
            if self._stop is None:
                limit = self._choice.limit(self._seconds)
                if limit is not None:
                    self._end(StopReason.of_limit(limit))
            is_all_sent = self._send_slices()
            nothing_wakes = self._stop is not None or self._choice.wakes_at() is None
            if not self._choice.out and is_all_sent and nothing_wakes:
                return
            finished = self._cluster.wait(self._patience())
            if finished is not None:
                self._collect(finished)
            self._do_periodic_work()

    def _end_crawls(self) -> None:
        """End what rests, for the reason that all ended for."""
        reason = self._stop or StopReason.INTERRUPTED
        orders = [
            replace(self._order(ChosenSlice(number, 0, 0.0, 0.0, is_suspect=False)), ends=reason)
            for number, state in enumerate(self._states)
            if state.is_open and number not in self._quarantined and number not in self._damaged
        ]
        with suppress(KeyboardInterrupt):
            send_once(self._cluster, orders, self._collect_ended, self._do_periodic_work)

    def _collect_ended(self, result: SliceResult) -> None:
        if result.end is SliceEnd.CRAWLED:
            self._states[self._numbers[result.site]] = result.state

    def _send_slices(self) -> bool:
        """Send out what there is room for; tells whether nothing is left to be sent now."""
        now = time.time()
        while self._stop is None:
            if self._choice.out >= self._cluster.places():
                return False
            chosen = self._choice.choose(now, max(1, len(self._cluster.workers())))
            if chosen is None:
                return True
            site = self._sites[chosen.site].name
            self._sent_at[chosen.site] = time.monotonic()
            self._tell(FleetEventKind.SENT, site=site, requests=chosen.requests, value=_rounded(chosen.value))
            self._cluster.send(self._order(chosen), apart=chosen.is_suspect)
        return True

    def _order(self, chosen: ChosenSlice) -> SliceOrder:
        return SliceOrder(
            store=self._store.url,
            site=self._sites[chosen.site],
            settings=self._harvest.files.settings,
            per_site=self._harvest.files.per_site,
            requests=chosen.requests,
            known_requests=self._states[chosen.site].requests,
            seconds=self._slice_seconds(chosen.seconds),
            times=self._harvest.times,
            last_try=chosen.site in self._last_tries,
        )

    def _slice_seconds(self, most: float) -> float:
        limit = self._harvest.files.settings.max_time
        return most if limit is None else max(0.1, min(most, limit - self._seconds))

    def _patience(self) -> float:
        wakes_at = self._choice.wakes_at()
        if wakes_at is None or self._choice.out >= self._cluster.places():
            return _TICK_SECONDS
        return max(0.0, min(_TICK_SECONDS, wakes_at - time.time()))

    def _do_periodic_work(self) -> None:
        """Renew the lease, give up overdue slices, and report progress and missing workers."""
        now = time.monotonic()
        if now >= self._renew_at:
            self._renew_at = now + self._harvest.times.term / 4
            try:
                self._lease.renew()
            except StoreError as error:
                self._tell(FleetEventKind.FAILED, error=str(error))
        times = self._harvest.times
        most = self._harvest.sizes.seconds + times.transfer + 2 * times.grace + 2 * times.patience
        for number in [number for number, sent in self._sent_at.items() if now - sent > most]:
            self._give_up_slice(number, "it does not come back")
        if self._cluster.places():
            self._missed_at = now + _WORKER_SECONDS
        elif now >= self._missed_at:
            self._missed_at = math.inf
            self._tell(FleetEventKind.NO_WORKERS)
        self._tell_progress()

    def _collect(self, finished: FinishedSlice) -> None:
        number = self._numbers[finished.site]
        if self._sent_at.pop(number, None) is None:
            # Given up already.
            return
        if finished.result is not None:
            self._take_result(number, finished.result)
        elif isinstance(finished.error, WorkerVersionError | ConfigError):
            raise finished.error
        elif finished.worker_died:
            self._give_up_slice(number, str(finished.error))
        elif isinstance(finished.error, DamagedObjectError):
            self._take_damage(number, str(finished.error))
        elif finished.error is None or isinstance(finished.error, StoreError):
            # The scheduler or the store went away; that says nothing about the site.
            wait = 0.0 if finished.error is None else _STORE_SECONDS
            self._tell(FleetEventKind.FAILED, site=finished.site, error=str(finished.error or "cancelled"))
            self._choice.held(number, time.time(), time.time() + wait, self._lost_counts(number))
        else:
            self._tell(FleetEventKind.FAILED, site=finished.site, error=repr(finished.error))
            self._deaths += 1
            self._choice.died(number, time.time(), time.time(), self._lost_counts(number))

    def _lost_counts(self, number: int) -> SiteCounts:
        """Return how a run stands whose slice brings no result: it may have published something."""
        with suppress(StoreError, DamagedObjectError):
            state, _ = self._read_state(self._sites[number])
            self._take_state(number, state)
        return _counts(self._states[number])

    def _take_state(self, number: int, state: RunState) -> None:
        before = self._states[number]
        self._session_requests += max(0, state.requests - before.requests)
        self._failures += state.failures - before.failures
        self._pages += state.pages - before.pages
        self._states[number] = state

    def _take_result(self, number: int, result: SliceResult) -> None:
        now = time.time()
        match result.end:
            case SliceEnd.CRAWLED:
                # After a last try that ended, a site is one like the others again.
                self._last_tries.discard(number)
                self._quarantined.discard(number)
                self._found_damaged.pop(number, None)
                self._take_crawled(number, result)
            case SliceEnd.HELD | SliceEnd.LOST:
                gone = result.by not in self._cluster.workers() and result.end is SliceEnd.HELD
                self._tell(
                    FleetEventKind.HELD, site=result.site, by=result.by, seconds=_rounded(result.until - now)
                )
                if gone and self._cluster.workers():
                    self._choice.died(number, now, result.until)
                else:
                    self._choice.held(number, now, max(now, result.until))
            case SliceEnd.QUARANTINED:
                self._quarantined.add(number)
                self._tell(FleetEventKind.QUARANTINED, site=result.site, deaths=result.deaths)
                self._choice.end(number)

    def _take_crawled(self, number: int, result: SliceResult) -> None:
        state = result.state
        self._slices += 1
        self._take_state(number, state)
        self._tell(
            FleetEventKind.ENDED,
            site=result.site,
            by=result.by,
            requests=result.requests,
            targets=result.targets,
            seconds=_rounded(result.seconds),
            stop=state.stop_reason,
            done=state.done,
            generation=result.generation,
            messages=list(result.messages),
        )
        self._choice.ended(number, _counts(state), time.time(), state.free_at)
        reached = bool(state.pages or state.targets)
        again = self._health.observe(result.by, result.site, reached=reached)
        for worker in self._health.without_network():
            self._tell(FleetEventKind.LEFT_OUT, worker=worker, why="it reaches no site, and others do")
            self._cluster.leave_out(worker)
        if state.done or (state.stop_reason in _LEFT and not again):
            self._choice.end(number)

    def _give_up_slice(self, number: int, why: str) -> None:
        self._sent_at.pop(number, None)
        self._deaths += 1
        self._tell(FleetEventKind.DIED, site=self._sites[number].name, error=why)
        # The lease of the one that died is still there for a while.
        self._choice.died(number, time.time(), time.time(), self._lost_counts(number))

    def _take_damage(self, number: int, why: str) -> None:
        """Try a damaged site again, as often as one at which workers die, then leave it out.

        Nothing is noted in the store: once it is mended, running the same command again is enough.
        """
        site = self._sites[number].name
        self._found_damaged[number] += 1
        if self._found_damaged[number] < MOST_AT_ONE_PLACE:
            self._tell(FleetEventKind.FAILED, site=site, error=why)
            self._choice.died(number, time.time(), time.time(), self._lost_counts(number))
        else:
            self._damaged[number] = why
            self._tell(FleetEventKind.DAMAGED, site=site, error=why)
            self._choice.end(number)

    def _end(self, reason: StopReason) -> None:
        self._stop = reason
        self._tell(FleetEventKind.STOPPING, reason=reason.value)

    def _interrupt(self) -> None:
        """Let what is out end well; a further Ctrl-C ends at once."""
        self._end(StopReason.INTERRUPTED)
        self._cluster.recall()
        try:
            self._run_slices()
        except KeyboardInterrupt:
            return

    def _natural_end(self) -> StopReason:
        reasons = {state.stop_reason for state in self._states}
        if reasons and reasons <= FAILED_STARTS:
            return StopReason.START_UNREACHABLE
        return StopReason.FINISHED

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _tell_progress_now(self) -> None:
        if self._listeners.on_progress is not None:
            self._listeners.on_progress(self._progress())

    def _progress(self) -> Progress:
        choice, underway = self._choice, self._underway()
        return Progress(
            requests=choice.requests + underway.requests,
            targets=choice.targets + underway.targets,
            bytes=choice.bytes + underway.bytes,
            pages=self._pages + underway.pages,
            failures=self._failures + underway.failures,
            in_flight=choice.out,
            seconds=self._seconds,
            session_requests=self._session_requests + underway.requests,
        )

    def _underway(self) -> Usage:
        """Return what the slices that are out have spent so far, as far as they reported it."""
        reported = self._cluster.underway()
        out = [(self._sites[number].name, self._states[number]) for number in self._sent_at]
        known = [(reported[site], state) for site, state in out if site in reported]
        return Usage(
            sum(max(0, spent.requests - state.requests) for spent, state in known),
            sum(max(0, spent.bytes - state.bytes) for spent, state in known),
            sum(max(0, spent.targets - state.targets) for spent, state in known),
            sum(max(0, spent.pages - state.pages) for spent, state in known),
            sum(max(0, spent.failures - state.failures) for spent, state in known),
        )

    def _tell(self, what: FleetEventKind, **data: object) -> None:
        if self._listeners.on_event is not None:
            self._listeners.on_event(FleetEvent(time.time(), what, data))


def _counts(state: RunState) -> SiteCounts:
    return SiteCounts(state.requests, state.targets, state.bytes, state.promises)


def _rounded(number: float) -> float | None:
    """Return a number rounded for JSON, which has no infinity."""
    return None if number in {float("inf"), float("-inf")} else round(number, 3)
