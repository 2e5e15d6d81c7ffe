"""What is true of watched pages, for the scheduler that may know it. Only replay has it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class PageTruth(Protocol):
    """What is on pages at a time, for any crawler."""

    def links(self, page: int, now: float) -> Collection[int]:
        """Return the links that count and that a visit would find; none where it would fail."""
