"""What a crawl may spend: requests, bytes, seconds, or until it has enough targets."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from coati.errors import ConfigError


class Limit(StrEnum):
    """Which part of a budget is spent."""

    REQUESTS = "the limit of requests was reached"
    BYTES = "the limit of bytes was reached"
    SECONDS = "the time limit was reached"
    TARGETS = "the limit of targets was reached"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run; None means no limit.

    >>> Budget(max_requests=10).spent(requests=10, size_bytes=0, seconds=0.0, targets=0).value
    'the limit of requests was reached'
    """

    max_requests: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None
    max_targets: int | None = None

    def __post_init__(self) -> None:
        """Refuse a limit that allows nothing."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            # Written so that it also refuses a limit that is not a number.
            if value is not None and not value > 0:
                name = limit.name.replace("_", " ")
                raise ConfigError(f"{name} is {value}: it must be above zero, or be left out for no limit")

    def spent(self, requests: int, size_bytes: int, seconds: float, targets: int) -> Limit | None:
        """Tell which limit is reached; None if there is budget left."""
        if self.max_requests is not None and requests >= self.max_requests:
            return Limit.REQUESTS
        if self.max_bytes is not None and size_bytes >= self.max_bytes:
            return Limit.BYTES
        if self.max_targets is not None and targets >= self.max_targets:
            return Limit.TARGETS
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return Limit.SECONDS
        return None
