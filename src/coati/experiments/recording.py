"""What is recorded of a run beside its trace: rewards by group, predictions, and the cost of steps.

A strategy is watched from outside, over its contract, so that any strategy that is added later is watched in
the same way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from coati.experiments.confusion import CONFUSIONS
from coati.model import Hosts, Kind, Later, Method, Outcome, Page, Redirect, Request, Settlement
from coati.replaying.wrapped_strategy import WrappedStrategy
from coati.strategies.strategy import Strategy
from coati.strategies.truth import SiteTruth

_EXAMPLES = 3
_COST_STEP = 128

# By true class and predicted class, as the paper's matrices are read.
CLASSES = {Kind.PAGE: "html", Kind.TARGET: "target", Kind.OTHER: "neither", Kind.BROKEN: "neither"}


@dataclass(slots=True)
class RewardGroup:
    """An arm: what its pages brought, and those that brought most."""

    rewards: int = 0
    total: float = 0.0
    best: list[tuple[float, str]] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean reward of its pages."""
        return self.total / self.rewards if self.rewards else 0.0

    def add(self, reward: float, url: str) -> None:
        """Count the reward of one page."""
        self.rewards += 1
        self.total += reward
        self.best = sorted([*self.best, (reward, url)], key=lambda pair: -pair[0])[:_EXAMPLES]


class RecordingStrategy(WrappedStrategy):
    """A strategy that does what another does, and takes notes (`coati.strategies.strategy.Strategy`).

    Predictions are read off the order of requests, as one request is in flight at a time. What is requested
    before the reward of a page is settled was taken for a target; what is requested with none open was taken
    for a page. Left out: the start page, links whose class a HEAD told, and the hops of redirects.
    """

    def __init__(self, strategy: Strategy, truth: SiteTruth) -> None:
        super().__init__(strategy)
        self._truth = truth
        self._requested: dict[int, Request] = {}
        self._open: dict[int, Request] = {}
        self._told: set[str] = {truth.urls[0]} if truth.urls else set()
        self._turns = 0
        self.rewards: list[float] = []
        self.groups: dict[int, RewardGroup] = {}
        self.confusion = dict.fromkeys(CONFUSIONS, 0)
        self.cost: list[tuple[int, float]] = [(0, time.process_time())]

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        if isinstance(request, Request):
            self._requested[request.id] = request
            self._note_prediction(request)
            self._turns += 1
            if self._turns % _COST_STEP == 0:
                self.cost.append((self._turns, time.process_time()))
        return request

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        request = self._requested.pop(request_id)
        if isinstance(outcome, Redirect):
            self._told.add(outcome.location)
        elif isinstance(outcome, Page) and request.method is Method.GET:
            self._open[request_id] = request
        settlements = super().observe(request_id, outcome, now)
        for settlement in settlements:
            page = self._open.pop(settlement.request_id, None)
            # The start page belongs to no group, and its targets are nobody's reward.
            if page is not None and page.arm is not None:
                self.rewards.append(settlement.reward)
                self.groups.setdefault(page.arm, RewardGroup()).add(settlement.reward, page.url)
        return settlements

    def _note_prediction(self, request: Request) -> None:
        if request.method is Method.HEAD:
            self._told.add(request.url)
            return
        kind = self._truth.kind(request.url)
        if kind in CLASSES and request.url not in self._told:
            self.confusion[f"{CLASSES[kind]}_as_{'target' if self._open else 'html'}"] += 1
