"""The strategy that watches pages in cycles; which ones a cycle visits is a scheduler's decision."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.errors import ConfigError
from coati.model import (
    Deferred,
    Failure,
    Later,
    Method,
    Page,
    Redirect,
    Refused,
    Request,
    Settlement,
    Unchanged,
)
from coati.strategies.deferrals import Deferrals
from coati.strategies.revisits.cycles import ListedCycles, RegularCycles
from coati.strategies.revisits.departures import Departures
from coati.strategies.revisits.links import FoundLinks, Sites
from coati.strategies.revisits.scheduler import AGAIN, DATED, FIRST_LOOK, WHY, Cycle, Pick
from coati.strategies.revisits.visits import Visit, Visits
from coati.strategies.state import nested, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.model import Hosts, Outcome
    from coati.strategies.revisits.cycles import Cycles
    from coati.strategies.revisits.links import Relevant
    from coati.strategies.revisits.scheduler import Scheduler
    from coati.strategies.state import State

# How often a visit follows a redirect before it counts as failed.
_MOST_HOPS = 5
# What is found by a first look is of no cycle.
_NO_CYCLE = -1
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How a watch proceeds.

    ``per_cycle`` pages are visited in each cycle, at most ``per_site`` of one site. Cycles are
    ``every_seconds`` long, or begin at the ``moments`` of a history. A watch that starts ``cold`` has no
    first look: links that were there long before are new when they are first seen. After this many
    ``cycles`` it is over. A page that was missing ``misses_until_gone`` times in a row is no longer visited.
    """

    per_cycle: int = 50
    every_seconds: float = 3600.0
    per_site: int | None = None
    cold: bool = False
    cycles: int | None = None
    moments: tuple[float, ...] = ()
    misses_until_gone: int | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no cycle."""
        if self.per_cycle < 1:
            raise ConfigError(f"per_cycle is {self.per_cycle}: a cycle visits at least one page")
        if self.per_site is not None and self.per_site < 1:
            raise ConfigError(f"per_site is {self.per_site}: at least one page of a site is visited")
        if not 0 < self.every_seconds < math.inf:
            raise ConfigError(f"every_seconds is {self.every_seconds}: a cycle takes some time")


class NewLink(NamedTuple):
    """A link that a visit found and that was not known before."""

    url: str
    page: str
    cycle: int


class _InFlight(NamedTuple):
    """A request in flight; ``moment`` is when its cycle began, which is the time of the visit.

    Which page was requested a few seconds earlier within a cycle says nothing, and would break ties.
    """

    page: int
    cycle: int
    moment: float


class Watch:
    """Visits watched pages in cycles (`coati.strategies.revisits`).

    Its registry row needs all out-links. The reward of a visit is the number of new links on the page that
    count: links within the site of the page, and if ``relevant`` is given only those that it accepts.

    >>> from coati.model import EVERY_HOST, NO_LINKS
    >>> from coati.strategies.revisits.by_age import RoundRobin
    >>> watch = Watch(["http://example.org/"], RoundRobin())
    >>> watch.choose(10.0, EVERY_HOST)
    Request(id=0, method=<Method.GET: 'GET'>, url='http://example.org/', arm=0, score=0.0)
    >>> watch.observe(0, Page(200, 9, NO_LINKS, out_links=[]), 11.0)
    [Settlement(request_id=0, reward=0.0)]
    >>> watch.choose(12.0, EVERY_HOST)
    Later(at=3600.0)
    """

    def __init__(
        self,
        start_urls: Sequence[str],
        scheduler: Scheduler,
        settings: WatchSettings | None = None,
        relevant: Relevant | None = None,
    ) -> None:
        self.settings = settings or WatchSettings()
        self.scheduler = scheduler
        self.visits = Visits()
        self._sites = Sites(start_urls)
        self._links = FoundLinks(self._sites, relevant)
        moments = self.settings.moments
        self._cycles: Cycles = (
            ListedCycles(moments) if moments else RegularCycles(self.settings.every_seconds)
        )
        self._urls: list[str] = []
        self._page_of: dict[str, int] = {}
        # What counts on each page, as bytes: an array of its own would cost each page a hundred more.
        self._counting: list[bytes] = []
        # Pages without a finished first look, and those of them that were not even requested.
        self._unseen: set[int] = set()
        self._unrequested: dict[int, None] = {}
        # Visits that follow a redirect, and how many each has followed.
        self._again: deque[int] = deque()
        self._hops: dict[int, int] = {}
        # Pages that a cycle visits before others.
        self._prioritised: dict[int, None] = {}
        self._deferred: Deferrals[int] = Deferrals()
        self._in_flight: dict[int, _InFlight] = {}
        self._departures = Departures(self.settings.misses_until_gone)
        self._cycle: Cycle | None = None
        self._last_cycle: int | None = None
        self._cycles_begun = 0
        self._most_cycles = self.settings.cycles
        self._turn = 0
        self._new_links: list[NewLink] = []
        self.add_pages(start_urls)

    @property
    def cycle(self) -> int | None:
        """The number of the last cycle that began; None before the first."""
        return None if self._cycle is None else self._cycle.number

    @property
    def cycles_begun(self) -> int:
        """How many cycles began."""
        return self._cycles_begun

    @property
    def first_look_done(self) -> bool:
        """Whether every page was looked at for the first time."""
        return not self._unseen

    def stop_after(self, cycles: int) -> None:
        """Begin no cycle after this many, counted from the first; it is not part of the state."""
        self._most_cycles = cycles

    def is_due(self, now: float) -> bool:
        """Tell whether a cycle may begin now."""
        return self._last_cycle is None or self._cycles.start(self._last_cycle + 1) <= now

    def found(self) -> dict[int, int]:
        """Return the number of the cycle that found each link, by hash; negative for those of first looks."""
        return self._links.found()

    @property
    def links(self) -> FoundLinks:
        """The links that were seen so far."""
        return self._links

    def new_links(self) -> list[NewLink]:
        """Return what the visits since the last call found; a restored watch lists some again."""
        new_links, self._new_links = self._new_links, []
        return new_links

    def add_pages(self, urls: Iterable[str]) -> None:
        """Watch further pages, each from a first look on; known ones are skipped.

        This is not part of the log: the caller adds them again when the watch is restored, before the end of
        the log is redone.
        """
        for url in urls:
            if url not in self._page_of:
                page = self._page_of[url] = len(self._urls)
                self._urls.append(url)
                self._counting.append(b"")
                self.visits.add_page(self._sites.add(url))
                self._links.ignore(url)
                if not self.settings.cold:
                    self._unseen.add(page)
                    self._unrequested[page] = None

    @property
    def watched_count(self) -> int:
        """How many pages are watched; those that left are not."""
        return len(self._urls) - len(self._departures.left)

    def is_in_site(self, url: str) -> bool:
        """Tell whether a URL belongs to a site that is watched."""
        return self._sites.of(url) >= 0

    def last_visit(self, url: str) -> float | None:
        """Return when a page was last requested, 0 if never; None if it is not watched."""
        page = self._page_of.get(url)
        return (
            None if page is None or page in self._departures.left else float(self.visits.requested_at[page])
        )

    def prioritise(self, url: str) -> None:
        """Visit a watched page before others, since it has changed; half of a cycle may go to such pages."""
        page = self._page_of[url]
        if self._cycle is None or self.visits.requested_at[page] < self._cycle.now:
            self._prioritised[page] = None

    def leave(self, url: str) -> None:
        """Stop visiting a page."""
        page = self._page_of.get(url)
        if page is not None:
            self._unrequested.pop(page, None)
            self._end_first_look(page)
            self._departures.leave(page)

    def drop_least_useful(self) -> bool:
        """Stop visiting the page that brought nothing for longest; return False if each brings something."""
        page = self._departures.least_useful({sent.page for sent in self._in_flight.values()})
        if page is None:
            return False
        self._departures.leave(page)
        return True

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Request what waits, else the next page of the cycle; begin one if it is time."""
        page = self._deferred.take(now, idle=self._is_idle(now))
        if page is not None:
            return self._request(Pick(page, self._repeat_reason(page), 0.0), now)
        pick = self._next(now)
        return self._wait(now) if pick is None else self._request(pick, now)

    def _is_idle(self, now: float) -> bool:
        waits = self._in_flight or self._again or self._unrequested or self._is_time(now)
        return not waits and self._pick() is None

    def _next(self, now: float) -> Pick | None:
        if self._again:
            page = self._again.popleft()
            return Pick(page, self._repeat_reason(page), 0.0)
        if self._unrequested:
            page = next(iter(self._unrequested))
            self._begin_first_look(page, now)
            return Pick(page, FIRST_LOOK, 0.0)
        if self._is_time(now):
            self._begin(now)
        return self._pick_and_take()

    def _repeat_reason(self, page: int) -> int:
        return FIRST_LOOK if page in self._unseen else AGAIN

    def _begin_first_look(self, page: int, now: float) -> None:
        del self._unrequested[page]
        # First looks use up the cycle in which they are made.
        self._last_cycle = self._cycles.at(now)

    def _end_first_look(self, page: int) -> None:
        if page in self._unseen:
            self._unseen.remove(page)
            if not self._unseen:
                # What was large keeps its room, and most watches never need it again.
                self._unseen, self._unrequested = set(), dict(self._unrequested)

    def _is_time(self, now: float) -> bool:
        """Tell whether a cycle with a page to visit begins."""
        if self._is_over() or len(self._in_flight) + len(self._deferred) >= self.watched_count:
            return False
        return self._last_cycle is None or self._cycles.at(now) > self._last_cycle

    def _is_over(self) -> bool:
        return self._most_cycles is not None and self._cycles_begun >= self._most_cycles

    def _begin(self, now: float) -> None:
        settings = self.settings
        number = self._cycles.at(now)
        moment = self._cycles.start(number)
        self.visits.expire(moment)
        cycle = Cycle(number, moment, settings.per_cycle, settings.per_site, self.visits)
        cycle.closed[[sent.page for sent in self._in_flight.values()]] = True
        cycle.closed[[page for *_, page in self._deferred.save(int)]] = True
        cycle.closed[list(self._departures.left)] = True
        self._cycle, self._last_cycle = cycle, cycle.number
        self._cycles_begun += 1
        self.scheduler.begin(cycle)

    def _pick(self) -> Pick | None:
        cycle = self._cycle
        if cycle is None or cycle.taken >= cycle.per_cycle:
            return None
        prioritised = self._first_prioritised(cycle)
        return self.scheduler.pick(cycle) if prioritised is None else Pick(prioritised, DATED, 0.0)

    def _first_prioritised(self, cycle: Cycle) -> int | None:
        if cycle.prioritised >= cycle.per_cycle // 2:
            return None
        return next((page for page in self._prioritised if cycle.is_open(page)), None)

    def _pick_and_take(self) -> Pick | None:
        pick = self._pick()
        if pick is not None:
            self._take(pick.page)
        return pick

    def _take(self, page: int) -> None:
        if self._cycle is not None:
            self._cycle.take(page)
            self._cycle.prioritised += page in self._prioritised
        self._prioritised.pop(page, None)
        self.scheduler.take(page)

    def _request(self, pick: Pick, now: float) -> Request:
        cycle = _NO_CYCLE if self._cycle is None or pick.page in self._unseen else self._cycle.number
        moment = self._cycles.start(self._cycles.at(now))
        request = Request(self._turn, Method.GET, self._urls[pick.page], pick.why, pick.score)
        self._in_flight[self._turn] = _InFlight(pick.page, cycle, moment)
        self._turn += 1
        return request

    def _wait(self, now: float) -> Later | None:
        """Say when the next page may be requested: when a cycle begins, or an outage may be over."""
        later = self._deferred.answer()
        if self._is_over() or self._last_cycle is None:
            return later
        starts = self._cycles.start(self._last_cycle + 1)
        # Where all pages wait after an outage, a cycle that could begin has nothing to visit.
        if math.isinf(starts) or starts <= now or (later is not None and later.at <= starts):
            return later
        return Later(starts)

    def redo(self, request: Request, now: float) -> None:
        """Request the page of a logged request, after beginning the cycle that it began."""
        page = self._deferred.take_logged(request)
        if page is None:
            page = self._page_of.get(request.url, -1)
            self._redo_take(page, request.url, now)
        self._request(Pick(page, request.arm or 0, request.score or 0.0), now)

    def _redo_take(self, page: int, url: str, now: float) -> None:
        if page in self._again:
            self._again.remove(page)
        elif page in self._unrequested:
            self._begin_first_look(page, now)
        else:
            if page >= 0 and self._is_time(now):
                self._begin(now)
            if page < 0 or self._cycle is None or not self._cycle.is_open(page):
                raise ValueError(f"{url} is not waiting for a visit")
            self._take(page)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Compare what is on the page with what is known, and tell the scheduler."""
        sent = self._in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self._defer(sent, outcome.until)
            return ()
        if isinstance(outcome, Redirect) and self._follow(sent.page, outcome.location):
            return ()
        if isinstance(outcome, Refused):
            self._undo(sent)
        visit = self._visit(sent, outcome)
        self._hops.pop(sent.page, None)
        self._end_first_look(sent.page)
        self._departures.note(sent.page, missing=_is_missing(outcome), new=len(visit.new))
        self.visits.add(visit)
        self.scheduler.learn(visit, self.visits)
        return [Settlement(request_id, float(len(visit.new)))]

    def _defer(self, sent: _InFlight, until: float) -> None:
        self._deferred.push(Method.GET, self._urls[sent.page], sent.page, until)
        self._undo(sent)

    def _undo(self, sent: _InFlight) -> None:
        if self._cycle is not None and sent.cycle == self._cycle.number:
            self._cycle.undo(sent.page)

    def _follow(self, page: int, location: str) -> bool:
        """Visit a page at the URL that it has moved to; False if that leads nowhere."""
        hops = self._hops.get(page, 0)
        if hops >= _MOST_HOPS or location in self._page_of:
            return False
        del self._page_of[self._urls[page]]
        self._urls[page] = location
        self._page_of[location] = page
        self._links.ignore(location)
        self._hops[page] = hops + 1
        self._again.append(page)
        return True

    def _visit(self, sent: _InFlight, outcome: Outcome) -> Visit:
        page, cycle, moment = sent
        first = page in self._unseen
        before = np.frombuffer(self._counting[page], np.uint64).tolist()
        if not isinstance(outcome, Page):
            seen = isinstance(outcome, Unchanged)
            counting = before if seen else []
            return Visit(page, moment, cycle, [], counting, seen=seen, first=first)
        out_links = list(outcome.out_links or ())
        added = self._links.add(outcome.links, out_links)
        counting = self._links.counting(int(self.visits.site[page]), out_links)
        new = self._links.find(counting, cycle)
        if not first:
            self._note_new_links(page, added, set(new), cycle)
        self._counting[page] = np.array(counting, np.uint64).tobytes()
        left = len(set(before).difference(counting))
        return Visit(page, moment, cycle, [] if first else new, counting, left, first=first)

    def _note_new_links(self, page: int, added: Iterable[tuple[int, str]], new: set[int], cycle: int) -> None:
        self._new_links += [NewLink(url, self._urls[page], cycle) for key, url in added if key in new]

    def save(self) -> State:
        """Return the whole state, that of the scheduler and the cycle included."""
        return {
            "urls": self._urls,
            "sites": self._sites.save(),
            **self._links.save(),
            **self.visits.save(),
            "counting": b"".join(self._counting),
            "counting_bytes": np.array(list(map(len, self._counting)), np.int64),
            "unseen": sorted(self._unseen),
            "unasked": list(self._unrequested),
            "again": list(self._again),
            "hastened": list(self._prioritised),
            "hops": [list(pair) for pair in self._hops.items()],
            "deferred": self._deferred.save(int),
            "in_flight": [[number, *sent] for number, sent in self._in_flight.items()],
            # As a time: a watch may be resumed with cycles of another length, which have other numbers.
            "last_cycle": None if self._last_cycle is None else self._cycles.start(self._last_cycle),
            "cycles_begun": self._cycles_begun,
            "turn": self._turn,
            "departures": self._departures.save(),
            **({} if self._cycle is None else self._cycle.save()),
            **nested("scheduler", self.scheduler.save()),
        }

    def load(self, state: State) -> None:
        self._urls = list(state["urls"])
        self._page_of = {url: page for page, url in enumerate(self._urls)}
        self._sites.load(state["sites"])
        self._links.load(state)
        self.visits.load(state)
        ends = np.cumsum(state["counting_bytes"]).tolist()
        joined = state["counting"]
        self._counting = [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        self._unseen, self._unrequested = set(state["unseen"]), dict.fromkeys(state["unasked"])
        self._again, self._hops = deque(state["again"]), dict(state["hops"])
        self._prioritised = dict.fromkeys(state["hastened"])
        self._deferred.load(state["deferred"], int)
        self._in_flight = {number: _InFlight(*sent) for number, *sent in state["in_flight"]}
        began = state["last_cycle"]
        self._last_cycle = None if began is None else self._cycles.at(began)
        self._cycles_begun = state["cycles_begun"]
        self._turn = state["turn"]
        self._departures.load(state["departures"])
        self._cycle = None
        if "cycle" in state:
            settings = self.settings
            self._cycle = Cycle.load(state, settings.per_cycle, settings.per_site, self.visits)
        self.scheduler.load(part_of(state, "scheduler"))

    def arm_label(self, arm: int) -> str:
        """Say why a page is visited."""
        return WHY[arm]


def _is_missing(outcome: Outcome) -> bool:
    """Tell whether a page is missing: "not found", or a redirect to another page that is watched."""
    return isinstance(outcome, Redirect) or (isinstance(outcome, Failure) and outcome.status in _GONE)
