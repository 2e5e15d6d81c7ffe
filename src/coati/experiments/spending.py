"""Ways to spend one budget over many sites, played on recorded crawls (`coati.replaying.site_records`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coati.bandits.site_choice import DOUBT, FADE, PRIOR_TARGETS, SiteChoice
from coati.errors import unknown_name
from coati.replaying.site_records import SiteRecord

# Shares that a choice that knows curves tries, as parts of the budget.
_PARTS = 1000

# How long a site without a file is asked, where sites are known from their first file on.
_PATIENCE = (1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000)


@dataclass(frozen=True, slots=True)
class Spending:
    """How a budget is spent over sites: ``way`` is one of `WAYS`.

    ``fair``, ``doubt``, ``prior_targets`` and ``fade`` are those of `coati.bandits.site_choice`; ``told``:
    strategies tell what they expect. ``tries`` is what each site is asked before its curve is known.
    """

    way: str = "promise"
    fair: bool = False
    told: bool = True
    doubt: float = DOUBT
    prior_targets: float = PRIOR_TARGETS
    fade: float = FADE
    tries: int = 0

    def check(self) -> None:
        """Raise for a way that there is not."""
        if self.way not in WAYS:
            raise unknown_name("way to spend a budget", self.way, WAYS)

    def shares(self, sites: Sequence[SiteRecord], budget: int) -> list[int]:
        """Return how many requests each site gets."""
        return WAYS[self.way](self, sites, budget)


def found(sites: Sequence[SiteRecord], shares: Sequence[int]) -> int:
    """Count what shares of a budget bring."""
    return sum(site.found(share) for site, share in zip(sites, shares, strict=True))


def by_promise(how: Spending, sites: Sequence[SiteRecord], budget: int) -> list[int]:
    """Let `SiteChoice` spend the budget, as `coati harvest` does with one site at a time."""
    choice = SiteChoice(fair=how.fair, doubt=how.doubt, prior_targets=how.prior_targets, fade=how.fade)
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
        choice.observe(arm, int(site.gained[at]), _promise(site, at + 1) if how.told else None)
        if shares[arm] == len(site.gained):
            choice.end(arm)
    return shares


def _promise(site: SiteRecord, place: int) -> float | None:
    if place >= len(site.promised):
        return 0.0
    promise = float(site.promised[place])
    return None if math.isnan(promise) else promise


def equal_split(_: Spending, sites: Sequence[SiteRecord], budget: int) -> list[int]:
    """Give every site the same part of the budget; what a site does not need is lost."""
    return [min(budget // len(sites), len(site.gained)) for site in sites]


def round_robin(_: Spending, sites: Sequence[SiteRecord], budget: int) -> list[int]:
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


def knowing(how: Spending, sites: Sequence[SiteRecord], budget: int) -> list[int]:
    """Return the best shares for who knows each site's curve, to a thousandth of the budget.

    With ``tries``, every site is asked that often first, and known from then on.
    """
    tried = _tried(sites, [how.tries] * len(sites), budget)
    return _best_shares(sites, tried, [True] * len(sites), budget)


def from_first_file(_: Spending, sites: Sequence[SiteRecord], budget: int) -> list[int]:
    """Return the best shares for who knows a site's curve from its first file on, and nothing before.

    Before their first files all sites look alike, so that each is asked until it shows one, or given up after
    a number of requests that is chosen with hindsight. A bound for choices that learn from what comes.
    """
    best: list[int] = []
    for patience in _PATIENCE:
        first = [_first_file(site) for site in sites]
        tried = _tried(sites, [min(place, patience) for place in first], budget)
        shown = [share >= place for share, place in zip(tried, first, strict=True)]
        shares = _best_shares(sites, tried, shown, budget)
        if not best or found(sites, shares) > found(sites, best):
            best = shares
    return best


def _first_file(site: SiteRecord) -> int:
    """Return how many requests it takes to find one; more than there are, where there is none."""
    return int(site.gained.argmax()) + 1 if site.gained.any() else len(site.gained) + 1


def _tried(sites: Sequence[SiteRecord], wanted: Sequence[int], budget: int) -> list[int]:
    """Ask the sites in the order of the list, as far as the budget goes."""
    shares = []
    for site, requests in zip(sites, wanted, strict=True):
        shares.append(min(requests, len(site.gained), budget))
        budget -= shares[-1]
    return shares


def _best_shares(
    sites: Sequence[SiteRecord], tried: Sequence[int], known: Sequence[bool], budget: int
) -> list[int]:
    """Spend what is left beyond ``tried`` on the sites that are known, to a thousandth of it."""
    left = budget - sum(tried)
    part = max(1, left // _PARTS)
    parts = left // part
    best = np.zeros(parts + 1)
    choices = []
    for site, begun, is_known in zip(sites, tried, known, strict=True):
        if not is_known:
            choices.append(np.zeros(parts + 1, np.int64))
            continue
        ends = np.minimum(np.arange(parts + 1) * part, len(site.gained) - begun)
        curve = np.concatenate([[0], np.cumsum(site.gained[begun:])])[ends]
        # For each amount: the best of giving this site some parts and the sites before it the rest.
        totals = np.full((parts + 1, parts + 1), -1.0)
        for given in range(parts + 1):
            totals[given:, given] = best[: parts + 1 - given] + curve[given]
        choices.append(totals.argmax(1))
        best = totals.max(1)
    shares = []
    for site, begun, given_at in zip(reversed(sites), reversed(tried), reversed(choices), strict=True):
        given = int(given_at[parts])
        shares.append(min(begun + given * part, len(site.gained)))
        parts -= given
    return shares[::-1]


WAYS: dict[str, Callable[[Spending, Sequence[SiteRecord], int], list[int]]] = {
    "promise": by_promise,
    "round-robin": round_robin,
    "equal-split": equal_split,
    "knowing": knowing,
    "first-file": from_first_file,
}
