"""A slice of one site's crawl: what a worker does, from taking the run out of the store to putting it back.

The site's lease comes first, the run of the last generation next. Then it is crawled (`slice_crawl`) and
published, its rows go into tables, and the lease is released. A worker may die between any two of these:
the next worker continues from the last generation.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from coati.fleet.deaths import (
    Deaths,
    deaths_at,
    end_quarantine,
    forget_deaths,
    note_death,
    quarantine,
    use_last_try,
)
from coati.fleet.downloading import download_for_crawl
from coati.fleet.generations import Chain, ChainBrokenError, Manifest, RunState
from coati.fleet.leases import HeldLease, LeaseHeldError, LeaseLostError, Leases, lease_name
from coati.fleet.objects import DamagedObjectError, StoreError, open_store
from coati.fleet.orders import SliceEnd, SliceOrder, SliceResult, require_version
from coati.fleet.parquet_tables import write_tables
from coati.fleet.publishing import Publisher, StoredRun
from coati.fleet.site_crawl import SiteCrawl
from coati.fleet.slice_crawl import SliceCrawl
from coati.fleet.slice_watch import SliceWatch
from coati.fleet.store_retries import StoreRetries
from coati.fleet.worker import Worker
from coati.harvesting.site_crawls import site_settings
from coati.runs.reader import RunReader

# A site that is free again so soon is waited for.
_SHORT_WAIT: Final = 3.0


def run_slice(order: SliceOrder, worker: Worker | None = None) -> SliceResult:
    """Crawl one slice of a site.

    Raises `WorkerVersionError` before anything happens if the versions differ, `StoreError` if the store
    stays away for longer than the order's patience, and `DamagedObjectError` if an object that the slice
    needs is damaged.
    """
    require_version(order)
    return _Slice(order, worker or Worker()).run()


class _Slice:
    """One slice while it runs."""

    def __init__(self, order: SliceOrder, worker: Worker) -> None:
        self._order = order
        self._worker = worker
        self._store = open_store(order.store)
        self._chain = Chain(self._store, order.place)
        self._retries = StoreRetries(order.times.patience, pause=worker.pause)

    def run(self) -> SliceResult:
        name = self._order.site.name
        try:
            lease = self._take_lease()
        except LeaseHeldError as held:
            until = held.lease.takes_until()
            return SliceResult(site=name, end=SliceEnd.HELD, by=held.lease.owner, until=until)
        try:
            return self._run_or_release(lease)
        except (LeaseLostError, ChainBrokenError) as lost:
            return SliceResult(site=name, end=SliceEnd.LOST, by=self._worker.name, messages=(str(lost),))

    def _run_or_release(self, lease: HeldLease) -> SliceResult:
        """Run the slice; where the run is damaged, the site is free at once for others of its domain."""
        try:
            return self._run_with(lease)
        except DamagedObjectError:
            # Who has lost the lease may have missed parts that its new holder had no use for.
            self._retries.run(lease.release)
            raise

    def _take_lease(self) -> HeldLease:
        order = self._order
        leases = Leases(self._store, self._worker.name, order.times.term)
        name = lease_name(order.site.urls[0])
        while True:
            try:
                return self._retries.run(lambda: leases.take(name, order.place, order.settings.delay))
            except LeaseHeldError as held:
                seconds = held.lease.takes_until() - time.time()
                if not held.lease.released or seconds > _SHORT_WAIT:
                    raise
            self._worker.pause(max(0.0, seconds))

    def _run_with(self, lease: HeldLease) -> SliceResult:
        deaths = self._retries.run(lambda: self._count_deaths(lease))
        left_alone = not self._uses_last_try(lease) if self._order.last_try else deaths.are_too_many
        if left_alone:
            return self._quarantine(lease, deaths.all)
        crawl = self._site_crawl()
        kept = False
        try:
            result = self._crawl(crawl, lease)
            kept = self._keep(crawl)
        finally:
            if not kept:
                crawl.remove()
        if self._order.last_try:
            end_quarantine(self._store, self._order.place)
        elif deaths.all:
            forget_deaths(self._store, self._order.place)
        return replace(result, deaths=deaths.all)

    def _count_deaths(self, lease: HeldLease) -> Deaths:
        if lease.left_by is not None:
            note_death(self._store, lease.left_by)
        return deaths_at(self._store, self._order.place)

    def _uses_last_try(self, lease: HeldLease) -> bool:
        """Use the last try of a site; False if somebody had it, and died at it."""
        return self._retries.run(
            lambda: use_last_try(self._store, self._order.place, lease.number, time.time())
        )

    def _quarantine(self, lease: HeldLease, deaths: int) -> SliceResult:
        site = self._order.site.name
        quarantine(self._store, self._order.place, deaths, time.time())
        lease.release()
        newest = self._chain.newest()
        state = RunState() if newest is None else newest.state
        return SliceResult(
            site=site, end=SliceEnd.QUARANTINED, by=self._worker.name, state=state, deaths=deaths
        )

    def _site_crawl(self) -> SiteCrawl:
        """Return the crawl that rests here, if the run was not published since, or one out of the store."""
        order = self._order
        settings = site_settings(order.settings, order.site, order.per_site)
        newest = self._retries.run(self._chain.newest)
        resting = self._worker.resting.take(self._name)
        if resting is not None:
            fits = (resting.settings, resting.per_site) == (settings, order.per_site)
            if fits and newest is not None and newest.generation == resting.publisher.manifest.generation:
                return resting
            resting.remove()
        scratch = tempfile.TemporaryDirectory(prefix="coati-slice-", dir=self._worker.scratch)
        try:
            folder = Path(scratch.name) / "run"
            folder.mkdir()
            base = self._retries.run(lambda: self._take_run(newest, folder))
            if base.manifest.database:
                # Whoever ended the last slice may have died before this.
                with RunReader(folder) as run:
                    log = run.connection
                    self._retries.run(lambda: write_tables(self._store, order.place, base.manifest, log))
        except BaseException:
            scratch.cleanup()
            raise
        publisher = Publisher(self._chain, folder, Path(scratch.name), base)
        return SiteCrawl(settings, order.per_site, publisher, scratch)

    def _crawl(self, crawl: SiteCrawl, lease: HeldLease) -> SliceResult:
        self._retries.run(
            lambda: crawl.publisher.claim(lease.number, self._worker.name, lease.lease.taken_at)
        )
        kind = SliceCrawl if self._order.watch is None else SliceWatch
        try:
            return kind(self._order, lease, crawl, self._retries).run(self._worker)
        except (LeaseLostError, ChainBrokenError, StoreError, DamagedObjectError):
            raise
        except Exception:
            # Ours, or the machine's: it counts as a death, so that it does not continue for ever.
            note_death(self._store, lease.lease)
            lease.release(time.time() + crawl.turns.pace_seconds)
            raise

    def _keep(self, crawl: SiteCrawl) -> bool:
        """Keep a crawl that is still open for its next slice; tells whether it is."""
        if crawl.rests:
            self._worker.resting.put(self._name, crawl)
        return crawl.rests

    @property
    def _name(self) -> tuple[str, str]:
        return self._store.url, self._order.place

    def _take_run(self, newest: Manifest | None, folder: Path) -> StoredRun:
        """Take the run as it was published last, or begin one."""
        nothing = Manifest(self._order.site.name, 0, 0, "", 0.0)
        if newest is None:
            return StoredRun(nothing, [], set())
        state = newest.state
        if not newest.database or (state.stop_reason and not state.pages and not state.targets):
            # A site that could not be reached begins again.
            return StoredRun(replace(nothing, generation=newest.generation, slices=newest.slices), [], set())
        return download_for_crawl(self._chain, newest, folder)
