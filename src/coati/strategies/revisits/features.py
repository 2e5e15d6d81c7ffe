"""The six temporal features of a page at a time: 35 numbers, 31 of which are the same for all pages.

They are the mean and the deviation of new links over the visits in the window, the hours since the last
visit, the hour of the day and the day of the week (UTC, one place each), and the mean times the hours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.revisits.by_age import ages_in_hours

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.scheduler import Cycle

    Floats = npt.NDArray[np.float64]

HOURS, DAYS = 24, 7
OWN = 4
COUNT = OWN + HOURS + DAYS
_HOUR_SECONDS, _DAY_SECONDS = 3600.0, 86_400.0
# The epoch was a Thursday.
_FIRST_DAY = 3


def own_features(cycle: Cycle) -> Floats:
    """Return what differs from page to page: mean, deviation, age in hours, mean times age."""
    visits = cycle.visits
    means = visits.estimated_means()
    ages = ages_in_hours(cycle)
    return np.stack([means, visits.deviations(), ages, means * ages], axis=1)


def hour_and_day(now: float) -> tuple[int, int]:
    """Return the hour of the day and the day of the week, Monday as 0.

    >>> hour_and_day(0.0), hour_and_day(4 * 86_400.0 + 3600.0)
    ((0, 3), (1, 0))
    """
    days, seconds = divmod(now, _DAY_SECONDS)
    return int(seconds // _HOUR_SECONDS), int(days + _FIRST_DAY) % DAYS


def all_features(own: Floats, hour: int, day: int) -> Floats:
    """Return rows of all features, for pages at one time.

    >>> all_features(np.ones((1, OWN)), 2, 0)[0].nonzero()[0].tolist()
    [0, 1, 2, 3, 6, 28]
    """
    rows = np.zeros((len(own), COUNT))
    rows[:, :OWN] = own
    rows[:, OWN + hour] = 1
    rows[:, OWN + HOURS + day] = 1
    return rows
