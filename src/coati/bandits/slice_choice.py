"""Which of many sites gets the next slice of one budget, where slices run elsewhere and at once.

`coati.bandits.site_choice` decides which site is worth most. Here is what slices need beyond that:

- A slice reserves its requests, so that the budget is kept while many are out. The first slice of a site is
  short; later ones are as long as all before together, up to a bound. So little is spent on sites that hold
  nothing, and little time on pausing and resuming crawls.
- Sites of one group (those of one domain) are never out at once.
- A site that must be left alone sleeps until then.
- A site whose worker died is a *suspect* until a slice of it ends. Slices of suspects are short, and of them
  as many are out as there are workers to give one to each: where a worker crawls many sites, the one that
  kills it is distinguished from those that died with it.

Time is an argument, in seconds of any clock that does not go back. Each call costs the logarithm of the
number of sites, and the size of the site's group.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coati.bandits.site_choice import Promises, SiteChoice
from coati.budget import Budget, Limit

# However small the budget, a slice is worth its costs.
_LEAST_REQUESTS = 10


@dataclass(frozen=True, slots=True)
class SliceSizes:
    """How long slices are: requests of the first one of a site and at most, and seconds."""

    first_requests: int = 50
    most_requests: int = 1000
    seconds: float = 300.0


class ChosenSlice(NamedTuple):
    """A site, by its number, and what its slice may spend; a suspect is to be apart from others."""

    site: int
    requests: int
    seconds: float
    value: float
    is_suspect: bool


class SiteCounts(NamedTuple):
    """What a site's run has taken and given in all, and what it promises."""

    requests: int = 0
    targets: int = 0
    bytes: int = 0
    promises: Promises = Promises()


def _first_size(wanted: int, budget: int | None, sites: int) -> int:
    """Return how many requests first slices have: together they take half of a small budget at most."""
    if budget is None:
        return wanted
    return min(wanted, max(_LEAST_REQUESTS, budget // (2 * max(1, sites))))


class SliceChoice:
    """Chooses sites for slices; ``groups`` has the group of each site, whose place is its number.

    >>> choice = SliceChoice(["a.org", "b.org"], Budget(max_requests=200))
    >>> choice.choose(0.0).site, choice.choose(0.0).site, choice.choose(0.0)
    (0, 1, None)
    >>> choice.ended(0, SiteCounts(requests=50, targets=3), now=10.0)
    >>> choice.choose(11.0).requests
    50
    """

    def __init__(
        self,
        groups: Sequence[str],
        budget: Budget,
        sizes: SliceSizes | None = None,
        *,
        fair: bool = False,
    ) -> None:
        self._choice = SiteChoice(fair=fair)
        self._budget = budget
        self._sizes = sizes or SliceSizes()
        self._first = _first_size(self._sizes.first_requests, budget.max_requests, len(groups))
        self._groups = list(groups)
        self._members: dict[str, list[int]] = {}
        for number, group in enumerate(groups):
            self._members.setdefault(group, []).append(number)
        self._counts = [SiteCounts()] * len(self._groups)
        self._over: set[int] = set()
        # The requests that are reserved for each slice that is out, and their sum.
        self._out: dict[int, int] = {}
        self._busy: set[str] = set()
        self._reserved = 0
        self._suspects: set[int] = set()
        # Suspects that wait for another one to come back.
        self._parked: list[int] = []
        self._asleep: list[tuple[float, int]] = []
        self._sleeps_until: dict[int, float] = {}
        self.requests = self.targets = self.bytes = 0
        # Those of which nothing is known yet; they are woken at the first choice.
        self._unheard = set(range(len(self._groups)))

    @property
    def out(self) -> int:
        """How many slices are out."""
        return len(self._out)

    @property
    def left(self) -> int:
        """How many sites are not over."""
        return len(self._groups) - len(self._over)

    def counts_of(self, site: int) -> SiteCounts:
        """Return what is known of a site."""
        return self._counts[site]

    def resume(self, site: int, counts: SiteCounts, *, over: bool = False) -> None:
        """Take over what was published of a site earlier; ``over``: it must not be crawled further."""
        self._unheard.discard(site)
        self._count(site, counts)
        if over:
            self.end(site)
        else:
            self._choice.wake(site)

    def limit(self, seconds: float) -> Limit | None:
        """Say which part of the budget is spent after this many seconds."""
        return self._budget.spent(self.requests, self.bytes, seconds, self.targets)

    def choose(self, now: float, suspects_at_once: int = 1) -> ChosenSlice | None:
        """Return the site whose slice goes out next; None if there is none now (see `wakes_at`)."""
        self._wake(now)
        for site in sorted(self._unheard):
            self._choice.wake(site)
        self._unheard.clear()
        requests_left = self._requests_left()
        if requests_left <= 0:
            return None
        while (chosen := self._choice.choose()) is not None:
            if chosen.arm not in self._suspects or self._suspects_out() < suspects_at_once:
                return self._send(chosen.arm, requests_left, chosen.score)
            self._choice.sleep(chosen.arm)
            self._parked.append(chosen.arm)
        return None

    def wakes_at(self) -> float | None:
        """Return when the next site that sleeps may be chosen; None if none sleeps."""
        return self._asleep[0][0] if self._asleep else None

    def ended(self, site: int, counts: SiteCounts, now: float, free_at: float = 0.0) -> None:
        """Learn the state of a run after its slice; the site gets no slice until ``free_at``."""
        self._suspects.discard(site)
        self._count(site, counts)
        self._back(site, now, free_at)

    def held(self, site: int, now: float, until: float, counts: SiteCounts | None = None) -> None:
        """Learn that a slice failed, and the state of the run if that is known; it is tried again."""
        self._count(site, self._counts[site] if counts is None else counts)
        self._back(site, now, until)

    def died(self, site: int, now: float, until: float = 0.0, counts: SiteCounts | None = None) -> None:
        """Learn that the worker of a slice is gone; it is tried again, as a suspect."""
        self._suspects.add(site)
        self.held(site, now, until, counts)

    def end(self, site: int) -> None:
        """Never choose a site again."""
        self._over.add(site)
        self._unheard.discard(site)
        self._suspects.discard(site)
        self._choice.end(site)
        self._sleeps_until.pop(site, None)
        if site in self._out:
            self._back(site, 0.0, 0.0)

    def reopen(self, site: int, now: float) -> None:
        """Take back that a site is over; it is a suspect."""
        self._over.discard(site)
        self._choice.reopen(site)
        self._suspects.add(site)
        self._sleep(site, now)

    def _requests_left(self) -> int:
        most = self._budget.max_requests
        if most is None:
            return self._sizes.most_requests
        return most - self.requests - self._reserved

    def _suspects_out(self) -> int:
        return sum(site in self._out for site in self._suspects)

    def _send(self, site: int, requests_left: int, value: float) -> ChosenSlice:
        sizes = self._sizes
        is_suspect = site in self._suspects
        most = self._first if is_suspect else sizes.most_requests
        wanted = max(self._first, min(self._counts[site].requests, most))
        requests = min(wanted, requests_left)
        self._choice.pull(site)
        self._out[site] = requests
        self._reserved += requests
        group = self._groups[site]
        self._busy.add(group)
        for member in self._members[group]:
            self._choice.sleep(member)
        return ChosenSlice(site, requests, sizes.seconds, value, is_suspect)

    def _back(self, site: int, now: float, until: float) -> None:
        """Take a site back, and let its group continue."""
        self._reserved -= self._out.pop(site, 0)
        for parked in self._parked:
            self._sleep(parked, now)
        self._parked.clear()
        group = self._groups[site]
        self._busy.discard(group)
        # A request to one site of a group delays those to the others of it, too.
        for member in self._members[group]:
            if member not in self._over:
                self._sleep(member, max(until, self._sleeps_until.get(member, now)))
        self._wake(now)

    def _sleep(self, site: int, until: float) -> None:
        self._choice.sleep(site)
        self._sleeps_until[site] = until
        heapq.heappush(self._asleep, (until, site))

    def _wake(self, now: float) -> None:
        while self._asleep and self._asleep[0][0] <= now:
            until, site = heapq.heappop(self._asleep)
            if self._sleeps_until.get(site) == until:
                del self._sleeps_until[site]
                if self._groups[site] not in self._busy:
                    self._choice.wake(site)

    def _count(self, site: int, counts: SiteCounts) -> None:
        before = self._counts[site]
        self.requests += counts.requests - before.requests
        self.targets += counts.targets - before.targets
        self.bytes += counts.bytes - before.bytes
        self._counts[site] = counts
        self._choice.resume(site, counts.requests, counts.targets, counts.promises)
