"""A crawl without a network that watches every step of a strategy.

What happens next (another choice, or which answer arrives) depends only on how much has happened so far, so a
crawl that is restored half-way goes on exactly as the uninterrupted one did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from coati.model import LinkList, Method, Page, Redirect, always_ready
from coati.strategies.chance import draw

if TYPE_CHECKING:
    from coati.model import Outcome, Request, Settlement
    from coati.strategies.strategy import Strategy

Answer = Callable[["Request"], "Outcome"]
"""What came of a request."""


class ContractError(AssertionError):
    """The object under test broke its contract; the message says how."""


class Chosen(NamedTuple):
    """The strategy asked for something."""

    request: Request


class Observed(NamedTuple):
    """The strategy was told what came of a request, and settled some rewards."""

    request_id: int
    outcome: Outcome
    settled: tuple[Settlement, ...]


Event = Chosen | Observed


def require(holds: bool, message: str) -> None:  # noqa: FBT001 - a condition, not a switch
    """Raise a `ContractError` unless a condition holds."""
    if not holds:
        raise ContractError(message)


class Rehearsal:
    """Drives one strategy, and checks each of its answers against what it may know and do."""

    def __init__(self, strategy: Strategy, start_url: str, answer: Answer, in_flight: int) -> None:
        self.strategy = strategy
        self.events: list[Event] = []
        self._answer = answer
        self._limit = in_flight
        self._open: dict[int, Request] = {}
        self._told = {start_url}
        self._asked: set[tuple[Method, str]] = set()
        self._ids: set[int] = set()
        self._settled: set[int] = set()

    def run(self, until: int | None = None) -> None:
        """Go on until the crawl is over, or until so many events have happened."""
        dry = False
        while until is None or len(self.events) < until:
            if len(self._open) < self._limit and not dry and self._turn_to_choose():
                dry = not self._choose()
            elif self._open:
                self._observe()
                dry = False
            else:
                self._stays_over()
                return

    def restore(self, log: Iterable[Event]) -> None:
        """Bring a new strategy to where a log ends, by `redo` and `observe`."""
        for event in log:
            if isinstance(event, Chosen):
                self.strategy.redo(event.request)
                self._note_choice(event.request)
            else:
                settled = tuple(self.strategy.observe(event.request_id, event.outcome))
                self._note_answer(event.request_id, event.outcome, settled)

    def adopt(self, log: Sequence[Event]) -> None:
        """Take note of a log without telling the strategy, which was loaded with what it says."""
        for event in log:
            if isinstance(event, Chosen):
                self._note_choice(event.request)
            else:
                self._note_answer(event.request_id, event.outcome, event.settled)

    def _turn_to_choose(self) -> bool:
        return not self._open or draw(self._limit, len(self.events), 3) > 0

    def _choose(self) -> bool:
        request = self.strategy.choose(float(len(self.events)), always_ready)
        if request is not None:
            self._check_request(request)
            self._note_choice(request)
        return request is not None

    def _observe(self) -> None:
        waiting = list(self._open)
        request_id = waiting[draw(self._limit + 1, len(self.events), len(waiting))]
        outcome = self._answer(self._open[request_id])
        settled = tuple(self.strategy.observe(request_id, outcome))
        self._note_answer(request_id, outcome, settled)

    def _check_request(self, request: Request) -> None:
        require(request.id not in self._ids, f"id {request.id} was used before: {request}")
        require(request.method in set(Method), f"no such method: {request}")
        require(
            (request.method, request.url) not in self._asked,
            f"{request.method} {request.url} was asked for before",
        )
        require(request.url in self._told, f"nobody told the strategy of {request.url}")
        require(
            request.score is None or not math.isnan(request.score), f"the score is not a number: {request}"
        )
        if request.arm is not None:
            require(bool(self.strategy.arm_label(request.arm)), f"arm {request.arm} has no label")

    def _note_choice(self, request: Request) -> None:
        self._ids.add(request.id)
        self._asked.add((request.method, request.url))
        self._open[request.id] = request
        self.events.append(Chosen(request))

    def _note_answer(self, request_id: int, outcome: Outcome, settled: tuple[Settlement, ...]) -> None:
        del self._open[request_id]
        if isinstance(outcome, Page):
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
        self.events.append(Observed(request_id, outcome, settled))

    def _stays_over(self) -> None:
        for later in (0.0, 1.0, 1e6):
            request = self.strategy.choose(len(self.events) + later, always_ready)
            require(request is None, f"the crawl was over, and then came {request}")


def as_logged(events: Iterable[Event]) -> list[Event]:
    """Give events as a run's log keeps them: of a page, only links to URLs not yet linked or asked for."""
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
    return Page(outcome.status, outcome.size_bytes, LinkList(new))


def require_same(expected: Sequence[Event], events: Sequence[Event], what: str) -> None:
    """Compare two crawls event by event; scores may differ by rounding only."""
    for number, (one, other) in enumerate(zip(expected, events, strict=False)):
        require(_alike(one, other), f"{what}: event {number} was {_words(one)}, and is {_words(other)}")
    require(len(expected) == len(events), f"{what}: {len(expected)} events, and then {len(events)}")


def _alike(one: Event, other: Event) -> bool:
    if isinstance(one, Chosen) and isinstance(other, Chosen):
        score, other_score = one.request.score, other.request.score
        if one.request[:4] != other.request[:4] or (score is None) != (other_score is None):
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
