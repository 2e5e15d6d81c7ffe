"""Which site is next: many crawls of single sites that share one budget in one process.

Each site is crawled by a `coati.live.drive.Drive` of its own, with its own engine and run folder. Before a
drive chooses, it asks for a turn. At most ``at_once`` sites have one at a time: a site keeps its turn through
its request and the rest that politeness asks for after it, so that this many sites are crawled at their full
polite pace, and no more. When a site is ready again, it competes with all that wait, and
`coati.bandits.site_choice` says who goes next. So the fewer sites at once, the more of the budget goes to the
best ones, and the longer it takes.

What earlier sessions spent is known from the run folders, so nothing has to be saved here. A site that is not
done took part in all of them to their ends, so that the longest of the times of sites is that of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from coati.bandits.site_choice import Promises, SiteChoice
from coati.budget import Budget, Limit
from coati.stop_reasons import StopReason

# A site that has to rest for longer than this gives its turn back meanwhile.
_LONG_REST_SECONDS = 5.0


class Usage(NamedTuple):
    """What a crawl, or one request, used up and found."""

    requests: int
    bytes: int
    targets: int
    pages: int = 0
    failures: int = 0


class CrawlControl(Protocol):
    """What turns know of a crawl, and may do to it."""

    def spent(self) -> Usage:
        """Return what was spent so far, earlier sessions included."""

    def seconds_before(self) -> float:
        """Return how long earlier sessions took."""

    def expects(self) -> float | None:
        """Return what the next choices promise; None where nobody knows."""

    def rests_seconds(self) -> float:
        """Return how long a host of the site has to rest."""

    def wake(self) -> None:
        """Let the crawl ask for a turn again."""

    @property
    def open_count(self) -> int:
        """How many requests are chosen and not yet observed."""

    def stop(self, reason: StopReason) -> None:
        """Send nothing more, for a reason; what is in flight is finished."""

    def abandon(self) -> None:
        """End without what is in flight; that stays open, and all else is saved."""


class SiteTurns:
    """Turns for many sites; `of` is the view of one of them.

    ``seconds`` says how long this session took so far, ``seconds_before`` how long earlier ones did, also of
    sites that do not join any more. ``on_change`` is told after each request. ``limit`` is the part of the
    budget that ended everything.
    """

    def __init__(
        self,
        budget: Budget,
        at_once: int,
        *,
        fair: bool = False,
        seconds: Callable[[], float] | None = None,
        seconds_before: float = 0.0,
        on_change: Callable[[SiteTurns], None] | None = None,
    ) -> None:
        self._choice = SiteChoice(fair=fair)
        self._budget = budget
        self._at_once = at_once
        self._seconds = seconds
        self._on_change = on_change
        self._sites: dict[int, CrawlControl] = {}
        # Who has a turn, and with how many attempts that are not answered yet.
        self._turns: dict[int, int] = {}
        # Of these, who was woken and did not take the turn up yet.
        self._woken: set[int] = set()
        self._requests = self._bytes = self._targets = self._pages = self._failures = 0
        # Of bodies that are being read.
        self._arriving = 0
        self._seconds_before = seconds_before
        self.session_requests = 0
        self.limit: Limit | None = None

    def of(self, number: int) -> SiteTurn:
        """Return the turns of one site."""
        return SiteTurn(self, number)

    def value(self, number: int) -> float:
        """Return what decides about a site now."""
        return self._choice.value(number)

    def add(self, number: int, site: CrawlControl) -> None:
        """Add a site, with what earlier sessions saw of it."""
        self._sites[number] = site
        spent = site.spent()
        self.count(spent)
        self._seconds_before = max(self._seconds_before, site.seconds_before())
        self._choice.resume(number, spent.requests, spent.targets, Promises(site.expects()))

    def may_choose(self, number: int) -> bool:
        """Tell whether a site may choose; if not, it waits, and is woken when it may."""
        if number in self._woken:
            self._woken.discard(number)
            return not self._ended()
        self._turns.pop(number, None)
        self._choice.wake(number)
        if self._ended():
            return False
        self._give_turns(number)
        return number in self._turns

    def yield_turn(self, number: int) -> None:
        """Let others go first: the site had nothing to request."""
        self._undo(number)
        self._give_turns()

    def charge(self, number: int, attempts: int) -> bool:
        """Count more attempts at what a site requests, or fewer; False if the budget does not allow more."""
        if attempts > 0 and self._limit() is not None:
            return False
        self._turns[number] = self._turns.get(number, 0) + attempts
        return True

    def observed(self, number: int, brought: Usage) -> None:
        """Learn what a request brought; one that cost nothing is as if it had not been made."""
        if not brought.requests:
            self._undo(number)
        else:
            self.count(brought)
            self.session_requests += brought.requests
            if number in self._turns:
                self._turns[number] = 0
            promise = self._sites[number].expects()
            self._choice.observe(number, brought.targets, promise)
            if self._sites[number].rests_seconds() > _LONG_REST_SECONDS:
                self._turns.pop(number, None)
        if self._on_change is not None:
            self._on_change(self)
        if not self._ended():
            self._give_turns()

    def remove(self, number: int) -> None:
        """Remove a site, and free its turn."""
        self._turns.pop(number, None)
        self._woken.discard(number)
        if self._sites.pop(number, None) is not None:
            self._choice.end(number)
            if not self._ended():
                self._give_turns()

    def received(self, size_bytes: int) -> bool:
        """Take note of bytes that arrive, or (below zero) of a body that is no longer read.

        False if there are more than the budget has left. All crawls end then, without what is in flight.
        """
        self._arriving += size_bytes
        limit = self._budget.max_bytes
        if limit is None or size_bytes <= 0 or self._bytes + self._arriving <= limit:
            return True
        self._end(Limit.BYTES)
        for site in list(self._sites.values()):
            site.abandon()
        return False

    def seconds_left(self) -> float | None:
        """Return how many seconds of the budget are left; None if time is not limited."""
        limit = self._budget.max_seconds
        return None if limit is None else limit - self._seconds_spent()

    def _undo(self, number: int) -> None:
        if self._turns.pop(number, None) is not None:
            self._choice.undo_pull(number)
        self._choice.sleep(number)

    def _give_turns(self, choosing: int | None = None) -> None:
        while len(self._turns) < self._at_once and self._limit(self._unanswered()) is None:
            chosen = self._choice.choose()
            if chosen is None:
                return
            self._choice.pull(chosen.arm)
            self._choice.sleep(chosen.arm)
            self._turns[chosen.arm] = 1
            if chosen.arm != choosing:
                self._woken.add(chosen.arm)
                self._sites[chosen.arm].wake()

    @property
    def spent(self) -> Usage:
        """What all sites spent and found, earlier sessions included."""
        return Usage(self._requests, self._bytes, self._targets, self._pages, self._failures)

    @property
    def in_flight(self) -> int:
        """How many attempts are not answered yet."""
        return sum(self._turns.values())

    def is_spent(self) -> bool:
        """Tell whether the budget is spent."""
        return self._ended()

    def count(self, spent: Usage) -> None:
        """Count what was spent and found, by this session or an earlier one."""
        self._requests += spent.requests
        self._bytes += spent.bytes
        self._targets += spent.targets
        self._pages += spent.pages
        self._failures += spent.failures

    def _unanswered(self) -> int:
        """How many requests are not answered yet, however many attempts each takes."""
        return sum(attempts > 0 for attempts in self._turns.values())

    def _limit(self, possible_targets: int = 0) -> Limit | None:
        """Say whether nothing more may be sent, with what is not answered yet counted as spent."""
        return self._spent(self.in_flight, possible_targets)

    def _spent(self, unanswered: int, possible_targets: int = 0) -> Limit | None:
        requests, targets = self._requests + unanswered, self._targets + possible_targets
        return self._budget.spent(requests, self._bytes, self._seconds_spent(), targets)

    def _seconds_spent(self) -> float:
        return self._seconds_before + (0.0 if self._seconds is None else self._seconds())

    def _ended(self) -> bool:
        """Tell whether the budget is spent for good, and end all crawls then."""
        limit = self._spent(0)
        if limit is not None:
            self._end(limit)
        return self.limit is not None

    def _end(self, limit: Limit) -> None:
        if self.limit is None:
            self.limit = limit
            for site in list(self._sites.values()):
                site.stop(StopReason.of_limit(limit))


class Turns(Protocol):
    """What lets a crawl choose, and observes what comes of it."""

    def add(self, site: CrawlControl) -> None:
        """Add the crawl, as its earlier sessions left it."""

    def may_choose(self) -> bool:
        """Tell whether the crawl may choose now; if not, it is woken when it may."""

    def yield_turn(self) -> None:
        """Take the turn back: there is nothing to request."""

    def charge(self, attempts: int) -> bool:
        """Count more attempts at a request, or fewer; False if there are to be no more."""

    def observed(self, brought: Usage) -> None:
        """Learn what a request brought."""

    def remove(self) -> None:
        """Take note that the crawl is over."""

    def received(self, size_bytes: int) -> bool:
        """Count bytes that arrive, or (below zero) of a body that is no longer read; False if too many."""

    def seconds_left(self) -> float | None:
        """Return how many seconds of a budget that is shared are left; None if time is not limited."""


class SiteTurn:
    """The turns of one site, as its crawl asks for them."""

    def __init__(self, turns: SiteTurns, number: int) -> None:
        self._turns = turns
        self._number = number

    def add(self, site: CrawlControl) -> None:
        """Add the crawl, as its earlier sessions left it."""
        self._turns.add(self._number, site)

    def may_choose(self) -> bool:
        """Tell whether the site may choose now; if not, it is woken when it may."""
        return self._turns.may_choose(self._number)

    def yield_turn(self) -> None:
        """Give the turn back: there is nothing to request."""
        self._turns.yield_turn(self._number)

    def charge(self, attempts: int) -> bool:
        """Count more attempts at a request, or fewer; False if there is no budget for more."""
        return self._turns.charge(self._number, attempts)

    def observed(self, brought: Usage) -> None:
        """Tell what a request brought."""
        self._turns.observed(self._number, brought)

    def remove(self) -> None:
        """Tell that the crawl is over."""
        self._turns.remove(self._number)

    def received(self, size_bytes: int) -> bool:
        """Count bytes that arrive, or (below zero) a body that is no longer read; False if too many."""
        return self._turns.received(size_bytes)

    def seconds_left(self) -> float | None:
        """Return how many seconds of the budget of all sites are left; None if time is not limited."""
        return self._turns.seconds_left()
