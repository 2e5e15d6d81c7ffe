"""A crawl without a network that watches every step of a strategy.

What happens next (another choice, or which answer arrives) depends only on how much has happened so far, so a
crawl that is restored half-way continues exactly as the uninterrupted one did. Time passes by one second per
event, and jumps ahead where the strategy waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from coati.errors import UsageError
from coati.model import (
    AT_THE_END,
    EVERY_HOST,
    Deferred,
    Failure,
    Later,
    LinkList,
    Method,
    Other,
    Page,
    Redirect,
    Request,
    Target,
    Unchanged,
)
from coati.strategies.chance import draw
from coati.web.out_links import with_out_links
from coati.web.queries import parse_query
from coati.web.urls import is_query

if TYPE_CHECKING:
    from coati.model import Outcome, Settlement
    from coati.strategies.strategy import Strategy

Respond = Callable[["Request"], "Outcome"]
"""What came of a request."""


class ContractError(AssertionError):
    """The object under test broke its contract; the message says how."""


class Chosen(NamedTuple):
    """The strategy requested something."""

    request: Request
    at: float


class Observed(NamedTuple):
    """The strategy was told what came of a request, and settled some rewards."""

    request_id: int
    outcome: Outcome
    settled: tuple[Settlement, ...]
    at: float


Event = Chosen | Observed


def require(holds: bool, message: str) -> None:  # noqa: FBT001 - a condition, not a switch
    """Raise a `ContractError` unless a condition holds."""
    if not holds:
        raise ContractError(message)


class CheckedCrawl:
    """Drives one strategy, and checks each of its answers against what it may know and do.

    Where ``revisits``, a URL may be requested again after it was answered. Its pages then change from visit
    to visit, some visits find nothing changed, and pages tell all their out-links.
    """

    def __init__(
        self,
        strategy: Strategy,
        start_urls: Sequence[str],
        answer: Respond,
        in_flight: int,
        *,
        revisits: bool = False,
    ) -> None:
        self.strategy = strategy
        self.events: list[Event] = []
        self._answer = answer
        self._limit = in_flight
        self._open: dict[int, Request] = {}
        self._told = set(start_urls)
        self._revisits = revisits
        self._now = 0.0
        # Until when each deferred URL is to be left alone.
        self._deferred: dict[tuple[Method, str], float] = {}
        self._requested: set[tuple[Method, str]] = set()
        # URLs that gave something at their last request, so that it may be unchanged.
        self._held: set[str] = set()
        self._ids: set[int] = set()
        self._settled: set[int] = set()

    def run(self, until: int | None = None) -> None:
        """Go on until the crawl is over, or until this many events have happened."""
        dry = False
        while until is None or len(self.events) < until:
            if len(self._open) < self._limit and not dry and self._turn_to_choose():
                dry = not self._choose()
            elif self._open:
                self._observe()
                dry = False
            elif not self._wait():
                self._stays_over()
                return
            else:
                dry = False

    def restore(self, log: Iterable[Event]) -> None:
        """Bring a new strategy to where a log ends, by `redo` and `observe`."""
        for event in log:
            if isinstance(event, Chosen):
                self.strategy.redo(event.request, event.at)
                self._note_choice(event.request, event.at)
            else:
                settled = tuple(self.strategy.observe(event.request_id, event.outcome, event.at))
                self._note_answer(event._replace(settled=settled))

    def adopt(self, log: Sequence[Event]) -> None:
        """Take note of a log without telling the strategy, which was loaded with what it says."""
        for event in log:
            if isinstance(event, Chosen):
                self._note_choice(*event)
            else:
                self._note_answer(event)

    def _turn_to_choose(self) -> bool:
        return not self._open or draw(self._limit, len(self.events), 3) > 0

    def _choose(self) -> bool:
        request = self.strategy.choose(self._now, EVERY_HOST)
        if not isinstance(request, Request):
            return False
        self._check_request(request)
        self._note_choice(request, self._now)
        return True

    def _wait(self) -> bool:
        """Let time pass where the strategy wants to wait; False if the crawl is over."""
        answer = self.strategy.choose(self._now, EVERY_HOST)
        require(not isinstance(answer, Request), f"after an empty answer came {answer}, without any news")
        if not isinstance(answer, Later):
            return False
        require(answer.at > self._now, f"{answer} at {self._now}: that is not later")
        require(math.isfinite(answer.at), f"{answer} is not a time")
        self._now = answer.at
        return True

    def _observe(self) -> None:
        waiting = list(self._open)
        request_id = waiting[draw(self._limit + 1, len(self.events), len(waiting))]
        outcome = self._answer(self._open[request_id])
        if self._revisits:
            outcome = self._as_visit(self._open[request_id], outcome)
        if isinstance(outcome, Deferred):
            outcome = replace(outcome, until=self._now + outcome.until)
        settled = tuple(self.strategy.observe(request_id, outcome, self._now))
        self._note_answer(Observed(request_id, outcome, settled, self._now))

    def _as_visit(self, request: Request, outcome: Outcome) -> Outcome:
        """Let the site change: of each page another part of the links is there, or nothing has changed."""
        if request.method is not Method.GET or not isinstance(outcome, Page | Target | Other):
            return outcome
        turn = len(self.events)
        if request.url in self._held and draw(self._limit + 2, turn, 3) == 0:
            return Unchanged(304, 0)
        if not isinstance(outcome, Page):
            return outcome
        whole = outcome.links
        there = [place for place in range(len(whole.urls)) if draw(turn, place, 4) > 0]
        return with_out_links(replace(outcome, links=LinkList([whole.link(place) for place in there])))

    def _check_request(self, request: Request) -> None:
        require(request.id not in self._ids, f"id {request.id} was used before: {request}")
        require(request.method in set(Method), f"no such method: {request}")
        key = (request.method, request.url)
        if self._revisits:
            waiting = {(other.method, other.url) for other in self._open.values()}
            require(key not in waiting, f"{request.method} {request.url} is in flight already")
        else:
            require(key not in self._requested, f"{request.method} {request.url} was requested before")
        self._check_deferral(key)
        if is_query(request.url):
            _check_query(request)
        else:
            require(request.url in self._told, f"nobody told the strategy of {request.url}")
        require(
            request.score is None or not math.isnan(request.score), f"the score is not a number: {request}"
        )
        if request.arm is not None:
            require(bool(self.strategy.arm_label(request.arm)), f"arm {request.arm} has no label")

    def _check_deferral(self, key: tuple[Method, str]) -> None:
        until = self._deferred.get(key)
        if until == AT_THE_END:
            require(not self._open, f"{key[1]} was deferred to the end, and others are in flight")
        elif until is not None:
            require(until <= self._now, f"{key[1]} was deferred to {until}, and it is {self._now}")

    def _note_choice(self, request: Request, at: float) -> None:
        self._ids.add(request.id)
        self._requested.add((request.method, request.url))
        self._deferred.pop((request.method, request.url), None)
        self._open[request.id] = request
        self._note(Chosen(request, at))

    def _note_answer(self, event: Observed) -> None:
        request_id, outcome, settled, _ = event
        request = self._open.pop(request_id)
        if isinstance(outcome, Page | Target | Other) and request.method is Method.GET:
            self._held.add(request.url)
        elif isinstance(outcome, Redirect | Failure):
            self._held.discard(request.url)
        if isinstance(outcome, Deferred):
            self._requested.discard((request.method, request.url))
            self._deferred[request.method, request.url] = outcome.until
        elif isinstance(outcome, Page):
            self._told.update(outcome.links.urls)
        elif isinstance(outcome, Redirect):
            self._told.add(outcome.location)
        for settlement in settled:
            number = settlement.request_id
            require(
                number in self._ids and number not in self._open, f"settled, but not observed: {settlement}"
            )
            require(number not in self._settled, f"settled twice: {settlement}")
            require(math.isfinite(settlement.reward), f"no finite reward: {settlement}")
            self._settled.add(number)
        self._note(event)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        self._now = event.at + 1.0

    def _stays_over(self) -> None:
        require(not self._deferred, f"the crawl is over, and these still wait: {list(self._deferred)}")
        for later in (0.0, 1.0, 1e6):
            request = self.strategy.choose(self._now + later, EVERY_HOST)
            require(request is None, f"the crawl was over, and then came {request}")


def _check_query(request: Request) -> None:
    """Queries are a strategy's own; nobody has to tell it of them."""
    try:
        address = parse_query(request.url).address
    except UsageError as error:
        raise ContractError(str(error)) from error
    require(address == request.url, f"{request.url} is not in normal form: {address}")
    require(request.method is Method.GET, f"a query takes GET: {request}")


def as_logged(events: Iterable[Event]) -> list[Event]:
    """Return events as a run's log keeps them: of a page, only links to URLs not yet linked or requested."""
    met: set[str] = set()
    logged: list[Event] = []
    for event in events:
        if isinstance(event, Chosen):
            met.add(event.request.url)
            logged.append(event)
        else:
            logged.append(event._replace(outcome=_with_new_links(event.outcome, met)))
    return logged


def _with_new_links(outcome: Outcome, met: set[str]) -> Outcome:
    if not isinstance(outcome, Page):
        return outcome
    new = []
    for index, url in enumerate(outcome.links.urls):
        if url not in met:
            met.add(url)
            new.append(outcome.links.link(index))
    return replace(outcome, links=LinkList(new))


def require_same(expected: Sequence[Event], events: Sequence[Event], what: str) -> None:
    """Compare two crawls event by event; scores may differ by rounding only."""
    for number, (one, other) in enumerate(zip(expected, events, strict=False)):
        require(_alike(one, other), f"{what}: event {number} was {_words(one)}, and is {_words(other)}")
    require(len(expected) == len(events), f"{what}: {len(expected)} events, and then {len(events)}")


def _alike(one: Event, other: Event) -> bool:
    if isinstance(one, Chosen) and isinstance(other, Chosen):
        score, other_score = one.request.score, other.request.score
        if (
            one.request[:4] != other.request[:4]
            or one.at != other.at
            or (score is None) != (other_score is None)
        ):
            return False
        return score is None or other_score is None or math.isclose(score, other_score, rel_tol=1e-9)
    if isinstance(one, Observed) and isinstance(other, Observed):
        # Rewards that become final together are in no order.
        rewards, again = dict(one.settled), dict(other.settled)
        return (
            one.request_id == other.request_id
            and rewards.keys() == again.keys()
            and all(math.isclose(rewards[number], again[number]) for number in rewards)
        )
    return False


def _words(event: Event) -> str:
    if isinstance(event, Chosen):
        return f"the choice of {event.request}"
    return f"the answer to request {event.request_id} with {list(event.settled)}"
