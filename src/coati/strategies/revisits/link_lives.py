"""How long links stay on a page, and what that makes a visit worth.

The mean life of a page's links is learnt from how many of them have left when it is visited again. Around
that mean lives are spread: most links stay for a part of it, a few for several times as long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Spread = Sequence[tuple[float, float]]


def _spread() -> Spread:
    """Return lives in parts of their mean, and the share of the links that have each.

    From one to 36, as the hours and days that links of a news page stay; shares fall with the root of it.
    """
    lives = np.array([1.0, 3.0, 12.0, 36.0])
    shares = lives**-0.5 / (lives**-0.5).sum()
    return list(zip((lives / (lives @ shares)).tolist(), shares.tolist(), strict=True))


SPREAD = _spread()
# What is known before any link was seen to leave: this mean life, as if this many links had left.
_FIRST_MEAN_HOURS = 12.0
_PRIOR_LINKS = 5.0


def departures(stood: float, left: float) -> float:
    """Return how many links would have left by now if each that leaves made room for another.

    >>> departures(20, 0), round(departures(20, 10), 1), round(departures(20, 20), 1)
    (-0.0, 13.4, 74.3)
    """
    return -stood * math.log((stood - left + 0.5) / (stood + 0.5))


def usual_life(left: Floats, link_hours: Floats) -> float:
    """Return the mean life over all pages: the hours that links stood there, for each link that left."""
    return float((link_hours.sum() + _PRIOR_LINKS * _FIRST_MEAN_HOURS) / (left.sum() + _PRIOR_LINKS))


def mean_lives(left: Floats, link_hours: Floats, usual: float) -> Floats:
    """Return the mean life on each page, drawn to what is usual."""
    lives: Floats = (link_hours + _PRIOR_LINKS * usual) / (left + _PRIOR_LINKS)
    return lives


def looked_back_on(hours: Floats, mean_life: Floats, spread: Spread = SPREAD) -> Floats:
    """Return how many of some hours a visit can look back on, since links do not stay."""
    back = np.zeros(np.broadcast_shapes(hours.shape, mean_life.shape))
    for part, share in spread:
        life = mean_life * part
        back -= share * life * np.expm1(-hours / life)
    return back


def worth_of_visits(hours: Floats, mean_life: Floats, spread: Spread = SPREAD) -> Floats:
    """Return the value of visits to pages to which one link per hour comes, some hours after the last.

    With links that stay for a ``life`` on average (exponentially), a visit after ``x = hours / life`` finds
    ``life * (1 - exp(-x))``, and ``life * x * exp(-x)`` of these a later visit would find just as well: what
    is left is by how much visiting more often pays (Whittle's index of this process).
    """
    worth = np.zeros(np.broadcast_shapes(hours.shape, mean_life.shape))
    for part, share in spread:
        life = mean_life * part
        x = hours / life
        worth += share * life * (1 - np.exp(-x) * (1 + x))
    return worth
