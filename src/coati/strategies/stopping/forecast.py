"""What further requests would bring, by what waits now and by how such promises were kept lately.

A strategy that scores links knows what waits (`coati.strategies.strategy.Foresees`). The sum of the best
scores is a promise for that many requests. Two things are missing in it:

- Links that are not known yet. While pages bring new links, more will be requested than waits now, and what
  is found is about as good as what waits.
- How far scores can be trusted on this site at this time. So the promise is multiplied by what came of the
  scores of the last requests: targets that came over targets that were promised. One and a half of each are
  added, because a short run proves little.

A forecast looks ahead by a third of what was done, from a hundred to a thousand requests, and compares scores
with results over half of that. What forecasts said and what came is in benchmarks/STOPPING.md.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coati.strategies.strategy import Foresees, Outlook

# Targets come in clusters, and counts are compared block by block. Longer blocks find more clustering.
BLOCK_REQUESTS = 20

THOUSAND = 1000

# 5 % of a normal distribution lie above this: the interval holds nine tenths.
Z = 1.645

# Half an event that was not seen: Jeffreys' prior for a rate.
PRIOR_EVENTS = 0.5

_SHARE_AHEAD = 1 / 3
_LEAST_AHEAD, _MOST_AHEAD = 100, 1000
# Targets that are added to what came and to what was promised. More lets a site's own record count later.
# It was 2 while scent learnt from sure answers, too; with 1.5 a crawl ends where it did then.
_PRIOR_TARGETS = 1.5
# Scores that promise too little are believed to be this much too low at most.
_MOST_TRUST = 1.2
# A frontier that grows for ever would promise anything.
_MOST_GROWTH = 0.98
# How far forecasts are off beside chance and clusters, as a share: least where each request brings a target,
# most where hardly any does, since there a section ends, or another begins. With 0.4 for all, half of the
# ranges between 20 and 200 targets per thousand requests missed.
_OFF_BY_LEAST, _OFF_BY_MORE = 0.3, 0.8
# Where it is not known what waited.
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Estimate:
    """Targets to be expected from a thousand further requests; nine times in ten between low and high."""

    expected: float
    low: float
    high: float

    def in_words(self) -> str:
        """Say it as a progress line does.

        >>> Estimate(41.2, 28.9, 55.6).in_words()
        'about 41 targets per 1,000 further requests (29 to 56)'
        """
        if self.high < 1:
            return "less than 1 target per 1,000 further requests"
        if self.expected < 1:
            return f"at most {self.high:.0f} targets per 1,000 further requests"
        interval = f"({self.low:.0f} to {self.high:.0f})"
        return f"about {self.expected:.0f} targets per 1,000 further requests {interval}"

    def as_json(self) -> dict[str, float]:
        """Return values for JSON."""
        return {"expected": round(self.expected, 2), "low": round(self.low, 2), "high": round(self.high, 2)}


class BlockCounts:
    """Requests in blocks: the targets and the promises at the end of each, and how clustered targets come."""

    def __init__(self) -> None:
        # At the end of each block: the targets so far, what was promised for all requests, what waited.
        self.targets = array("Q", (0,))
        self.promised = array("d", (0.0,))
        self.waiting = array("q", (_UNKNOWN,))
        self._square_sum = 0
        # The last block that brought any.
        self._last_wet = 0
        self._promised = 0.0

    def __len__(self) -> int:
        """Count the blocks that are full."""
        return len(self.targets) - 1

    def observe(self, requests: int, targets: int, score: float | None) -> bool:
        """Take the counts after a request, which never fall, and its score; True at the end of a block."""
        self._promised += score or 0.0
        if requests < len(self.targets) * BLOCK_REQUESTS:
            return False
        while requests >= len(self.targets) * BLOCK_REQUESTS:
            gained = targets - self.targets[-1]
            self._square_sum += gained * gained
            self.targets.append(targets)
            self.promised.append(self._promised)
            self.waiting.append(_UNKNOWN)
            if gained:
                self._last_wet = len(self)
        return True

    def clustering(self) -> float:
        """Return how much more than Poisson's the counts vary, up to the last target; 1 where they do not.

        The dry end itself is left out, or each crawl would look lumpy for having ended.
        """
        if not self._last_wet:
            return 1.0
        mean = self.targets[-1] / self._last_wet
        return max(1.0, (self._square_sum / self._last_wet - mean * mean) / mean)


class Forecast:
    """Foresees the next requests of one crawl."""

    def __init__(self, blocks: BlockCounts) -> None:
        self._blocks = blocks

    def look(self, strategy: Foresees) -> Estimate | None:
        """Estimate from what waits in a strategy; None where it does not say."""
        ahead = forecast_requests(len(self._blocks) * BLOCK_REQUESTS)
        outlook = strategy.outlook(ahead)
        if outlook is None:
            return None
        self._blocks.waiting[-1] = outlook.waiting
        back = min(len(self._blocks), max(1, ahead // (2 * BLOCK_REQUESTS)))
        expected = outlook.promised * self._growth(outlook, ahead, back) * self._trust(back)
        return self._ranged(expected, ahead)

    def _growth(self, outlook: Outlook, ahead: int, back: int) -> float:
        """Return how many times as many links as wait now will be requested, since new ones will be found."""
        known = min(ahead, outlook.waiting)
        if not known:
            return 0.0
        waited = self._blocks.waiting[-1 - back :]
        known_from = next(at for at, count in enumerate(waited) if count != _UNKNOWN)
        requests = (back - known_from) * BLOCK_REQUESTS
        # After a resume nothing is known of earlier times: then what waits is taken to grow.
        new_links = 1 + (outlook.waiting - waited[known_from]) / requests if requests else _MOST_GROWTH
        lasts = outlook.waiting / (1 - min(max(new_links, 0.0), _MOST_GROWTH))
        return max(1.0, min(ahead, lasts) / known)

    def _trust(self, back: int) -> float:
        blocks = self._blocks
        came = blocks.targets[-1] - blocks.targets[-1 - back]
        promised = blocks.promised[-1] - blocks.promised[-1 - back]
        return min(_MOST_TRUST, (came + _PRIOR_TARGETS) / (promised + _PRIOR_TARGETS))

    def _ranged(self, expected: float, ahead: int) -> Estimate:
        """Return the interval: that of a Gamma distribution with this mean."""
        off_by = _OFF_BY_LEAST + _OFF_BY_MORE * max(0.0, 1 - expected / ahead)
        per_event = self._blocks.clustering() + off_by * off_by * expected
        low, high = (
            per_event * gamma_quantile(expected / per_event + prior, z)
            for prior, z in ((0.0, -Z), (PRIOR_EVENTS, Z))
        )
        scale = THOUSAND / ahead
        # No request brings more than one.
        return Estimate(scale * expected, scale * min(low, expected), scale * min(high, ahead))


def forecast_requests(done: int) -> int:
    """Return how many requests a forecast covers, after this many."""
    return int(min(max(_SHARE_AHEAD * done, _LEAST_AHEAD), _MOST_AHEAD))


def gamma_quantile(events: float, z: float) -> float:
    """Approximate a quantile of the Gamma distribution with scale 1 (Wilson and Hilferty).

    >>> round(gamma_quantile(10.0, 0.0), 2), gamma_quantile(0.0, 1.0)
    (9.67, 0.0)
    """
    if events <= 0:
        return 0.0
    root = 1 - 1 / (9 * events) + z / (3 * math.sqrt(events))
    return events * max(0.0, root) ** 3
