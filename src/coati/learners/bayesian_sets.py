"""Bayesian Sets: how much a page belongs to the same set as some examples (Ghahramani and Heller, 2005)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How much the mean over all pages counts as knowledge beforehand.
_PRIOR = 2.0
_LEAST_SHARE = 0.1
_LEAST_PAGES = 2


def bayesian_sets(seeds: Sequence[Mapping[str, int]], pages: Sequence[Mapping[str, int]]) -> list[float]:
    """Score pages by their words, each there or not, against the words of the seeds.

    >>> low, high = bayesian_sets([{"rain": 1, "data": 1}, {"rain": 2}], [{"soup": 1}, {"rain": 1}])
    >>> low < high
    True
    """
    count = len(seeds)
    seeds_with = Counter(word for seed in seeds for word in seed)
    least = max(_LEAST_PAGES / count, _LEAST_SHARE) if count else 1.0
    words = [word for word, among in seeds_with.items() if among / count >= least]
    if not words or not pages:
        return [0.0] * len(pages)
    there = np.array([[word in page for word in words] for page in pages], float)
    everywhere = np.concatenate([there, [[word in seed for word in words] for seed in seeds]])
    mean = np.clip(everywhere.mean(0), 1e-6, 1 - 1e-6)
    alpha, beta = _PRIOR * mean, _PRIOR * (1 - mean)
    among = np.array([seeds_with[word] for word in words], float)
    alpha_now, beta_now = alpha + among, beta + count - among
    constant = (np.log(alpha + beta) - np.log(alpha + beta + count) + np.log(beta_now) - np.log(beta)).sum()
    weights = np.log(alpha_now) - np.log(alpha) - np.log(beta_now) + np.log(beta)
    return [float(score) for score in constant + there @ weights]
