"""Limit the bytes per second over all connections of a process."""

from __future__ import annotations


class ByteSpacing:
    """Says for how long to take nothing more; time is an argument.

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
