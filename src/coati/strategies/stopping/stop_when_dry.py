"""When a live crawl ends because what is left is hardly worth its requests; how hardly is a level.

A strategy that says what waits is stopped by the forecast (`forecast`): when it has stayed below the level's
floor for a while. One that found nothing yet, and any other one, is stopped by the recent yield alone
(`dry_spell`), which needs more requests before it can say anything.

What each level missed and saved over the replicas is in benchmarks/STOPPING.md.
"""

from __future__ import annotations

import math
from typing import Final

from coati.errors import ConfigError
from coati.strategies.stopping.dry_spell import DrySpell
from coati.strategies.stopping.forecast import BLOCK_REQUESTS, Estimate, Forecast
from coati.strategies.strategy import Foresees, Strategy

OFF: Final = "off"
NORMAL: Final = "normal"

# Targets per thousand further requests below which a crawl ends.
LEVELS: Final = {"careful": 2.0, NORMAL: 5.0, "eager": 10.0}

# Fewer requests say nothing: the first pages of a site are those that lead to others.
_LEAST_REQUESTS = 100
# The forecast must have stayed below the floor for this share of the requests, and for this many.
_PATIENCE_SHARE = 0.05
_LEAST_PATIENCE = 3 * BLOCK_REQUESTS
# A forecast looks at all that waits, so it is repeated only after this share of the requests.
_LOOK_SHARE = 0.02
# The rule by yield compares the upper end of its range. Above this floor it lost most of a site's targets.
_MOST_YIELD_FLOOR = 4.0


def floor_of(level: str) -> float | None:
    """Return the targets per thousand requests that a level, or a number, means; None for ``off``.

    >>> floor_of("careful"), floor_of("3.5"), floor_of("off")
    (2.0, 3.5, None)
    """
    if level == OFF:
        return None
    if level in LEVELS:
        return LEVELS[level]
    try:
        floor = float(level)
    except ValueError:
        floor = math.nan
    if not (math.isfinite(floor) and floor > 0):
        raise ConfigError(
            f"{level!r} is not a level: use {OFF}, {', '.join(LEVELS)} or a number of targets"
            " per 1,000 requests"
        )
    return floor


class StopWhenDry:
    """Stops when further requests can hardly be expected to bring anything (`EarlyStop`).

    ``floor`` is in targets per thousand requests. Without a strategy that foresees it is `DrySpell`:

    >>> rule = StopWhenDry()
    >>> next(n for n in range(1, 10_000) if rule.observe(n, min(n // 2, 500)))
    2000
    """

    def __init__(self, floor: float = LEVELS[NORMAL]) -> None:
        self._floor = floor
        self._by_yield = DrySpell(min(floor, _MOST_YIELD_FLOOR))
        self._forecast = Forecast(self._by_yield.blocks)
        self._next_look = _LEAST_REQUESTS
        self._foreseen: Estimate | None = None
        # The number of requests from which on the forecast was below the floor.
        self._low_since: int | None = None

    @property
    def estimate(self) -> Estimate | None:
        """What further requests would bring; None before that is known."""
        return self._by_yield.estimate if self._foreseen is None else self._foreseen

    def observe(
        self, requests: int, targets: int, score: float | None = None, strategy: Strategy | None = None
    ) -> bool:
        """Take the counts after a request; decide at the end of blocks."""
        full_blocks = len(self._by_yield.blocks)
        yields_little = self._by_yield.observe(requests, targets, score)
        due = len(self._by_yield.blocks) > full_blocks and requests >= self._next_look
        if due and strategy is not None and isinstance(strategy, Foresees):
            self._next_look = requests + int(_LOOK_SHARE * requests)
            self._foreseen = self._forecast.look(strategy)
        # What pays here is not known before the first target: until then scores are guesses.
        if self._foreseen is None or not targets:
            return yields_little
        return self._has_dried_up(requests, self._foreseen)

    def _has_dried_up(self, requests: int, foreseen: Estimate) -> bool:
        if foreseen.expected >= self._floor:
            self._low_since = None
            return False
        if self._low_since is None:
            self._low_since = requests
        return requests - self._low_since >= max(_LEAST_PATIENCE, _PATIENCE_SHARE * requests)
