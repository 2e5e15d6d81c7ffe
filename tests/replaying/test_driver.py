from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.assembly import REGISTRY, SITE_STRATEGIES, Need, build_strategy
from coati.budget import Budget, Limit
from coati.model import NO_LINKS, Hosts, Later, Method, Outcome, Page, Refused, Request, Settlement, Target
from coati.replaying.driver import FINISHED, STOPPED_EARLY, Replay, replay
from coati.replaying.site import ReplaySite
from coati.strategies.state import State
from coati.strategies.strategy import Strategy
from coati.strategies.tres.tres import TresExamples
from tests.replaying import tiny_site
from tests.replaying.tiny_site import START

NO_LIMITS = Budget()
# The neural one needs PyTorch, and has tests of its own.
NAMES = [name for name in SITE_STRATEGIES if name != "tres"]
EXAMPLES = TresExamples(["download the data"], ["about us"])


def run(site: ReplaySite, name: str = "bfs", budget: Budget = NO_LIMITS) -> Replay:
    examples = EXAMPLES if Need.EXAMPLES in REGISTRY[name].needs else None
    return replay(site, build_strategy(name, [site.start_url], 1, site.truth, examples=examples), budget)


def test_breadth_first_by_hand(tmp_path: Path) -> None:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        result = run(ReplaySite(archive))
    paths = [step.url.removeprefix(START) for step in result.trace.steps()]
    assert paths == ["", "a", "b", "gone", "old", "a1.csv", "a2.csv", "b1.csv", "style", "c"]
    assert [step.kind for step in result.trace.steps()] == [
        *("page", "page", "page", "failure", "redirect", "target", "target", "target", "other", "page")
    ]
    assert list(result.trace.targets) == [0, 0, 0, 0, 0, 1, 2, 3, 3, 3]
    assert list(result.trace.sizes) == [300, 200, 400, 0, 0, 100, 200, 700, 1000, 100]
    assert result.stop == FINISHED
    assert result.cpu_seconds >= 0


@pytest.mark.parametrize("use_link_cache", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_makes_the_same_run_twice_and_finds_all_targets(
    tmp_path: Path, name: str, *, use_link_cache: bool
) -> None:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        first, second = (
            run(ReplaySite(archive, use_link_cache=cached), name) for cached in (use_link_cache, True)
        )
    assert list(first.trace.steps()) == list(second.trace.steps())
    assert first.trace.targets[-1] == tiny_site.TOTAL_TARGETS


@pytest.mark.parametrize(
    ("budget", "requests", "limit"),
    [
        (Budget(max_requests=3), 3, Limit.REQUESTS),
        (Budget(max_targets=2), 7, Limit.TARGETS),
        (Budget(max_bytes=900), 3, Limit.BYTES),
        (Budget(max_bytes=901), 6, Limit.BYTES),
        (Budget(max_requests=10), 10, Limit.REQUESTS),
        (Budget(max_requests=11), 10, None),
        (Budget(max_seconds=2.5), 3, Limit.SECONDS),
        (Budget(max_seconds=3600), 10, None),
    ],
)
def test_a_budget_ends_a_run(tmp_path: Path, budget: Budget, requests: int, limit: Limit | None) -> None:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        result = run(ReplaySite(archive), budget=budget)
    assert len(result.trace) == requests
    assert result.stop == (FINISHED if limit is None else limit.value)


class After:
    """Stops after so many requests; keeps what it was told."""

    def __init__(self, requests: int) -> None:
        self.requests = requests
        self.told: list[tuple[int, int]] = []

    def observe(
        self, requests: int, targets: int, score: float | None = None, strategy: Strategy | None = None
    ) -> bool:
        self.told.append((requests, targets))
        return requests >= self.requests


def test_an_early_stop_sees_every_request_once_and_ends_the_run(tmp_path: Path) -> None:
    rule = After(7)
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        site = ReplaySite(archive)
        result = replay(site, build_strategy("bfs", [START]), Budget(), rule)
    assert rule.told == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1), (7, 2)]
    assert result.stop == STOPPED_EARLY
    assert len(result.trace) == 7


class Scripted:
    """A strategy and the site that answers it, in one: it asks for each outcome of a script."""

    def __init__(self, script: Sequence[Outcome], settle_after: int = 0) -> None:
        self.script = script
        self.settle_after = settle_after
        self.turn = 0
        self.observed: list[tuple[int, Outcome]] = []
        self.asked_at: list[float] = []

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        assert hosts.ready("anywhere.test")
        self.asked_at.append(now)
        if self.turn == len(self.script):
            return None
        self.turn += 1
        return Request(self.turn, Method.GET, f"http://a.test/{self.turn}")

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        self.observed.append((request_id, outcome))
        return [Settlement(1, 3.0)] if request_id == self.settle_after else []

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        return self.script[request.id - 1]

    def redo(self, request: Request, now: float) -> None:
        raise NotImplementedError("a replay goes through no log")

    def save(self) -> State:
        raise NotImplementedError("a replay saves no strategy")

    def load(self, state: State) -> None:
        raise NotImplementedError("a replay restores no strategy")

    def arm_label(self, arm: int) -> str:
        raise NotImplementedError("its requests have no arm")


class FromScript(ReplaySite):
    """Answers what the strategy itself expects."""

    def __init__(self, script: Scripted) -> None:
        self.respond = script.respond  # type: ignore[method-assign] # the driver calls nothing else


def drive(script: Scripted, budget: Budget, told: list[tuple[int, int]] | None = None) -> Replay:
    return replay(
        FromScript(script),
        script,
        budget,
        None,
        None if told is None else lambda *counts: told.append(counts),
    )


PAGE = Page(200, 10, NO_LINKS)


def test_what_was_refused_costs_nothing_and_is_observed() -> None:
    refused, target = Refused("out of scope"), Target(200, 10, "text/csv")
    script = Scripted([refused, target, refused, refused, target, target])
    told: list[tuple[int, int]] = []
    result = drive(script, Budget(max_bytes=21), told)
    assert len(result.trace) == 3
    assert result.trace.refused == 3
    assert script.observed == [(n + 1, outcome) for n, outcome in enumerate(script.script)]
    assert result.stop == Limit.BYTES.value
    assert script.asked_at == [0, 0, 1, 1, 1, 2]


def test_rewards_are_written_to_the_request_that_earned_them() -> None:
    result = drive(Scripted([PAGE, PAGE, PAGE], settle_after=3), Budget())
    assert [step.reward for step in result.trace.steps()] == [3.0, None, None]


def test_progress_is_told_now_and_then() -> None:
    told: list[tuple[int, int]] = []
    drive(Scripted([Refused("x"), *([PAGE] * 200)]), Budget(), told)
    assert told == [(64, 0), (128, 0), (192, 0)]
