"""Which of many sites gets the next request of one budget.

Each site is crawled by a strategy of its own, which may say what its next choices promise (`Expects` of
`coati.strategies.strategy`). The best use of a request is where most is promised, so the site with the
highest value goes next. A value has three parts:

- The promise, or where the strategy makes none, the yield of the site so far.
- How much such promises were worth on this site: targets that came, divided by what was promised for the
  same requests. To both ``prior_targets`` are added, so that a few answers prove little. A site whose links
  look like files and lead to errors sinks by this, and one that gives more than its links show rises. The
  latest requests count most: with each one, what earlier ones proved counts ``fade`` times as much, so that a
  site that kept its promises and is exhausted now does not live on them.
- Doubt about sites that were tried little, ``doubt`` divided by the root of their requests and nine more. The
  nine keep the first answers of a site from being outweighed: what it promises after its start page counts.

A site without a request yet goes before all others. Where shares are ``fair``, every second choice goes to
the site with the fewest requests instead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from coati.bandits.arm_heap import ArmHeap
from coati.bandits.policy import Choice

# Chosen on recorded crawls of fifteen sites and checked on draws of them and generated ones (decision 74).
DOUBT = 0.7
_DOUBT_FROM = 9
PRIOR_TARGETS = 20.0
# The last hundred requests or so say what promises are worth; from 50 to 200 make no difference.
FADE = 0.99

# A site without a promise is expected to yield what it did, and this before it has done anything.
_UNTRIED_YIELD = 0.5


class Promises(NamedTuple):
    """What a site promises for its next request, None where it is unknown, and how it kept its promises.

    ``promised`` and ``came`` are what was promised for its latest requests, and the targets that they
    brought. Without them nothing is proved: the site is taken at its word.
    """

    promise: float | None = None
    promised: float = 0.0
    came: float = 0.0

    def after(self, targets: int, promise: float | None, fade: float = FADE) -> Promises:
        """Return what is known after a request that brought targets, with what is promised for the next."""
        # Where nothing was promised, nothing is proved about promises: the targets count as expected.
        expected = targets if self.promise is None else self.promise
        return Promises(promise, fade * self.promised + expected, fade * self.came + targets)


class _Site:
    """What is known of one site."""

    __slots__ = ("awake", "done", "promises", "requests", "targets")

    def __init__(self) -> None:
        self.requests = 0
        self.targets = 0
        self.promises = Promises()
        self.awake = False
        self.done = False


class SiteChoice:
    """Chooses among sites; the arms are their numbers. Which sites sleep is the driver's business.

    >>> choice = SiteChoice()
    >>> choice.wake(0); choice.wake(1)
    >>> choice.pull(0); choice.observe(0, targets=0, promise=0.2)
    >>> choice.pull(1); choice.observe(1, targets=0, promise=0.9)
    >>> choice.choose().arm
    1
    """

    def __init__(
        self,
        *,
        fair: bool = False,
        doubt: float = DOUBT,
        prior_targets: float = PRIOR_TARGETS,
        fade: float = FADE,
    ) -> None:
        self._fair = fair
        self._doubt = doubt
        self._prior = prior_targets
        self._fade = fade
        self._sites: list[_Site] = []
        # Those that are awake; the second one only where shares are fair.
        self._by_value, self._by_requests = ArmHeap(), ArmHeap()
        self._pulls = 0

    def choose(self) -> Choice | None:
        """Return the site that goes next, and its value; None if all sleep. It is not yet a pull."""
        heap = self._by_requests if self._fair and self._pulls % 2 else self._by_value
        return Choice(heap.best(), self.value(heap.best())) if len(heap) else None

    def pull(self, arm: int) -> None:
        """Count a request of a site at once; its result comes later."""
        self._pulls += 1
        self._sites[arm].requests += 1
        self._changed(arm)

    def undo_pull(self, arm: int) -> None:
        """Undo a request that was not made, or that failed in an outage."""
        self._sites[arm].requests -= 1
        self._changed(arm)

    def observe(self, arm: int, targets: int, promise: float | None) -> None:
        """Learn what a request brought, beside what was promised before it, and what is promised now."""
        site = self._sites[arm]
        site.targets += targets
        site.promises = site.promises.after(targets, promise, self._fade)
        self._changed(arm)

    def resume(self, arm: int, requests: int, targets: int, promises: Promises) -> None:
        """Take over what earlier sessions saw of a site."""
        site = self._made(arm)
        site.requests, site.targets, site.promises = requests, targets, promises
        self.sleep(arm)

    def wake(self, arm: int) -> None:
        """Let a site be chosen; one that was never seen is made."""
        site = self._made(arm)
        if not site.awake and not site.done:
            site.awake = True
            self._changed(arm)

    def sleep(self, arm: int) -> None:
        """Keep a site from being chosen for now: it is busy, or has to rest."""
        if self._sites[arm].awake:
            self._sites[arm].awake = False
            self._by_value.remove(arm)
            if self._fair:
                self._by_requests.remove(arm)

    def end(self, arm: int) -> None:
        """Keep a site from being chosen for good: all else is for the others."""
        self.sleep(arm)
        self._sites[arm].done = True

    def reopen(self, arm: int) -> None:
        """Take back the end of a site; it sleeps until it is woken."""
        self._sites[arm].done = False

    def value(self, arm: int) -> float:
        """Return what decides about a site."""
        site = self._sites[arm]
        if not site.requests:
            return math.inf
        doubt = self._doubt / math.sqrt(site.requests + _DOUBT_FROM)
        promise, promised, came = site.promises
        if promise is None:
            return (site.targets + _UNTRIED_YIELD) / (site.requests + 1) + doubt
        worth = (came + self._prior) / (promised + self._prior)
        # No request brings more than one target.
        return min(1.0, promise * worth) + doubt

    def _made(self, arm: int) -> _Site:
        while len(self._sites) <= arm:
            self._sites.append(_Site())
        return self._sites[arm]

    def _changed(self, arm: int) -> None:
        """Put a site in its place; of equal ones, the first of the list goes first."""
        site = self._sites[arm]
        if site.awake:
            self._by_value.put(arm, self.value(arm), -arm)
            if self._fair:
                self._by_requests.put(arm, -site.requests, -arm)
