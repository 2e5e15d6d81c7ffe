"""The schedulers by name; `coati.assembly` makes a row of its registry of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coati.errors import UsageError
from coati.strategies.revisits.arrivals import Arrivals, ArrivalsSettings, ThompsonArrivals
from coati.strategies.revisits.boosted_ranking import BoostedRanking
from coati.strategies.revisits.by_age import RoundRobin, WindowMean
from coati.strategies.revisits.coverage import Greedy, PastCover
from coati.strategies.revisits.exploring import BanditShare, Exploring, FixedShare
from coati.strategies.revisits.groups import GroupsByWindowMean
from coati.strategies.revisits.learning_to_rank import CoordinateAscent
from coati.strategies.revisits.predicting import Predicting
from coati.strategies.revisits.regression import Regression

if TYPE_CHECKING:
    from coati.strategies.revisits.scheduler import Scheduler
    from coati.strategies.revisits.truth import PageTruth


@dataclass(frozen=True, slots=True)
class SchedulerInputs:
    """What a scheduler is built from; ``truth`` is there for the one that needs it, and in replay only."""

    seed: int
    truth: PageTruth | None = None
    arrivals: ArrivalsSettings = field(default_factory=ArrivalsSettings)

    @property
    def known_truth(self) -> PageTruth:
        """The truth, which only a replay of a history has."""
        if self.truth is None:
            raise UsageError(
                "this strategy must know what is on every page: it works only in replay of a history"
            )
        return self.truth


@dataclass(frozen=True, slots=True)
class SchedulerRow:
    """What is known of a scheduler by name; ``settings`` are the fields of its inputs that change it.

    ``bound``: others are measured against it.
    """

    summary: str
    build: Callable[[SchedulerInputs], Scheduler]
    modules: tuple[str, ...]
    settings: tuple[str, ...] = ()
    seeded: bool = False
    needs_truth: bool = False
    bound: bool = False


def _modules(*names: str) -> tuple[str, ...]:
    return tuple(f"coati.strategies.revisits.{name}" for name in names)


_REG = _modules("predicting", "regression")

SCHEDULERS: Mapping[str, SchedulerRow] = {
    "arrivals": SchedulerRow(
        "watches, ours: the pages that cover most of the links expected to be new",
        lambda given: Arrivals(given.arrivals),
        _modules("arrivals"),
        settings=("arrivals",),
    ),
    "arrivals-thompson": SchedulerRow(
        "watches: arrivals with sampled rates",
        lambda given: ThompsonArrivals(given.seed, given.arrivals),
        _modules("arrivals"),
        settings=("arrivals",),
        seeded=True,
    ),
    "rr": SchedulerRow(
        "watches: the page that was visited longest ago", lambda _: RoundRobin(), _modules("by_age")
    ),
    "od-win": SchedulerRow(
        "watches: the page with most new links per visit in a week",
        lambda _: WindowMean(),
        _modules("by_age"),
    ),
    "cov": SchedulerRow(
        "watches: the pages that cover most links, counting all links ever seen on them",
        lambda _: PastCover(),
        _modules("coverage"),
    ),
    "cliq-win": SchedulerRow(
        "watches: od-win with one page of each group that brings the same links",
        lambda _: GroupsByWindowMean(),
        _modules("groups"),
    ),
    "reg": SchedulerRow(
        "watches: the page with most new links by a linear regression (WSDM 2018)",
        lambda _: Predicting(Regression()),
        _REG,
    ),
    "reg-rr": SchedulerRow(
        "watches: reg for nine tenths of a cycle, rr for the rest (WSDM 2018)",
        lambda _: Exploring(Predicting(Regression()), FixedShare(0.9)),
        (*_REG, *_modules("exploring")),
    ),
    "bandit": SchedulerRow(
        "watches: reg and rr, in shares that a bandit chooses (WSDM 2018)",
        lambda _: Exploring(Predicting(Regression()), BanditShare()),
        (*_REG, *_modules("exploring")),
    ),
    "ltr": SchedulerRow(
        "watches: the page that a linear ranking puts first (WSDM 2018)",
        lambda given: Predicting(CoordinateAscent(given.seed)),
        _modules("predicting", "learning_to_rank"),
        seeded=True,
    ),
    "ltr-gbdt": SchedulerRow(
        "watches: the page that boosted trees rank first; needs the extra ranking",
        lambda _: Predicting(BoostedRanking()),
        _modules("predicting", "boosted_ranking"),
    ),
    "greedy": SchedulerRow(
        "watches: knows what is new on every page: a bound that no crawler reaches",
        lambda given: Greedy(given.known_truth),
        _modules("coverage"),
        needs_truth=True,
        bound=True,
    ),
}
