"""A check that nothing fails proves nothing: each way to break a contract has a class here that does."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest

from coati.assembly import build_strategy
from coati.bandits.policy import Choice
from coati.bandits.sleeping_ucb import SleepingUcb
from coati.model import (
    Deferred,
    Failure,
    Hosts,
    Later,
    Method,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Settlement,
)
from coati.strategies.deferrals import Deferrals
from coati.strategies.state import State
from coati.testing.checked_crawl import ContractError
from coati.testing.checks import check_policy, check_strategy, default_sites


@pytest.mark.parametrize("name", ["bfs", "dfs", "random"])
def test_the_baselines_keep_the_contract(name: str) -> None:
    check_strategy(lambda site, seed: build_strategy(name, [site.start_url], seed))


class Sound:
    """A plain strategy that keeps the contract; each of those below breaks it in one way."""

    def __init__(self, start_url: str) -> None:
        self.met = {start_url}
        self.waiting = [start_url]
        self.in_flight: dict[int, str] = {}
        self.deferred: Deferrals[str] = Deferrals()
        self.turn = 0

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        url = self.deferred.take(now, idle=not self.waiting and not self.in_flight)
        if url is None:
            if not self.waiting:
                return self.deferred.answer()
            url = self.waiting.pop(0)
        self.in_flight[self.turn] = url
        self.turn += 1
        return Request(self.turn - 1, Method.GET, self.in_flight[self.turn - 1], arm=0, score=0.5)

    def redo(self, request: Request, now: float) -> None:
        if self.deferred.take_logged(request) is None:
            self.waiting.remove(request.url)
        self.in_flight[request.id] = request.url
        self.turn = request.id + 1

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        url = self.in_flight.pop(request_id)
        if isinstance(outcome, Deferred):
            self.deferred.push(Method.GET, url, url, outcome.until)
        if isinstance(outcome, Page):
            new = [url for url in dict.fromkeys(outcome.links.urls) if url not in self.met]
            self.waiting += new
            self.met.update(new)
            return [Settlement(request_id, len(new))]
        if isinstance(outcome, Redirect) and outcome.location not in self.met:
            self.waiting.append(outcome.location)
            self.met.add(outcome.location)
        return []

    def save(self) -> State:
        return {
            "met": sorted(self.met),
            "waiting": list(self.waiting),
            "in_flight": list(self.in_flight.items()),
            "deferred": self.deferred.save(str),
            "turn": self.turn,
        }

    def load(self, state: State) -> None:
        self.met = set(state["met"])
        self.waiting = state["waiting"]
        self.in_flight = dict(state["in_flight"])
        self.deferred.load(state["deferred"], str)
        self.turn = state["turn"]

    def arm_label(self, arm: int) -> str:
        return f"arm {arm}"


def test_a_sound_strategy_passes() -> None:
    check_strategy(lambda site, _seed: Sound(site.start_url))


class UsesAnIdTwice(Sound):
    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        return request._replace(id=request.id // 2) if isinstance(request, Request) else request


class AsksTwice(Sound):
    last: Request | None = None

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        if not isinstance(request, Request):
            return request
        if self.last is not None:
            request = request._replace(url=self.last.url)
        self.last = request
        return request


class MakesUpUrls(Sound):
    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        return request._replace(url=request.url + "made-up") if isinstance(request, Request) else request


class ScoresNothing(Sound):
    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        return request._replace(score=float("nan")) if isinstance(request, Request) else request


class RisesFromTheDead(Sound):
    nones = 0

    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        request = super().choose(now, hosts)
        self.nones += request is None
        return Request(10**6, Method.GET, "http://start.test/") if self.nones > 2 else request


class DropsWhatMetAnOutage(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Deferred):
            outcome = Failure(0, 0, outcome.reason)
        return super().observe(request_id, outcome, now)


class DoesNotWait(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Deferred):
            outcome = replace(outcome, until=now)
        return super().observe(request_id, outcome, now)


class AsksAtTheEndTooEarly(Sound):
    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        url = self.deferred.take(now, idle=not self.waiting)
        if url is not None:
            self.waiting.append(url)
        return super().choose(now, hosts)


class HasNoNameForAnArm(Sound):
    def arm_label(self, arm: int) -> str:
        return ""


class ForgetsWhatWasInFlight(Sound):
    def load(self, state: State) -> None:
        super().load({**state, "in_flight": []})


class ForgetsWhatWaits(Sound):
    def load(self, state: State) -> None:
        super().load({**state, "waiting": []})


class LoadsOnlyOnce(Sound):
    """Goes on from the snapshot, but cannot redo what the log holds after it."""

    loaded = False

    def load(self, state: State) -> None:
        super().load(state)
        self.loaded = True

    def redo(self, request: Request, now: float) -> None:
        if self.loaded:
            raise ContractError("the log's tail")
        super().redo(request, 0.0)


class IsChangedBySaving(Sound):
    def save(self) -> State:
        state = super().save()
        self.waiting.reverse()
        return state


class RedoesNothing(Sound):
    def redo(self, request: Request, now: float) -> None:
        if request.url not in self.met:
            raise ValueError(request.url)


class RedoesAnything(Sound):
    def redo(self, request: Request, now: float) -> None:
        if request.url in self.met:
            super().redo(request, 0.0)


class LearnsFromKnownLinks(Sound):
    """Lets links that it knows already decide: the log does not have them."""

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        settled = super().observe(request_id, outcome, 0.0)
        if isinstance(outcome, Page) and len(outcome.links.urls) % 2:
            self.waiting.reverse()
        return settled


class PaysTwice(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        super().observe(request_id, outcome, 0.0)
        return [Settlement(0, 1.0)] if request_id % 2 else []


class PaysForWhatIsInFlight(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        super().observe(request_id, outcome, 0.0)
        return [Settlement(request_id + 1, 1.0)]


class FallsOverFailures(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Failure) and outcome.status == 0:
            raise ZeroDivisionError
        return super().observe(request_id, outcome, 0.0)


class FallsOverRefusals(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Refused):
            raise ZeroDivisionError
        return super().observe(request_id, outcome, 0.0)


class FollowsLoops(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        url = self.in_flight[request_id]
        settled = super().observe(request_id, outcome, 0.0)
        if isinstance(outcome, Redirect) and outcome.location == url:
            self.waiting.append(url)
        return settled


class PaysInfinitely(Sound):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        super().observe(request_id, outcome, 0.0)
        return [Settlement(request_id, float("inf"))]


class DependsOnWhatWasBefore(Sound):
    instances = count()

    def __init__(self, start_url: str) -> None:
        super().__init__(start_url)
        self.number = next(self.instances)

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        settled = super().observe(request_id, outcome, 0.0)
        if self.number % 2:
            self.waiting.reverse()
        return settled


class RequestsNothing(Sound):
    def __init__(self, start_url: str) -> None:
        super().__init__(start_url)
        self.waiting = []


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (UsesAnIdTwice, "used before"),
        (AsksTwice, "asked for before"),
        (MakesUpUrls, "nobody told"),
        (ScoresNothing, "not a number"),
        (RisesFromTheDead, "was over"),
        (RequestsNothing, "requests nothing"),
        (HasNoNameForAnArm, "no label"),
        (DropsWhatMetAnOutage, "these still wait"),
        (DoesNotWait, "was deferred to"),
        (AsksAtTheEndTooEarly, "deferred to the end"),
        (PaysInfinitely, "no finite reward"),
        (LoadsOnlyOnce, "the log's tail"),
        (IsChangedBySaving, "saving after event"),
        (ForgetsWhatWaits, "loaded from a snapshot"),
        (RedoesNothing, "."),
        (RedoesAnything, "could not have been made"),
        (LearnsFromKnownLinks, "the log"),
        (PaysTwice, "settled twice"),
        (PaysForWhatIsInFlight, "not observed"),
        (FollowsLoops, "asked for before"),
        (DependsOnWhatWasBefore, "same seed"),
    ],
)
def test_a_broken_contract_is_found(broken: type[Sound], message: str) -> None:
    with pytest.raises((ContractError, KeyError), match=message):
        check_strategy(lambda site, _seed: broken(site.start_url), in_flight=[1, 5])


@pytest.mark.parametrize("broken", [FallsOverFailures, FallsOverRefusals])
def test_what_the_strategy_raises_comes_out_with_the_place(broken: type[Sound]) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        check_strategy(lambda site, _seed: broken(site.start_url), in_flight=[3])
    assert "3 in flight" in caught.value.__notes__[0]


def test_requests_in_flight_are_part_of_a_snapshot() -> None:
    with pytest.raises((ContractError, KeyError)):
        check_strategy(lambda site, _seed: ForgetsWhatWasInFlight(site.start_url), in_flight=[8])


def test_own_sites_can_be_given() -> None:
    sites = {"mine": default_sites()["ordinary"]}
    with pytest.raises(ContractError) as caught:
        check_strategy(lambda site, _seed: MakesUpUrls(site.start_url), sites)
    assert "'mine'" in caught.value.__notes__[0]


class SoundPolicy:
    """A plain policy that keeps the contract: the best mean, pulls break ties."""

    def __init__(self) -> None:
        self.mean: list[float] = []
        self.pulls: list[int] = []
        self.paid: list[int] = []
        self.awake: set[int] = set()

    def choose(self, time: int) -> Choice | None:
        best = max(sorted(self.awake), key=lambda arm: (self.mean[arm], -self.pulls[arm]), default=None)
        return None if best is None else Choice(best, self.mean[best])

    def pull(self, arm: int) -> None:
        self.pulls[arm] += 1

    def undo_pull(self, arm: int) -> None:
        self.pulls[arm] -= 1

    def observe(self, arm: int, reward: float) -> None:
        self.paid[arm] += 1
        self.mean[arm] += (reward - self.mean[arm]) / self.paid[arm]

    def wake(self, arm: int) -> None:
        self.awake.add(arm)
        if arm == len(self.mean):
            self.mean.append(0.0)
            self.pulls.append(0)
            self.paid.append(0)

    def sleep(self, arm: int) -> None:
        self.awake.discard(arm)

    def save(self) -> State:
        return {"mean": self.mean, "pulls": self.pulls, "paid": self.paid, "awake": sorted(self.awake)}

    def load(self, state: State) -> None:
        self.mean, self.pulls, self.paid = state["mean"], state["pulls"], state["paid"]
        self.awake = set(state["awake"])


def test_sound_policies_pass() -> None:
    check_policy(lambda _seed: SoundPolicy())
    check_policy(lambda _seed: SleepingUcb(exploration=2.0))


class ChoosesSleepers(SoundPolicy):
    def sleep(self, arm: int) -> None: ...


class HasNothing(SoundPolicy):
    def choose(self, time: int) -> Choice | None:
        return None


class ForgetsPulls(SoundPolicy):
    def load(self, state: State) -> None:
        super().load({**state, "pulls": [0] * len(state["pulls"])})


class ForgetsWhoSleeps(SoundPolicy):
    def load(self, state: State) -> None:
        super().load({**state, "awake": range(len(state["pulls"]))})


class WakesOnReward(SoundPolicy):
    def observe(self, arm: int, reward: float) -> None:
        super().observe(arm, reward)
        self.wake(arm)


class HasUnsavedState(SoundPolicy):
    """Differs from its twin only after a save and load, as unsaved state does."""

    def __init__(self) -> None:
        super().__init__()
        self.unsaved = 0

    def observe(self, arm: int, reward: float) -> None:
        self.unsaved += 1
        super().observe(arm, reward + self.unsaved)


class ChoosesBeforeThereIsAnything(SoundPolicy):
    def choose(self, time: int) -> Choice | None:
        return super().choose(time) or Choice(0, 0.0)


class ScoresNoNumber(SoundPolicy):
    def choose(self, time: int) -> Choice | None:
        choice = super().choose(time)
        return choice and choice._replace(score=float("nan"))


@pytest.mark.parametrize(
    "broken",
    [
        ChoosesSleepers,
        HasNothing,
        ForgetsPulls,
        ForgetsWhoSleeps,
        WakesOnReward,
        HasUnsavedState,
        ChoosesBeforeThereIsAnything,
        ScoresNoNumber,
    ],
)
def test_a_broken_policy_is_found(broken: type[SoundPolicy]) -> None:
    with pytest.raises(ContractError):
        check_policy(lambda _seed: broken())
