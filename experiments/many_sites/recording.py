"""Crawls of single sites, recorded request by request.

A strategy on one site decides by what it saw there and by nothing else. So one recorded crawl answers for
every way of spending a budget over many sites: the site's n-th request is the same, whenever it is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coati.archive.archive import Archive
from coati.assembly import build_strategy
from coati.model import EVERY_HOST, Refused, Request, is_wanted
from coati.replaying.site import ReplaySite
from coati.strategies.strategy import Expects

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from coati.model import Outcome
    from coati.strategies.strategy import Strategy


@dataclass(frozen=True, slots=True)
class RecordedSite:
    """One crawl: for each request what the strategy expected before it (NaN: nothing known), and the gain."""

    name: str
    urls: int
    expected: npt.NDArray[np.float32]
    gained: npt.NDArray[np.uint8]

    def targets(self, requests: int) -> int:
        """Return the targets that the first requests brought."""
        return int(self.gained[:requests].sum())


def record(archive: Path, strategy: str, seed: int, most: int, keep: Path) -> RecordedSite:
    """Crawl an archived site and keep the record in a folder; one that is there is read."""
    file = keep / f"{archive.name}--{strategy}--{seed}--{most}.npz"
    if not file.exists():
        keep.mkdir(parents=True, exist_ok=True)
        with Archive.open(archive) as opened:
            site = ReplaySite(opened)
            made = build_strategy(strategy, site.start_urls, seed)
            expected, gained = crawled(site.respond, made, most)
        np.savez_compressed(file, urls=len(site.truth.urls), expected=expected, gained=gained)
    with np.load(file) as held:
        return RecordedSite(archive.name, int(held["urls"]), held["expected"], held["gained"])


def crawled(
    respond: Callable[[Request], Outcome], strategy: Strategy, most: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """Crawl until nothing is left, or to this many requests; returns what was expected, and what came."""
    expected: list[float] = []
    gained: list[int] = []
    now = 0.0
    while len(gained) < most:
        hope = strategy.expects() if isinstance(strategy, Expects) else None
        request = strategy.choose(now, EVERY_HOST)
        if not isinstance(request, Request):
            break
        outcome = respond(request)
        strategy.observe(request.id, outcome, now)
        if not isinstance(outcome, Refused):
            expected.append(np.nan if hope is None else hope)
            gained.append(int(is_wanted(outcome)))
        now += 1.0
    return np.array(expected, np.float32), np.array(gained, np.uint8)
