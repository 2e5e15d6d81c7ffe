"""Medians and quartiles of measures that some runs never reached: those are infinite."""

from __future__ import annotations

import math
from collections.abc import Sequence


def quantile(numbers: Sequence[float], share: float) -> float:
    """Interpolate between sorted numbers; with infinity on one side there is nothing between."""
    at = share * (len(numbers) - 1)
    below, above = numbers[math.floor(at)], numbers[math.ceil(at)]
    if math.isinf(above):
        return above if at > math.floor(at) else below
    return below + (above - below) * (at - math.floor(at))
