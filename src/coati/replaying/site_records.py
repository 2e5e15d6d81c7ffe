"""Crawls of single sites, recorded request by request.

A strategy on one site decides by what it saw there and by nothing else. So one recorded crawl answers for
every way of spending a budget over many sites: the site's n-th request is the same, whenever it is made.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Refused, is_wanted
from coati.replaying.wrapped_strategy import WrappedStrategy
from coati.runs.durable import write_whole
from coati.strategies.strategy import Expects

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from coati.model import Hosts, Later, Outcome, Request, Settlement
    from coati.strategies.strategy import Strategy


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """One crawl: for each request what the strategy promised before it (NaN: nothing known), and the gain.

    ``urls`` and ``targets`` are all that the site has.
    """

    urls: int
    targets: int
    promised: npt.NDArray[np.float32]
    gained: npt.NDArray[np.uint8]

    def found(self, requests: int) -> int:
        """Return the targets that the first requests brought."""
        return int(self.gained[:requests].sum())

    def write(self, file: Path) -> None:
        """Write the record; it is there whole or not at all."""
        packed = io.BytesIO()
        np.savez_compressed(
            packed, urls=self.urls, targets=self.targets, promised=self.promised, gained=self.gained
        )
        write_whole(file, [packed.getvalue()])

    @classmethod
    def read(cls, file: Path) -> SiteRecord:
        """Read a record."""
        with np.load(file) as held:
            return cls(int(held["urls"]), int(held["targets"]), held["promised"], held["gained"])


class PromiseRecorder(WrappedStrategy):
    """A strategy that does what another does, and notes what it promised before each request."""

    def __init__(self, strategy: Strategy) -> None:
        super().__init__(strategy)
        self._promise: float | None = None
        self._promised: list[float] = []
        self._gained: list[int] = []

    def record(self, urls: int, targets: int) -> SiteRecord:
        """Return what was noted so far."""
        promised, gained = np.array(self._promised, np.float32), np.array(self._gained, np.uint8)
        return SiteRecord(urls, targets, promised, gained)

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Let the strategy choose, after it has said what it expects."""
        self._promise = self._strategy.expects() if isinstance(self._strategy, Expects) else None
        return super().choose(now, hosts)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Let the strategy observe; what was refused cost no request."""
        if not isinstance(outcome, Refused):
            self._promised.append(np.nan if self._promise is None else self._promise)
            self._gained.append(int(is_wanted(outcome)))
        return super().observe(request_id, outcome, now)
