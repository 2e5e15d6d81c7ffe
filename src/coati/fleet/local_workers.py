"""Dask on this machine: a scheduler and its workers, in processes of our own.

Dask spawns its workers from the process that starts the cluster, so this is a process of its own
(`coati.child_processes`): else a script without ``if __name__ == "__main__"`` would run again in each worker.
"""

from __future__ import annotations

import logging
import os
import tempfile
from typing import TYPE_CHECKING, Any, Final

from coati.child_processes import ChildProcess
from coati.errors import ConfigError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from distributed import LocalCluster

_SETTINGS: Final = {
    # Dask has workers give memory back at once that the next page needs: a tenth of their time.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    # Nannies restart workers that die, however long that takes. Dask ends each nanny that has no worker
    # fifteen seconds after a death, also one whose next worker has just died, unless it is told not to.
    "distributed.deploy.lost-worker-timeout": "365 days",
}
# Dask looks at the stack of every thread a hundred times per second, unless it is told not to.
_QUICK: Final = {"distributed.worker.profile.enabled": False}
# The states of a nanny that does nothing any more.
_ENDED: Final = frozenset({"closed", "failed"})
# How often it is looked whether one has ended.
_LOOK_SECONDS: Final = 2.0
# What Dask may take to end its processes before they are killed.
_CLOSE_SECONDS: Final = 30.0


class LocalWorkers:
    """Workers on this machine, and the ``address`` of their scheduler; raises `ConfigError` if none start."""

    def __init__(self, workers: int, threads: int) -> None:
        self._process = ChildProcess(serve_workers, workers, threads)
        try:
            self.address: str = self._process.pipe.recv()
        except (EOFError, OSError):
            self._process.kill()
            raise ConfigError(f"Dask could not start {workers} processes on this machine") from None

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive

    def close(self) -> None:
        """End all of them."""
        self._process.pipe.close()
        self._process.wait(_CLOSE_SECONDS)
        self._process.kill()


def serve_workers(pipe: Connection[Any, Any], workers: int, threads: int) -> None:
    """Run a scheduler and its workers, and tell its address, until the other end of the pipe is closed."""
    import dask.config
    from distributed import LocalCluster

    with (
        dask.config.set(_SETTINGS),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            dashboard_address=":0",
            local_directory=os.environ.get("DASK_TEMPORARY_DIRECTORY") or tempfile.gettempdir(),
            silence_logs=logging.ERROR,
            config=_QUICK,
        ) as cluster,
    ):
        pipe.send(cluster.scheduler_address)
        # Nothing is sent here: there is something to read once the other end is closed.
        while not pipe.poll(_LOOK_SECONDS):
            restart_ended_nannies(cluster)


def restart_ended_nannies(cluster: LocalCluster) -> None:
    """Restart nannies that ended, as they do when their worker cannot be started."""
    nannies = cluster.workers
    for name, nanny in list(nannies.items()):
        if nanny.status.name in _ENDED:
            nannies.pop(name, None)
    if len(nannies) < len(cluster.worker_spec):
        cluster.scale(len(cluster.worker_spec))
