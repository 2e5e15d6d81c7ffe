"""The largest of many draws from one Beta distribution, drawn at once.

The largest of n draws is the point above which a share q = 1 - U^(1/n) of the distribution lies. For whole
parameters that share is a short sum (the tail of a binomial), so the point is found by halving.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

_HALVINGS = 48
_NEGLIGIBLE = 1e-15


def log_coefficient(alpha: int, beta: int) -> float:
    """Return the constant of `share_above`: the logarithm of C(alpha + beta - 1, alpha - 1)."""
    return lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta + 1)


def share_above(point: float, alpha: int, beta: int, constant: float) -> float:
    """Return the share of Beta(alpha, beta) above a point; quick where that is beyond the middle.

    >>> round(share_above(0.5, 2, 2, log_coefficient(2, 2)), 12)
    0.5
    """
    if point <= 0:
        return 1.0
    if point >= 1:
        return 0.0
    ratio, term, total = (1 - point) / point, 1.0, 1.0
    for step in range(1, alpha):
        term *= (alpha - step) / (beta + step) * ratio
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return min(1.0, exp(constant + (alpha - 1) * log(point) + beta * log1p(-point)) * total)


def shares_above(points: Numbers, alphas: Numbers, betas: Numbers, constants: Numbers) -> Numbers:
    """Return `share_above` of many distributions, each at a point of its own between 0 and 1."""
    ratios = (1 - points) / points
    term, total = np.ones_like(points), np.ones_like(points)
    for step in range(1, int(alphas.max(initial=1))):
        term *= (alphas - step).clip(0) / (betas + step) * ratios
        total += term
        if (term < _NEGLIGIBLE * total).all():
            break
    logs = constants + (alphas - 1) * np.log(points) + betas * np.log1p(-points) + np.log(total)
    return np.exp(np.minimum(logs, 0.0))


def point_with_share_above(share: float, alpha: int, beta: int, constant: float, least: float) -> float:
    """Return the point above which a share of the distribution lies; it is known to be above ``least``."""
    low, high = least, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if share_above(middle, alpha, beta, constant) > share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
