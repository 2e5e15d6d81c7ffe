"""The time of a replay, which no real clock moves."""

from __future__ import annotations


class SimulatedClock:
    """Begins at a time and advances with each request, as a polite crawl of one site would.

    >>> clock = SimulatedClock(1000.0)
    >>> clock.spend()
    >>> clock.wait(1060.0)
    >>> clock.now, clock.seconds
    (1060.0, 60.0)
    """

    def __init__(self, begin: float, seconds_per_request: float = 1.0) -> None:
        self.begin = self.now = begin
        self._seconds_per_request = seconds_per_request

    @property
    def seconds(self) -> float:
        """How much time has passed."""
        return self.now - self.begin

    def answered(self) -> float:
        """Return when the request that is being made is answered: at once."""
        return self.now

    def spend(self) -> None:
        """Let the time of a request pass."""
        self.now += self._seconds_per_request

    def wait(self, until: float) -> None:
        """Skip ahead to a time; one that is past changes nothing."""
        self.now = max(self.now, until)
