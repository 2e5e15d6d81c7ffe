"""Ours: new links arrive on pages at learnt rates; a cycle takes the pages expected to cover most of them.

**Rates.** Links come to a page as a Poisson process. Its rate is what came over the time that visits have
looked back on, old visits counting less (half as much after some days). A page of which little is known is
drawn to what is usual on its site for as many links as it shows: where not one relevant link is, hardly
any comes. How strongly it is drawn is measured in links, not in hours: where links are rare, an hour without
any says little.

**Time.** Hours count by how busy they are (`daily_profile`). A link does not stay for ever, and stays longer
on some pages than on others (`link_lives`): one that has left is neither found nor learnt from. A visit now
is worth what it brings beyond what a later visit would still find: a page whose links stay may wait.

**Overlap.** The links of the last days are a sample of those to come (`link_samples`): one that could have
been found on three pages represents one that comes to the three. Of such a link nothing is expected from
before the last visit to any of the three, and as soon as a cycle takes one of them, nothing on the others
(`expected_cover`). So overlap needs no threshold, and holds for any number of pages.

**Failures.** Each failed visit in a row halves what is expected of a page.

**Doubt.** What visits taught fades: of a page that was barren long ago as much is expected as of an unknown
one. And where links stay, what may have come since the last visit grows with time: such pages come up by
themselves. For the others there is a longest wait (`longest_waits`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.errors import ConfigError
from coati.strategies.revisits.by_age import ages_in_hours
from coati.strategies.revisits.daily_profile import DailyProfile
from coati.strategies.revisits.expected_cover import ExpectedCover
from coati.strategies.revisits.link_lives import (
    departures,
    looked_back_on,
    mean_lives,
    usual_life,
    worth_of_visits,
)
from coati.strategies.revisits.link_samples import LinkSamples
from coati.strategies.revisits.longest_waits import LongestWaits
from coati.strategies.revisits.scheduler import EXPECTED, EXPLORED, Pick

if TYPE_CHECKING:
    import numpy.typing as npt

    from coati.strategies.revisits.scheduler import Cycle
    from coati.strategies.revisits.visits import Visit, Visits
    from coati.strategies.state import State

    Floats = npt.NDArray[np.float64]

# Links older than this many half-lives are forgotten.
_HALF_LIVES = 3.0
# A site is drawn to all sites as if an average page of theirs had been looked back on for this long.
_SITE_PRIOR_HOURS = 24.0
# What a page shows is a small sample of what it is like: it is drawn to the average by this many links.
_SHOWN_PRIOR = 1.0
# Where nothing ever came, this many links are taken to have come to all pages together.
_FIRST_LINKS = 0.5
# Of pages that promise as much as each other, the one that waited longest goes first. In parts of a usual
# rate, since where nothing has come yet, what is expected of all pages becomes very small.
_PER_HOUR_OF_WAITING = 1e-6
_LEAST_RATE = 1e-9
_HOUR_SECONDS = 3600.0
_MOST_FAILURES = 8
_ROOM = 64


class _Pages:
    """What is known of each page, in arrays that grow: one row per quantity.

    The last three fade: the hours that visits looked back on, the links that left, and the hours that links
    were there.
    """

    LOOKED_AT, SHOWN, FAILURES, LOOKED_BACK, LEFT, LINK_HOURS = range(6)
    FADING = slice(LOOKED_BACK, None)

    def __init__(self) -> None:
        self._rows = np.zeros((6, _ROOM))

    @property
    def capacity(self) -> int:
        """How many pages the arrays can hold."""
        return self._rows.shape[1]

    def rows(self, pages: int) -> Floats:
        """Return the quantities of the first pages; pages without a visit yet included."""
        while pages > self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)], axis=1)
        return self._rows[:, :pages]

    def load(self, rows: Floats) -> None:
        grown = np.zeros((len(rows), max(_ROOM, rows.shape[1])))
        grown[:, : rows.shape[1]] = rows
        self._rows = grown


@dataclass(frozen=True, slots=True)
class ArrivalsSettings:
    """The parameters of the model.

    After ``half_life_hours`` what a visit found counts half as much. What is expected of an unknown page
    weighs as much as ``prior_links`` links that were seen.
    """

    half_life_hours: float = 96.0
    prior_links: float = 0.3

    def __post_init__(self) -> None:
        """Refuse what is not a rate."""
        for name, value in asdict(self).items():
            if not 0 < value < math.inf:
                raise ConfigError(f"{name} is {value}: it must be above 0")


class Rates(NamedTuple):
    """What is known of the rates of pages: the weight of links that came, hours, and the usual rate."""

    links: Floats
    hours: Floats
    usual: Floats


class Arrivals:
    """The scheduler of this module."""

    def __init__(self, settings: ArrivalsSettings | None = None) -> None:
        settings = settings or ArrivalsSettings()
        self._half_life = settings.half_life_hours * _HOUR_SECONDS
        self._prior_links = settings.prior_links
        self._profile = DailyProfile()
        self._samples = LinkSamples()
        self._pages = _Pages()
        self._waits = LongestWaits()
        self._usual_life = usual_life(np.zeros(0), np.zeros(0))
        # The time that what fades has faded to.
        self._decayed_to = 0.0
        none = np.zeros(0, np.int32)
        self._cover = ExpectedCover(np.zeros(0), none, none, np.zeros(0), 1)

    def begin(self, cycle: Cycle) -> None:
        """Work out what is expected of each page."""
        now, visits = cycle.now, cycle.visits
        self._samples.forget(now - _HALF_LIVES * self._half_life)
        self._profile.settle()
        self._decay(now)
        known = self._pages.rows(len(visits))
        looked_at = known[_Pages.LOOKED_AT]
        looked_at = np.where(looked_at > 0, looked_at, visits.requested_at)
        looked_at = np.where(looked_at > 0, looked_at, now)
        links, pages = self._samples.pairs
        weights = 0.5 ** ((now - self._samples.found_at) / self._half_life)
        # A link of this kind that came before any of its pages was last seen is known.
        known_until = np.zeros(len(weights))
        np.maximum.at(known_until, links, looked_at[pages])
        self._usual_life = usual_life(known[_Pages.LEFT], known[_Pages.LINK_HOURS])
        lives = mean_lives(known[_Pages.LEFT], known[_Pages.LINK_HOURS], self._usual_life)
        since = self._profile.between(known_until, now)
        arrived = np.bincount(pages, weights[links], minlength=len(visits)).astype(np.float64)
        rates = self._rates(visits, arrived)
        factors = self._factors(cycle, rates) * 0.5 ** known[_Pages.FAILURES]
        alone = self._prior_links * worth_of_visits(self._profile.between(looked_at, now), lives)
        per_page = factors / (rates.hours + self._prior_links / np.maximum(rates.usual, _LEAST_RATE))
        usual = rates.usual.sum() / max(len(visits), 1)
        waited = _PER_HOUR_OF_WAITING * usual * ages_in_hours(cycle)
        worth = weights[links] * worth_of_visits(since[links], lives[pages]) * per_page[pages]
        self._cover = ExpectedCover(alone * per_page + waited, links, pages, worth, cycle.per_cycle)
        self._waits.begin(cycle)

    def _rates(self, visits: Visits, links: Floats) -> Rates:
        """Sum up what is known of each page, and what is usual for a page of its site with as many links."""
        known = self._pages.rows(len(visits))
        hours, shown = known[_Pages.LOOKED_BACK], known[_Pages.SHOWN]
        # A page that shows nothing now may show something tomorrow.
        mean = float(shown.mean()) if len(shown) else 0.0
        shown = (shown + _SHOWN_PRIOR) * (mean + _LEAST_RATE) / (mean + _SHOWN_PRIOR)
        sites = int(visits.site.max(initial=-1)) + 1
        links_of_site = np.bincount(visits.site, links, minlength=sites)
        chances_of_site = np.bincount(visits.site, hours * shown, minlength=sites)
        # Per link that is shown and hour that is looked back on.
        turnover = (links.sum() + _FIRST_LINKS) / (chances_of_site.sum() + 1)
        prior = shown.mean() * _SITE_PRIOR_HOURS + _LEAST_RATE if len(shown) else 1.0
        of_site = (links_of_site + turnover * prior) / (chances_of_site + prior)
        return Rates(links, hours, of_site[visits.site] * shown)

    def _factors(self, cycle: Cycle, rates: Rates) -> Floats:
        """Return the factor of what is expected of each page."""
        return np.ones(len(rates.hours))

    def _decay(self, now: float) -> None:
        if now > self._decayed_to:
            rows = self._pages.rows(self._pages.capacity)
            rows[_Pages.FADING] *= 0.5 ** ((now - self._decayed_to) / self._half_life)
            self._decayed_to = now

    def pick(self, cycle: Cycle) -> Pick | None:
        """Return a page that is overdue, else the one that adds most to what the cycle may cover."""
        overdue = self._waits.first(cycle)
        if overdue is not None:
            return Pick(overdue, EXPLORED, self._cover.expected(overdue))
        page = self._cover.best(cycle)
        return None if page is None else Pick(page, EXPECTED, self._cover.expected(page))

    def take(self, page: int) -> None:
        """Expect the links of a page on no other page."""
        self._cover.take(page)
        self._waits.take(page)

    def learn(self, visit: Visit, visits: Visits) -> None:
        """Learn what came since the page was last seen."""
        known = self._pages.rows(len(visits))[:, visit.page]
        if not visit.seen:
            known[_Pages.FAILURES] = min(known[_Pages.FAILURES] + 1, _MOST_FAILURES)
            return
        since, stood = float(known[_Pages.LOOKED_AT]), float(known[_Pages.SHOWN])
        known[[_Pages.LOOKED_AT, _Pages.SHOWN, _Pages.FAILURES]] = visit.at, len(visit.counting), 0
        if visit.first or not since or visit.at <= since:
            return
        self._decay(visit.at)
        could = self._samples.add(visit.page, visit.new, visit.counting, visit.at, since)
        hours = self._profile.between(np.array(since), visit.at)
        life = mean_lives(known[_Pages.LEFT], known[_Pages.LINK_HOURS], self._usual_life)
        gained = looked_back_on(hours, life), departures(stood, visit.left), stood * hours
        known[_Pages.FADING] += np.array(gained)
        self._profile.learn(since, visit.at, could)

    def save(self) -> State:
        return {
            **self._profile.save(),
            **self._samples.save(),
            **self._cover.save(),
            **self._waits.save(),
            "known_pages": self._pages.rows(self._pages.capacity),
            "decayed_to": self._decayed_to,
            "usual_life": self._usual_life,
        }

    def load(self, state: State) -> None:
        self._profile.load(state)
        self._samples.load(state)
        self._cover = ExpectedCover.load(state)
        self._pages.load(state["known_pages"])
        self._waits.load(state)
        self._decayed_to = state["decayed_to"]
        self._usual_life = state["usual_life"]


class ThompsonArrivals(Arrivals):
    """Thompson sampling: the rate of each page is sampled from its posterior, again in each cycle."""

    def __init__(self, seed: int, settings: ArrivalsSettings | None = None) -> None:
        super().__init__(settings)
        self._seed = seed

    def _factors(self, cycle: Cycle, rates: Rates) -> Floats:
        """Draw from the gamma distribution of each rate, in parts of its mean."""
        believed = rates.links + self._prior_links
        drawn = np.random.default_rng([self._seed, cycle.number]).standard_gamma(believed)
        factors: Floats = drawn / believed
        return factors
