"""A pool of processes that run jobs in parallel, and may be killed.

`concurrent.futures` gives up a whole pool when one of its processes dies, and cannot end one that takes too
long. Here a dead or overdue process is replaced, and only its job is tried again or given up. A process is
given one job at a time, if possible one that shares what it has loaded (`Job.place`). When the process that
gives out jobs is gone, the others end after the job that they are at.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from coati.child_processes import ChildProcess
from coati.errors import CoatiError
from coati.experiments.errors import ExperimentError
from coati.garbage_collection import spare_imported_modules
from coati.machine_errors import is_full
from coati.named_objects import place_in_users_code

WorkerCache = dict[str, Any]

_BEGUN, _DONE = "begun", "done"
_BUG = "this is a bug in Coati; please report it"

# How often a job is given to another process after the one that had it died.
_RETRIES = 1


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do: ``work(cache, argument)`` in another process.

    ``cache`` is what that process keeps between its jobs. Jobs of one place share what they put there.
    ``name`` is what an error calls it.
    """

    work: Callable[[WorkerCache, Any], Any]
    argument: Any
    place: str = ""
    name: str = "a job"


@dataclass(frozen=True, slots=True)
class LostJob:
    """A job that was given up: ``reason`` says why."""

    reason: str


@dataclass(slots=True)
class _Worker:
    process: ChildProcess
    place: str = ""
    number: int | None = None
    due: float = float("inf")


@dataclass(slots=True)
class Workers:
    """Some processes; ``limit_seconds`` is what a job may take, ``memory_bytes`` what a process may.

    With a count of 0 the jobs are done here, one after the other and without limits.
    """

    count: int
    limit_seconds: float | None = None
    memory_bytes: int | None = None
    _waiting: dict[int, Job] = field(default_factory=dict)
    _jobs: list[Job] = field(default_factory=list)
    _tries: dict[int, int] = field(default_factory=dict)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Any]]:
        """Do the jobs; return each one's number and result, or `LostJob`, in the order of their ends.

        An error of ours that a job raises, and one of a full disk, is raised here; any other is raised as
        `ExperimentError` with the traceback of the process, and says if it comes from the user's own code.
        """
        self._jobs = list(jobs)
        if not self.count:
            cache: WorkerCache = {}
            yield from ((number, job.work(cache, job.argument)) for number, job in enumerate(self._jobs))
            return
        self._waiting = dict(enumerate(self._jobs))
        self._tries = {}
        workers = [self._start() for _ in range(min(self.count, len(self._jobs)))]
        try:
            while self._waiting or any(worker.number is not None for worker in workers):
                for worker in workers:
                    if worker.number is None and self._waiting:
                        self._hand_out(worker)
                yield from self._collect(workers)
        finally:
            for worker in workers:
                worker.process.kill()

    def _start(self) -> _Worker:
        return _Worker(ChildProcess(_serve, self.memory_bytes))

    def _hand_out(self, worker: _Worker) -> None:
        number = next(
            (number for number, job in self._waiting.items() if job.place == worker.place),
            next(iter(self._waiting)),
        )
        job = self._waiting.pop(number)
        worker.number, worker.place = number, job.place
        try:
            worker.process.pipe.send((job.work, job.argument, job.name))
        except OSError:
            return  # it has died; collecting finds that out

    def _collect(self, workers: list[_Worker]) -> Iterator[tuple[int, Any]]:
        busy = [worker for worker in workers if worker.number is not None]
        patience = min(worker.due for worker in busy) - _now()
        answered = wait(
            [worker.process.pipe for worker in busy], None if patience == float("inf") else max(0.0, patience)
        )
        for worker in busy:
            number = worker.number
            if number is None:
                continue
            if worker.process.pipe in answered:
                yield from self._take(worker, number)
            elif _now() >= worker.due:
                self._replace(worker)
                yield number, LostJob(f"it took more than {self.limit_seconds:.0f} seconds")

    def _take(self, worker: _Worker, number: int) -> Iterator[tuple[int, Any]]:
        try:
            message, result, error = worker.process.pipe.recv()
        except (EOFError, OSError):
            self._replace(worker)
            self._tries[number] = self._tries.get(number, 0) + 1
            if self._tries[number] <= _RETRIES:
                self._waiting[number] = self._jobs[number]
            else:
                yield number, LostJob("the process that did it died, twice")
            return
        if message == _BEGUN:
            # Only from here: a process that has yet to start must not be taken for a slow one.
            worker.due = _now() + (self.limit_seconds or float("inf"))
            return
        worker.number, worker.due = None, float("inf")
        if error is not None:
            raise error
        yield number, result

    def _replace(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process = self._start().process
        worker.place, worker.number, worker.due = "", None, float("inf")


def _now() -> float:
    return time.monotonic()  # noqa: TID251 - this drives processes, and a process may hang


def _serve(pipe: Connection, memory_bytes: int | None) -> None:
    """Do jobs until nobody gives any more."""
    if memory_bytes is not None:
        _limit_memory(memory_bytes)
    cache: WorkerCache = {}
    try:
        work, argument, name = pipe.recv()
        spare_imported_modules()
        while True:
            pipe.send((_BEGUN, None, None))
            pipe.send((_DONE, *_outcome(work, cache, argument, name)))
            work, argument, name = pipe.recv()
    except (EOFError, OSError):
        return


def _outcome(
    work: Callable[[WorkerCache, Any], Any], cache: WorkerCache, argument: object, name: str
) -> tuple[object, Exception | None]:
    try:
        return work(cache, argument), None
    except CoatiError as error:
        return None, error
    except OSError as error:
        return None, error if is_full(error) else _failed(name, error)
    except Exception as error:  # noqa: BLE001 - it is shown where somebody reads it
        return None, _failed(name, error)


def _failed(name: str, error: Exception) -> ExperimentError:
    place = place_in_users_code(error)
    whose = f"this error comes from your own code: {place}" if place else _BUG
    return ExperimentError(f"{name} failed:\n{traceback.format_exc()}\n{whose}")


def _limit_memory(size_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
