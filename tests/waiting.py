"""Waiting for something that is bound to happen, however long a busy machine takes for it."""

from collections.abc import Callable

from tests.live.scripted import clock, pause

# Only a defect waits so long.
PATIENCE_SECONDS = 240.0


def wait_until(happened: Callable[[], bool]) -> None:
    """Return as soon as it has happened; what happens meanwhile must not matter to the test."""
    end = clock() + PATIENCE_SECONDS
    while not happened():
        assert clock() < end, "it did not happen"
        pause(0.002)
