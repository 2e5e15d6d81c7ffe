"""When new links come: how busy each hour of working days and of weekends is, learnt from visits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

_HOUR_SECONDS = 3600.0
_DAY, _WEEK = 24, 168
# What is known before anything was seen: as many links as this at each hour, spread evenly.
_PRIOR_LINKS = 20.0
# What came between visits that are further apart says little about the hour.
_MOST_HOURS = 12
# Hours of a week from its first, a Thursday as the epoch was: which kind of day, which hour.
_HOURS = np.arange(_WEEK)
_HOUR_OF_DAY = _HOURS % _DAY
_IS_WEEKEND = (np.isin((_HOURS // _DAY + 3) % 7, (5, 6))).astype(np.int64)


class DailyProfile:
    """Hours weighted by how busy they are; over a week they sum up to its hours.

    >>> profile = DailyProfile()
    >>> float(profile.between(np.array(0.0), 7200.0))
    2.0
    """

    def __init__(self) -> None:
        self._links = np.zeros((2, _DAY))
        self._hours = np.zeros((2, _DAY))
        self._until = self._cumulate()

    def learn(self, since: float, until: float, links: int) -> None:
        """Note how many links came between two visits; `settle` takes it into account."""
        first, last = int(since // _HOUR_SECONDS), int(until // _HOUR_SECONDS)
        if 0 < last - first <= _MOST_HOURS:
            hours = np.arange(first, last) % _WEEK
            places = (_IS_WEEKEND[hours], _HOUR_OF_DAY[hours])
            np.add.at(self._hours, places, 1.0)
            np.add.at(self._links, places, links / len(hours))

    def settle(self) -> None:
        """Work the profile out again."""
        self._until = self._cumulate()

    def _cumulate(self) -> Floats:
        hours, links = self._hours, self._links
        mean = links.sum() / hours.sum() if links.any() else 1.0
        # The hours of both kinds of day together, and each kind drawn to these.
        of_day = (links.sum(0) + _PRIOR_LINKS) / (hours.sum(0) * mean + _PRIOR_LINKS)
        busy = (links + _PRIOR_LINKS * of_day) / (hours * mean + _PRIOR_LINKS)
        until = np.concatenate([[0.0], np.cumsum(busy[_IS_WEEKEND, _HOUR_OF_DAY])])
        scaled: Floats = until * _WEEK / until[-1]
        return scaled

    def between(self, since: Floats, until: float) -> Floats:
        """Return the weighted hours from some times to another."""
        return self._weighted(np.array(until)) - self._weighted(since)

    def _weighted(self, times: Floats) -> Floats:
        weeks, hours = np.divmod(times / _HOUR_SECONDS, _WEEK)
        return weeks * _WEEK + np.interp(hours, np.arange(_WEEK + 1), self._until)

    def save(self) -> dict[str, Any]:
        return {"profile": np.stack([self._links, self._hours]), "profile_until": self._until}

    def load(self, state: State) -> None:
        """Take over a saved profile."""
        self._links, self._hours = (np.array(part) for part in state["profile"])
        self._until = np.array(state["profile_until"])
