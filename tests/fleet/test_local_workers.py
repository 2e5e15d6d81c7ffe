"""Dask on this machine, without its processes; `tests/test_child_processes.py` runs real ones."""

from __future__ import annotations

import multiprocessing
from types import TracebackType
from typing import Self

import pytest
from distributed import Status

from coati.errors import ConfigError
from coati.fleet import local_workers
from coati.fleet.local_workers import LocalWorkers, restart_ended_nannies, serve_workers


class Nanny:
    """One of Dask's, as far as a cluster looks at it."""

    def __init__(self, status: Status) -> None:
        self.status = status


class TwoNannies:
    """Two workers on this machine, as Dask has them; it starts those that are missing when it is asked."""

    scheduler_address = "tcp://127.0.0.1:1"

    def __init__(self) -> None:
        self.worker_spec = {0: "a worker", 1: "a worker"}
        self.workers = {0: Nanny(Status.running), 1: Nanny(Status.running)}
        self.asked: list[int] = []
        self.is_closed = False

    def scale(self, workers: int) -> None:
        self.asked.append(workers)
        self.workers = {**{name: Nanny(Status.running) for name in self.worker_spec}, **self.workers}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_closed = True


def test_nannies_that_ended_are_replaced() -> None:
    local = TwoNannies()
    restart_ended_nannies(local)
    assert local.asked == []
    local.workers[0].status = Status.closed
    restart_ended_nannies(local)
    restart_ended_nannies(local)
    assert local.asked == [2]
    # Dask has forgotten it.
    del local.workers[1]
    restart_ended_nannies(local)
    assert local.asked == [2, 2]
    assert [nanny.status for nanny in local.workers.values()] == [Status.running] * 2


def test_workers_keep_their_memory_and_are_looked_after_until_nobody_wants_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dask import config

    local = TwoNannies()
    ours, theirs = multiprocessing.Pipe()
    seen: dict[str, object] = {}

    def started(**_: object) -> TwoNannies:
        seen.update(config.get("distributed.nanny.pre-spawn-environ"))
        # One that restarts its worker is not to be ended, however long that takes.
        assert config.get("distributed.deploy.lost-worker-timeout") == "365 days"
        return local

    def looked_at(cluster: TwoNannies) -> None:
        assert cluster is local
        assert ours.recv() == local.scheduler_address
        ours.close()

    monkeypatch.setattr("distributed.LocalCluster", started)
    monkeypatch.setattr(local_workers, "restart_ended_nannies", looked_at)
    monkeypatch.setattr(local_workers, "_LOOK_SECONDS", 0.0)
    serve_workers(theirs, 2, 3)
    # To Dask, None says that a variable is not to be set.
    assert seen["MALLOC_TRIM_THRESHOLD_"] is None
    assert seen["OMP_NUM_THREADS"] == 1
    assert local.is_closed


def test_workers_that_cannot_be_started_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    # The target of the process: no function of the module has this name any more.
    monkeypatch.setattr(local_workers, "serve_workers", restart_ended_nannies)
    with pytest.raises(ConfigError, match="Dask could not start 2 processes on this machine"):
        LocalWorkers(2, 3)
