"""Slices on dask.distributed: it transports, schedules and restarts; here is only the way to it."""

from __future__ import annotations

import contextlib
import math
import queue
import re
import signal
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coati.errors import ConfigError
from coati.fleet.cluster import FinishedSlice
from coati.fleet.crawl_thread import crawl_thread
from coati.fleet.local_workers import LocalWorkers
from coati.fleet.orders import SliceOrder, SliceResult
from coati.fleet.site_crawl import RestingCrawls
from coati.fleet.slices import run_slice
from coati.fleet.worker import Worker
from coati.garbage_collection import spare_imported_modules
from coati.live.site_turns import Usage
from coati.version import __version__

if TYPE_CHECKING:
    from distributed import Client, Future

_LOCAL = re.compile(r"local:([1-9]\d{0,3})\Z")
_CONNECT_SECONDS: Final = 60.0
_RECONNECT_SECONDS: Final = 600.0
# Slices mostly wait for their sites, so that a worker takes many.
_SLICES_PER_WORKER: Final = 16
# The crawls that rest in the process of a worker.
_RESTING: Final = RestingCrawls()
# How often the list of workers is refreshed.
_LOOK_SECONDS: Final = 2.0
# What workers report of running slices; nothing waits for it.
_UNDERWAY: Final = "coati-underway"
# A slice whose worker is gone comes back within this, or Dask has nobody whom it would give it to.
_STRANDED_SECONDS: Final = 15.0


def starts_here(address: str) -> bool:
    """Tell whether a cluster is started by us; raises `ConfigError` for an address that names none."""
    if _LOCAL.match(address) is None and "://" not in address:
        raise ConfigError(
            f"there is no cluster {address!r}: use local:2 for two processes on this machine, or"
            " the address of a Dask scheduler, such as tcp://scheduler:8786"
        )
    return _LOCAL.match(address) is not None


def slice_task(order: SliceOrder) -> SliceResult:
    """Crawl a slice on a worker of Dask."""
    from distributed import get_worker

    dask_worker = get_worker()
    # Dask removes what dead workers leave in its folders.
    scratch = Path(dask_worker.local_directory)

    def report(order: SliceOrder, spent: Usage) -> None:
        dask_worker.log_event(_UNDERWAY, [order.store, order.site.name, *spent])

    worker = Worker(name=dask_worker.address, scratch=scratch, resting=_RESTING, report=report)
    return run_slice(order, worker)


def coati_version() -> str:
    """Return the version of Coati on a worker."""
    return __version__


def stop_slices() -> int:
    """End the slices of a worker."""
    return crawl_thread().stop_all()


def load_libraries() -> None:
    """Load what slices need, before the first one comes: it takes seconds, which no lease should wait for."""
    for name in ("coati.live.running", "pyarrow.parquet"):
        import_module(name)
    spare_imported_modules()


def _ignore_interrupts() -> None:
    # A terminal sends Ctrl-C to all processes; the client then recalls what the workers do.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class DaskCluster:
    """A cluster of Dask: ``local:N`` starts one of N processes, ``tcp://…`` is one that runs.

    Raises `ConfigError` where there is none, and where a worker has another version of Coati.
    """

    def __init__(self, address: str, at_once: int | None = None) -> None:
        self._address = address
        self._at_once = at_once
        self._local: LocalWorkers | None = None
        self._exits = contextlib.ExitStack()
        self._finished: queue.Queue[FinishedSlice] = queue.Queue()
        self._left_out: set[str] = set()
        # Slices that are out and have a worker of their own, apart from others or because the crawl rests
        # there; and where each crawl rests.
        self._apart: dict[str, str] = {}
        self._pinned: dict[str, str] = {}
        self._rests_at: dict[str, str] = {}
        # What is out to certain workers only, to whom, and since when all of these are gone.
        self._futures: dict[str, tuple[Future[SliceResult], list[str]]] = {}
        self._gone_since: dict[str, float] = {}
        self._threads: dict[str, int] = {}
        # The store of each slice that is out, and what was last reported of its run.
        self._stores: dict[str, str] = {}
        self._underway: dict[str, Usage] = {}
        self._looked_at = -math.inf
        try:
            self._client = self._connected()
            self._require_version()
            # Also those that come later.
            self._client.register_worker_callbacks(load_libraries)
            if starts_here(self._address):
                self._client.register_worker_callbacks(_ignore_interrupts)
        except BaseException:
            self.close()
            raise

    def places(self) -> int:
        threads = sum(self._look().values())
        return threads if self._at_once is None else min(threads, self._at_once)

    def workers(self) -> set[str]:
        return set(self._look())

    def send(self, order: SliceOrder, *, apart: bool = False) -> None:
        client = self._running_client()
        self._stores[order.site.name] = order.store
        allowed = self._allowed(order.site.name, apart=apart)
        future = client.submit(
            slice_task,
            order,
            key=f"slice-{order.site.name}-{uuid.uuid4().hex}",
            pure=False,
            workers=allowed,
            # The worker may be gone by now.
            allow_other_workers=order.site.name in self._pinned,
        )
        if allowed is not None:
            self._futures[order.site.name] = future, allowed
        client.loop.add_callback(self._await_result, order.site.name, future)

    async def _await_result(self, site: str, future: Future[SliceResult]) -> None:
        """Wait for a slice, in the loop of Dask's client.

        What a slice returns stays on its worker until it is fetched. If the worker dies before, Dask runs the
        slice again: fetching may take as long as a slice, and others are not to wait for it.
        """
        self._finished.put(await _finished(site, future))

    def wait(self, seconds: float) -> FinishedSlice | None:
        self._requeue_stranded(time.monotonic())
        try:
            finished = self._finished.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
        if finished.result is None and finished.error is None and finished.site in self._gone_since:
            finished = finished._replace(error=ConnectionError("its worker is gone"), worker_died=True)
        for known in (
            self._apart,
            self._pinned,
            self._futures,
            self._gone_since,
            self._stores,
            self._underway,
        ):
            known.pop(finished.site, None)
        if finished.result is not None and finished.result.state.is_open:
            self._rests_at[finished.site] = finished.result.by
        else:
            self._rests_at.pop(finished.site, None)
        return finished

    def _requeue_stranded(self, now: float) -> None:
        """Cancel slices whose worker is gone and that do not come back, so that they can be sent again.

        Dask lets another worker have a slice whose worker is gone, but not one that comes later: where all
        workers are gone for a moment, it keeps such slices for ever.
        """
        workers = self._look()
        for site, (future, allowed) in self._futures.items():
            if not workers.keys().isdisjoint(allowed):
                continue
            if now - self._gone_since.setdefault(site, now) > _STRANDED_SECONDS:
                future.cancel()

    def _allowed(self, site: str, *, apart: bool) -> list[str] | None:
        """Return the workers that may have a slice; None if all may."""
        threads = self._look()
        workers = [name for name in threads if name not in self._left_out]
        free = [name for name in workers if name not in self._apart.values()]
        if apart and free:
            self._apart[site] = self._pinned[site] = free[0]
            return free[:1]
        home = self._rests_at.get(site, "")
        if home in workers and list(self._pinned.values()).count(home) < threads[home]:
            self._pinned[site] = home
            return [home]
        return workers if self._left_out else None

    def _hear(self, event: tuple[float, Sequence[Any]]) -> None:
        store, site, *spent = event[1]
        # Others may use these workers for a store of their own.
        if self._stores.get(site) == store:
            self._underway[site] = Usage(*spent)

    def underway(self) -> Mapping[str, Usage]:
        return self._underway.copy()

    def recall(self) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            self._client.run(stop_slices, on_error="ignore")

    def cpu_seconds(self) -> float:
        """Return the CPU time that all workers have used so far."""
        return float(sum(self._client.run(time.process_time).values()))

    def leave_out(self, worker: str) -> None:
        if len(self._left_out) + 1 < len(self._look()):
            self._left_out.add(worker)

    def close(self) -> None:
        self._exits.close()

    def _look(self) -> dict[str, int]:
        """Return the workers, and how many slices each takes; looked up from time to time."""
        now = time.monotonic()
        if now - self._looked_at > _LOOK_SECONDS:
            self._looked_at = now
            workers = self._client.scheduler_info(n_workers=-1).get("workers", {})
            self._threads = {address: int(info["nthreads"]) for address, info in workers.items()}
        return self._threads

    def _connected(self) -> Client:
        from distributed import Client

        address = self._address
        if starts_here(address):
            if self._local is None or not self._local.is_alive:
                self._local = self._started_here()
            address = self._local.address
        try:
            client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConfigError(f"no Dask scheduler responds at {self._address}: {error}") from None
        self._exits.callback(_close, client)
        client.subscribe_topic(_UNDERWAY, self._hear)
        return client

    def _started_here(self) -> LocalWorkers:
        workers = int(self._address.partition(":")[2])
        per_worker = _SLICES_PER_WORKER if self._at_once is None else math.ceil(self._at_once / workers)
        local = LocalWorkers(workers, per_worker)
        self._exits.callback(local.close)
        return local

    def _running_client(self) -> Client:
        """Return a client that is connected; the scheduler may have been restarted."""
        ends = time.monotonic() + _RECONNECT_SECONDS
        while self._client.status not in {"running", "connecting"}:
            try:
                self._client = self._connected()
            except ConfigError:
                if time.monotonic() > ends:
                    raise
        return self._client

    def _require_version(self) -> None:
        """Refuse a cluster of another version before anything runs."""
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError:
            raise ConfigError(f"the cluster {self._address} has no worker: start some first") from None
        # One that dies meanwhile is not there.
        versions: dict[str, Any] = self._client.run(coati_version, on_error="return")
        for worker, version in versions.items():
            if isinstance(version, OSError):
                continue
            if isinstance(version, BaseException):
                raise ConfigError(
                    f"worker {worker} cannot run Coati ({version}): install the same version there"
                )
            if version != __version__:
                raise ConfigError(
                    f"worker {worker} has Coati {version}, and this is {__version__}: all machines of a fleet"
                    " need the same version"
                )


def _close(client: Client) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        client.close()


async def _finished(site: str, future: Future[SliceResult]) -> FinishedSlice:
    from distributed import KilledWorker

    try:
        return FinishedSlice(site, await future.client.gather(future, asynchronous=True))
    except (OSError, CancelledError) as error:
        # Unless the slice itself ended so, it was cancelled, or the scheduler went away.
        return FinishedSlice(site, error=error if future.status == "error" else None)
    except Exception as error:  # noqa: BLE001 - slices end by whatever strategies and stores raise
        return FinishedSlice(site, error=error, worker_died=isinstance(error, KilledWorker))
