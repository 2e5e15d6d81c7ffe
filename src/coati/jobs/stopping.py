"""Ending a replay or an experiment from outside, by a `StopSignal`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from coati.errors import CoatiError
from coati.live.stop_signal import StopSignal

P = ParamSpec("P")


class StoppedError(CoatiError):
    """Somebody stopped a replay or an experiment; what was finished before was told or kept."""


def unless_stopped(stop: StopSignal | None, tell: Callable[P, None]) -> Callable[P, None]:
    """Return a callback that tells, and raises `StoppedError` once the signal is set.

    A crawl that is stopped is a result, since its run folder resumes. Here half a table would be none.
    """

    def tell_unless_stopped(*args: P.args, **kwargs: P.kwargs) -> None:
        tell(*args, **kwargs)
        if stop is not None and stop.is_set:
            raise StoppedError("stopped by its StopSignal; what was finished before is kept")

    return tell_unless_stopped
