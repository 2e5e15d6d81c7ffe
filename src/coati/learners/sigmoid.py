"""From log-odds to a probability."""

from __future__ import annotations

import math

# Beyond this the log-odds say nothing more, and the exponential would overflow.
FAR = 30.0


def sigmoid(log_odds: float) -> float:
    """Return the probability that has these log-odds.

    >>> sigmoid(0.0), sigmoid(1e9) < 1
    (0.5, True)
    """
    # Asked for several times per request: comparisons are faster than max() and min().
    if log_odds > FAR:
        log_odds = FAR
    elif log_odds < -FAR:
        log_odds = -FAR
    return 1 / (1 + math.exp(-log_odds))
