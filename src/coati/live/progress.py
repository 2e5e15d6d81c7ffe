"""What a crawl reports while it runs: its progress, and its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from coati.live.event_loop import NO_STALLS, Stalls
from coati.model import AT_THE_END, Deferred, Failure, Other, Outcome, Page, Redirect, Refused, Target
from coati.pacing.host_pace import Wait


class ArmYield(NamedTuple):
    """What one arm has brought so far; ``label`` is the strategy's own words for it.

    ``pulls`` are its pages whose reward is final, and what of it was no use.
    """

    label: str
    pulls: int
    reward: float


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a crawl. Counts include earlier sessions of the run; ``seconds`` do not.

    ``requests`` counts retries and HEADs. Requests for robots.txt are shown on their own and not charged.
    ``waits`` says for each host that must rest how long that takes, and why. ``deferred`` counts what met an
    outage and is retried; it is not an error. ``stalls`` are turns of the loop that took too long.
    """

    requests: int = 0
    pages: int = 0
    targets: int = 0
    failures: int = 0
    refused: int = 0
    bytes: int = 0
    in_flight: int = 0
    deferred: int = 0
    robots_requests: int = 0
    archived: int = 0
    seconds: float = 0.0
    session_requests: int = 0
    waits: Mapping[str, Wait] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    best_arm: ArmYield | None = None
    stalls: Stalls = NO_STALLS

    @property
    def requests_per_second(self) -> float:
        """The mean rate of this session."""
        return self.session_requests / self.seconds if self.seconds else 0.0


class EventKind(StrEnum):
    """The kinds of events."""

    CHOSEN = "chosen"
    RETRIED = "retried"
    OBSERVED = "observed"
    SKIPPED = "skipped"
    WAITING = "waiting"
    ROBOTS = "robots"
    STOPPING = "stopping"


class Event(NamedTuple):
    """One thing that happened; ``data`` holds what JSON can say, ``at`` is in seconds since the epoch."""

    at: float
    what: EventKind
    data: Mapping[str, object]


OnProgress = Callable[[Progress], None]
OnEvent = Callable[[Event], None]


def described(outcome: Outcome) -> dict[str, object]:
    """Return an outcome as JSON can say it."""
    described: dict[str, object] = {"kind": outcome.kind.value}
    if not isinstance(outcome, Refused):
        described |= {"status": outcome.status, "size_bytes": outcome.size_bytes}
    match outcome:
        case Page():
            described["links"] = len(outcome.links.urls)
        case Target() | Other():
            described["media_type"] = outcome.media_type
        case Redirect():
            described["location"] = outcome.location
        case Failure() | Refused():
            described["reason"] = outcome.reason
        case Deferred():
            until = "the end" if outcome.until == AT_THE_END else outcome.until
            described |= {"reason": outcome.reason, "until": until}
    return described
