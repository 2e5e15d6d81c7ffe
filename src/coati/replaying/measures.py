"""How good a run was: everything as a share of the site, and against the reference CLAIRVOYANT.

One threshold sees one point of the curve: at 90 % that is often the last scattered files only. So requests
are counted to several shares of the targets, and `Comparison.curve_ratio` is over all of the curve but its
end.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coati.model import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from coati.replaying.trace import Trace
    from coati.strategies.truth import SiteTruth

_VOLUME_SHARE_PCT = 90
# The thresholds of `curve_ratio`. The last files of a site are scattered, so that 95 % says most about luck.
_CURVE_SHARES_PCT = (25, 50, 75, 90)


@dataclass(frozen=True, slots=True)
class SiteTotals:
    """What a site holds: the denominators."""

    urls: int
    targets: int
    target_bytes: int
    other_bytes: int

    @classmethod
    def of(cls, truth: SiteTruth, relevant: Collection[int] = ()) -> SiteTotals:
        """Sum a site up; ``relevant`` are the numbers of pages that are targets themselves."""
        is_target = np.array([kind is Kind.TARGET for kind in truth.kinds], bool)
        is_target[list(relevant)] = True
        volume = int(truth.sizes[is_target].sum())
        return cls(len(truth.urls), int(is_target.sum()), volume, int(truth.sizes.sum()) - volume)


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of one run; None where one is not defined or was not reached."""

    requests: int
    targets: int
    requests_to_25_pct: float | None
    requests_to_50_pct: float | None
    requests_to_75_pct: float | None
    requests_to_90_pct: float | None
    requests_to_95_pct: float | None
    volume_to_90_pct: float | None
    auc: float | None

    @classmethod
    def of(cls, trace: Trace, totals: SiteTotals) -> Measures:
        """Measure a run."""
        targets = np.frombuffer(trace.targets, np.uint32)
        return cls(
            requests=len(trace),
            targets=int(targets[-1]) if len(targets) else 0,
            requests_to_25_pct=_requests_to_share(targets, totals, 25),
            requests_to_50_pct=_requests_to_share(targets, totals, 50),
            requests_to_75_pct=_requests_to_share(targets, totals, 75),
            requests_to_90_pct=_requests_to_share(targets, totals, 90),
            requests_to_95_pct=_requests_to_share(targets, totals, 95),
            volume_to_90_pct=_volume_to_share(trace, totals),
            auc=_area(targets, totals),
        )

    def requests_to(self, share_pct: int) -> float | None:
        """Return the requests until a share of the targets is in, as a percentage of the site's URLs."""
        value: float | None = getattr(self, f"requests_to_{share_pct}_pct")
        return value


def _share(total: int, share_pct: int) -> int:
    """Return the least whole number that is a share of a total; exact, as no float holds a large volume."""
    return -(-share_pct * total // 100)


def _requests_to_share(targets: np.ndarray, totals: SiteTotals, share_pct: int) -> float | None:
    if not totals.targets:
        return None
    at = int(np.searchsorted(targets, _share(totals.targets, share_pct)))
    return None if at == len(targets) else 100 * (at + 1) / totals.urls


def _volume_to_share(trace: Trace, totals: SiteTotals) -> float | None:
    """Return the other bytes until 90 % of the target bytes are in, as a percentage of all other bytes."""
    if not totals.target_bytes or not totals.other_bytes:
        return None
    volume = np.frombuffer(trace.target_bytes, np.uint64).astype(np.int64)
    at = int(np.searchsorted(volume, _share(totals.target_bytes, _VOLUME_SHARE_PCT)))
    if at == len(volume):
        return None
    everything = np.frombuffer(trace.sizes, np.uint64).astype(np.int64).cumsum()
    return 100 * float(everything[at] - volume[at]) / totals.other_bytes


def _area(targets: np.ndarray, totals: SiteTotals) -> float | None:
    """Return the mean share of targets over all request counts up to the site's URLs, the last value held."""
    if not totals.targets:
        return None
    if not len(targets):
        return 0.0
    within = targets[: totals.urls].astype(np.float64)
    held = (totals.urls - len(within)) * within[-1]
    return float(within.sum() + held) / (totals.urls * totals.targets)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against CLAIRVOYANT and breadth-first on the same site."""

    clairvoyant_ratio: float | None
    curve_ratio: float | None
    auc_ratio: float | None
    gap_closed: float | None

    @classmethod
    def of(cls, own: Measures, best: Measures, bfs: Measures) -> Comparison:
        """Compare; None where a part is not defined."""
        mine, theirs, plain = own.requests_to_90_pct, best.requests_to_90_pct, bfs.requests_to_90_pct
        gap = None
        if mine is not None and theirs is not None and plain is not None and plain != theirs:
            gap = (plain - mine) / (plain - theirs)
        return cls(_ratio(mine, theirs), _curve_ratio(own, best), _ratio(own.auc, best.auc), gap)


def _curve_ratio(own: Measures, best: Measures) -> float | None:
    """Return the geometric mean of what own requests are to CLAIRVOYANT's over the thresholds."""
    ratios = [_ratio(own.requests_to(share), best.requests_to(share)) for share in _CURVE_SHARES_PCT]
    reached = [ratio for ratio in ratios if ratio is not None]
    return statistics.geometric_mean(reached) if len(reached) == len(ratios) else None


def _ratio(value: float | None, reference: float | None) -> float | None:
    return None if value is None or not reference else value / reference
