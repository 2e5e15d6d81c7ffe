"""Spaces out the requests of many crawls in one process, and bounds their bytes per second together.

Crawls that keep the same delay stay in step for ever: once a hiccup has made twenty of them due at one
moment, their requests leave together every second, their answers come together, and all others wait until
those are read. A few milliseconds between any two requests pull such a crowd apart for good, since each crawl
counts its delay from when its request left.
"""

from __future__ import annotations

# About what reading an answer takes. A hundred sites at a request per second need four tenths of the time.
SPACING_SECONDS = 0.004


class RequestSpacing:
    """Says how long the next request has to wait; time is an argument.

    >>> request_spacing = RequestSpacing(spacing_seconds=0.5)
    >>> [request_spacing.seconds_to_wait(now) for now in (10.0, 10.0, 10.25, 20.0)]
    [0.0, 0.5, 0.75, 0.0]
    """

    def __init__(self, spacing_seconds: float = SPACING_SECONDS) -> None:
        self._spacing = spacing_seconds
        self._free_at = float("-inf")

    def seconds_to_wait(self, now: float) -> float:
        """Take the next turn."""
        at = max(now, self._free_at)
        self._free_at = at + self._spacing
        return at - now


class ByteSpacing:
    """Says for how long to take nothing more over all connections; time is an argument.

    >>> byte_spacing = ByteSpacing()
    >>> [byte_spacing.seconds_to_wait(500, 1000, now) for now in (10.0, 10.25, 20.0)]
    [0.5, 0.75, 0.5]
    """

    def __init__(self) -> None:
        self._free_at = float("-inf")

    def seconds_to_wait(self, size_bytes: int, bytes_per_second: int, now: float) -> float:
        """Count bytes that have come, and return when the next ones may, in seconds from now."""
        self._free_at = max(now, self._free_at) + size_bytes / bytes_per_second
        return self._free_at - now
