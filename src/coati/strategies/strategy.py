"""The contract between what decides and what does.

A strategy chooses a request (`choose`), and a driver makes it and reports the outcome (`observe`). These
rules keep every driver and every strategy interchangeable:

1. `choose` may be called again before earlier requests are observed. Each request is observed exactly once.
2. ``None`` means "nothing until you tell me more", `Later` "nothing before that time". With nothing in
   flight, the crawl is over after the one, and waits after the other. Neither leaves a trace in the strategy.
3. A redirect is an outcome. Whether the next hop is worth a request is the strategy's decision.
4. A strategy learns only from links to URLs that it did not know before, and a log keeps no others, so a
   crawl that was restored from its log has learnt the same. A strategy whose registry row says that it needs
   all out-links, or those that an API listed before, gets their hashes too (`coati.model.Page.out_links`).
5. The same calls give the same answers: randomness comes from the seed and the number of choices made
   (`coati.strategies.chance`), never from a clock or from global state. Times are those that the log keeps.
6. `Deferred` is not a result: the pull is undone, and the link is requested again from its time on, under a
   new id (`coati.strategies.deferrals`).
7. A strategy may request a URL more than once; then `Unchanged` is an outcome too.

A crawl that was interrupted is restored from its log: `redo` takes the place of `choose` for each choice
that the log holds, so that a choice that was made is restored and not made again. A strategy that can also
be saved at once has `save` and `load` (`coati.strategies.state`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from coati.errors import UsageError
from coati.model import Later, Method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.model import Hosts, Link, Outcome, Request, Settlement
    from coati.strategies.state import State


def next_try(answer: object) -> float:
    """Return when to call `choose` again after it returned no request; infinity after ``None``.

    Raises `UsageError` for what no strategy may return.

    >>> next_try(None), next_try(Later(60.0))
    (inf, 60.0)
    """
    if isinstance(answer, Later):
        return answer.at
    if answer is not None:
        raise UsageError(f"the strategy's choose returned {answer!r}: it must be a Request, a Later or None")
    return math.inf


def checked(request: Request) -> Request:
    """Return a request as it is; raise `UsageError` where it cannot be made.

    >>> from coati.model import Request
    >>> checked(Request(1, "GET", "http://example.org/"))
    Traceback (most recent call last):
    coati.errors.UsageError: the strategy's request has method 'GET': it must be a Method, such as Method.GET
    """
    if not isinstance(request.method, Method):
        raise UsageError(
            f"the strategy's request has method {request.method!r}: it must be a Method, such as Method.GET"
        )
    if "://" not in request.url:
        raise UsageError(
            f"the strategy requested {request.url!r}: it must be a URL, with its scheme and host, as those of"
            " links are"
        )
    return request


def settled(answer: Sequence[Settlement] | None) -> Sequence[Settlement]:
    """Return what an `observe` returned; raise `UsageError` where that is None."""
    if answer is None:
        raise UsageError(
            "the strategy's observe returned None: it must return the rewards that became final, or ()"
        )
    return answer


class Strategy(Protocol):
    """Decide what to request next; never fetch, sleep or read a clock."""

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        """Return the next request; ``now`` is in seconds since the epoch."""

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        """Learn from one request, failures included; return the rewards that became final."""

    def redo(self, request: Request, now: float) -> None:
        """Make a choice that a log holds, instead of `choose`; raise `ValueError` if it cannot be made."""

    def save(self) -> State:
        """Return everything that `load` needs to continue, requests in flight included."""

    def load(self, state: State) -> None:
        """Take over a saved state; call it on a new strategy with the same settings."""

    def arm_label(self, arm: int) -> str:
        """Describe an arm in words that a user understands."""


@runtime_checkable
class Expects(Protocol):
    """What a strategy has that can say what its next choices promise, for choosing among strategies."""

    def expects(self) -> float | None:
        """Return the value of the next choices, mostly in targets per request; it leaves no trace.

        None where nothing is known yet; 0 where nothing waits.
        """


class Outlook(NamedTuple):
    """What waits: how many links, and how many targets the best of them promise."""

    waiting: int
    promised: float


@runtime_checkable
class Foresees(Protocol):
    """What a strategy has that can say what all of its waiting links promise, for forecasts."""

    def outlook(self, requests: int) -> Outlook | None:
        """Return the targets that the best links for this many requests promise, doubt not added.

        None where its scores are not targets per request. It leaves no trace, and may look at all that waits.
        """


@dataclass(frozen=True, slots=True)
class ScoreReason:
    """One reason for the score of a link: its words, and how it changes the score."""

    words: str
    contribution: float


class ScoreExplanation(NamedTuple):
    """The score that decides about a link, and the reasons for it, the strongest first."""

    score: float
    reasons: Sequence[ScoreReason]


@runtime_checkable
class Explains(Protocol):
    """What a strategy has that can say why."""

    def explain(self, link: str | Link, source_url: str = "") -> ScoreExplanation:
        """Explain the score of a link that waits, by its URL, or of any link with its page's URL."""
