"""Jobs for processes that die, hang or fail; apart, so that a new process has little to import."""

import os
import signal
import time
from pathlib import Path

from coati.experiments.workers import WorkerCache


def die_once(_cache: WorkerCache, marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die(_cache: WorkerCache, _argument: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(_cache: WorkerCache, seconds: float) -> str:
    time.sleep(seconds)  # noqa: TID251 - what is tested
    return "done"


def fail(_cache: WorkerCache, error: Exception) -> None:
    raise error


def count(cache: WorkerCache, _argument: object) -> int:
    cache["count"] = cache.get("count", 0) + 1
    return int(cache["count"])
