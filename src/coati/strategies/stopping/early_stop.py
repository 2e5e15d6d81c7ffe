"""When to stop because too little is still coming.

A rule looks at two counts, requests and targets; ours also at what the strategy expects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from coati.strategies.strategy import Strategy


class EarlyStop(Protocol):
    """Watches a crawl and says when it has run dry."""

    def observe(
        self, requests: int, targets: int, score: float | None = None, strategy: Strategy | None = None
    ) -> bool:
        """Take the counts after a request, and its score; True means stop.

        ``strategy`` can say what waits; it is left out where a log is followed.
        """


class PaperEarlyStop:
    """The rule of the EDBT 2026 paper: the smoothed yield stays low for long.

    Every ``interval`` requests the targets per request of that interval enter an exponential mean with weight
    ``smoothing``; when it was below ``floor`` for ``patience`` checks in a row, the crawl stops. The paper
    does not say what the mean starts from; a start at 0 would stop a site that yields 0.3 per request, so it
    starts from the first interval's yield. It cannot fire before interval * patience requests: 15,000 by
    default.
    """

    def __init__(
        self, interval: int = 1000, smoothing: float = 0.05, floor: float = 0.2, patience: int = 15
    ) -> None:
        self._interval = interval
        self._smoothing = smoothing
        self._floor = floor
        self._patience = patience
        self._mean: float | None = None
        self._targets_before = 0
        self._next_check = interval
        self._low_checks = 0

    def observe(
        self, requests: int, targets: int, score: float | None = None, strategy: Strategy | None = None
    ) -> bool:
        """Check at the end of each interval."""
        if requests < self._next_check:
            return False
        self._next_check += self._interval
        slope = (targets - self._targets_before) / self._interval
        self._targets_before = targets
        if self._mean is None:
            self._mean = slope
        else:
            self._mean = self._smoothing * slope + (1 - self._smoothing) * self._mean
        self._low_checks = self._low_checks + 1 if self._mean < self._floor else 0
        return self._low_checks >= self._patience
