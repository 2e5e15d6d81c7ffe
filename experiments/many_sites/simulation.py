"""Ways to spend one budget over sites, on recorded crawls (`recording`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coati.bandits.site_choice import DOUBT, PRIOR_TARGETS, SiteChoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.many_sites.recording import RecordedSite

# Shares that the choice that knows all curves tries, as parts of the budget.
_PARTS = 1000


def by_promise(
    sites: Sequence[RecordedSite],
    budget: int,
    *,
    doubt: float = DOUBT,
    prior_targets: float = PRIOR_TARGETS,
    fair: bool = False,
    told: bool = True,
) -> list[int]:
    """Let `SiteChoice` spend the budget; ``told``: strategies tell what they expect. Returns the shares."""
    choice = SiteChoice(fair=fair, doubt=doubt, prior_targets=prior_targets)
    shares = [0] * len(sites)
    for arm in range(len(sites)):
        choice.wake(arm)
    for _ in range(budget):
        chosen = choice.choose()
        if chosen is None:
            break
        arm = chosen.arm
        site, at = sites[arm], shares[arm]
        choice.pull(arm)
        shares[arm] += 1
        choice.observe(arm, int(site.gained[at]), _told(site, at + 1) if told else None)
        if shares[arm] == len(site.gained):
            choice.end(arm)
    return shares


def _told(site: RecordedSite, place: int) -> float | None:
    if place >= len(site.expected):
        return 0.0
    promise = float(site.expected[place])
    return None if math.isnan(promise) else promise


def equal_split(sites: Sequence[RecordedSite], budget: int) -> list[int]:
    """Return every site the same part of the budget; what a site does not need is lost."""
    return [min(budget // len(sites), len(site.gained)) for site in sites]


def round_robin(sites: Sequence[RecordedSite], budget: int) -> list[int]:
    """Ask every site in turn; what a site does not need goes to the others."""
    shares = [0] * len(sites)
    left = budget
    while left > 0:
        open_sites = [arm for arm, site in enumerate(sites) if shares[arm] < len(site.gained)]
        if not open_sites:
            break
        each = max(1, left // len(open_sites))
        for arm in open_sites:
            given = min(each, left, len(sites[arm].gained) - shares[arm])
            shares[arm] += given
            left -= given
    return shares


def knowing(sites: Sequence[RecordedSite], budget: int) -> list[int]:
    """Return the best shares for who knows each site's curve, to a thousandth of the budget."""
    part = max(1, budget // _PARTS)
    parts = budget // part
    best = np.zeros(parts + 1)
    choices = []
    for site in sites:
        ends = np.minimum(np.arange(parts + 1) * part, len(site.gained))
        curve = np.concatenate([[0], np.cumsum(site.gained)])[ends]
        # For each amount: the best of giving this site some parts and the sites before it the rest.
        totals = np.full((parts + 1, parts + 1), -1.0)
        for given in range(parts + 1):
            totals[given:, given] = best[: parts + 1 - given] + curve[given]
        choices.append(totals.argmax(1))
        best = totals.max(1)
    shares = []
    left = parts
    for site, given_at in zip(reversed(sites), reversed(choices), strict=True):
        given = int(given_at[left])
        shares.append(min(given * part, len(site.gained)))
        left -= given
    return shares[::-1]


def targets(sites: Sequence[RecordedSite], shares: Sequence[int]) -> int:
    """Count what shares of a budget bring."""
    return sum(site.targets(share) for site, share in zip(sites, shares, strict=True))
