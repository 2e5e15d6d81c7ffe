"""The schedulers by name; `coati.assembly` makes a row of its registry of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coati.strategies.revisits.by_age import RoundRobin, WindowMean
from coati.strategies.revisits.predicting import Predicting
from coati.strategies.revisits.regression import Regression

if TYPE_CHECKING:
    from coati.strategies.revisits.scheduler import Scheduler


@dataclass(frozen=True, slots=True)
class SchedulerRow:
    """What is known of a scheduler by name; ``build`` makes one for a seed."""

    summary: str
    build: Callable[[int], Scheduler]
    modules: tuple[str, ...]
    seeded: bool = False


_HERE = "coati.strategies.revisits."

SCHEDULERS: Mapping[str, SchedulerRow] = {
    "rr": SchedulerRow(
        "watches: the page that was visited longest ago", lambda _: RoundRobin(), (_HERE + "by_age",)
    ),
    "od-win": SchedulerRow(
        "watches: the page with most new links per visit in a week",
        lambda _: WindowMean(),
        (_HERE + "by_age",),
    ),
    "reg": SchedulerRow(
        "watches: the page with most new links by a linear regression (WSDM 2018)",
        lambda _: Predicting(Regression()),
        (_HERE + "predicting", _HERE + "regression"),
    ),
}
