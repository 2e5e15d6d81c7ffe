"""Watches replayed over a history, and what they are measured by.

``coverage`` is the share of the new links that a visit to every page in every cycle would have found. The age
of a link is the time from the cycle in which such visits would have found it to the one that did.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.budget import Budget
from coati.errors import UsageError
from coati.model import Method, Page, Request, Unchanged
from coati.replaying.clock import SimulatedClock
from coati.replaying.driver import ReplayOptions, replay
from coati.strategies.revisits.links import FoundLinks, Sites
from coati.strategies.revisits.watch import Watch
from coati.web.out_links import with_out_links

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import numpy.typing as npt

    from coati.replaying.driver import ReplaySource
    from coati.strategies.revisits.links import Relevant
    from coati.strategies.strategy import Strategy

_HOUR = 3600.0
# Captures that follow each other within this time are of one snapshot.
_SNAPSHOT_GAP_SECONDS = 600.0
# All visits of a cycle see the same moment, but for these.
_SECONDS_PER_REQUEST = 0.001


def snapshot_times(moments: Iterable[float]) -> tuple[float, ...]:
    """Return when each snapshot of a history was complete.

    >>> snapshot_times([0.0, 5.0, 9.0, 3600.0, 3601.0])
    (9.0, 3601.0)
    """
    found: list[float] = []
    for moment in sorted(moments):
        if found and moment - found[-1] <= _SNAPSHOT_GAP_SECONDS:
            found[-1] = moment
        else:
            found.append(moment)
    return tuple(found)


class WatchTruth:
    """What a visit to every page in every cycle finds (`coati.strategies.revisits.truth.PageTruth`)."""

    def __init__(
        self,
        site: ReplaySource,
        urls: Sequence[str],
        moments: Sequence[float],
        relevant: Relevant | None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        sites = Sites(urls)
        found = FoundLinks(sites, relevant)
        for url in urls:
            found.ignore(url)
        site_of = [sites.of(url) for url in urls]
        self._times: list[list[float]] = [[] for _ in urls]
        self._shown: list[list[frozenset[int]]] = [[] for _ in urls]
        observed: dict[str, float] = {}
        for cycle, moment in enumerate(moments):
            for page, url in enumerate(urls):
                outcome = site.respond(Request(0, Method.GET, url), moment, observed)
                if isinstance(outcome, Unchanged):
                    continue
                there: Collection[int] = ()
                if isinstance(outcome, Page):
                    shown = with_out_links(outcome) if outcome.out_links is None else outcome
                    found.add(shown.links, shown.out_links or ())
                    there = found.counting(site_of[page], shown.out_links or ())
                    found.find(there, cycle)
                self._times[page].append(moment)
                self._shown[page].append(frozenset(there))
            if progress is not None:
                progress(cycle + 1, len(moments))
        self.first_cycle = {key: cycle for key, cycle in found.found().items() if cycle > 0}

    def links(self, page: int, now: float) -> Collection[int]:
        """Return what a visit to a page finds."""
        place = bisect_right(self._times[page], now) - 1
        return self._shown[page][place] if place >= 0 else ()


@dataclass(frozen=True, slots=True)
class WatchRun:
    """One watch, measured; ``curve`` is the coverage of what was new until each cycle.

    ``bound``: the strategy is what others are measured against.
    """

    strategy: str
    seed: int | None
    per_cycle: int
    relevant: str
    coverage: float | None
    mean_age_hours: float | None
    within_1h: float | None
    within_4h: float | None
    new_links: int
    new_links_total: int
    cycles: int
    requests: int
    cpu_seconds: float
    curve: npt.NDArray[np.float64]
    ages: npt.NDArray[np.float64]
    bound: bool = False

    def row(self) -> dict[str, Any]:
        """Return the run as one flat object; None where nothing was new or nothing was found."""
        names = (
            *("strategy", "seed", "per_cycle", "relevant", "coverage", "mean_age_hours"),
            *("within_1h", "within_4h", "new_links", "new_links_total", "cycles", "requests"),
        )
        return {**{name: getattr(self, name) for name in names}, "cpu_seconds": round(self.cpu_seconds, 4)}


@dataclass(frozen=True, slots=True)
class WatchStudy:
    """Runs watches of the same pages over the same cycles of a history."""

    site: ReplaySource
    truth: WatchTruth
    moments: tuple[float, ...]
    relevant: str = ""

    def run(
        self,
        name: str,
        seed: int | None,
        strategy: Strategy,
        progress: Callable[[int, int], None] | None = None,
    ) -> WatchRun:
        """Make one run."""
        if not isinstance(strategy, Watch):
            raise UsageError(
                f"{name} does not watch pages, so it cannot be measured by what it finds again; a strategy of"
                " your own does as a StrategyRow that needs Need.HISTORY and builds a Watch"
            )
        clock = SimulatedClock(self.moments[0], _SECONDS_PER_REQUEST)
        options = ReplayOptions(history=True, out_links=True, clock=clock)
        made = replay(self.site, strategy, Budget(), progress=progress, options=options)
        first = self.truth.first_cycle
        # What a page shows that only a first look saw is known; what no visit could see does not count.
        found = {key: cycle for key, cycle in strategy.found().items() if cycle > 0 and key in first}
        moments = np.array(self.moments)
        ages = (moments[list(found.values())] - moments[[first[key] for key in found]]) / _HOUR
        cycles = len(self.moments)
        return WatchRun(
            name,
            seed,
            strategy.settings.per_cycle,
            self.relevant,
            _share(len(found), len(first)),
            float(ages.mean()) if found else None,
            _share(int((ages <= 1).sum()), len(found)),
            _share(int((ages <= 4).sum()), len(found)),  # noqa: PLR2004 - as the name says
            len(found),
            len(first),
            strategy.cycles_begun,
            len(made.trace),
            made.cpu_seconds,
            _curve(list(found.values()), list(first.values()), cycles),
            ages,
        )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _curve(found: Sequence[int], first: Sequence[int], cycles: int) -> npt.NDArray[np.float64]:
    """Return what was found until each cycle, in parts of what was new until then."""
    got = np.bincount(np.array(found, np.int64), minlength=cycles).cumsum()
    new = np.bincount(np.array(first, np.int64), minlength=cycles).cumsum()
    shares: npt.NDArray[np.float64] = got / np.maximum(new, 1)
    return shares
