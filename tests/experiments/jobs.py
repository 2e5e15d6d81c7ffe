"""Jobs for processes that die, hang or fail; apart, so that a new process has little to import."""

import os
import signal
import time
from pathlib import Path

from coati.experiments.workers import Desk


def die_once(_desk: Desk, marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die(_desk: Desk, _argument: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(_desk: Desk, seconds: float) -> str:
    time.sleep(seconds)  # noqa: TID251 - what is tested
    return "done"


def fail(_desk: Desk, error: Exception) -> None:
    raise error


def count(desk: Desk, _argument: object) -> int:
    desk["count"] = desk.get("count", 0) + 1
    return int(desk["count"])
