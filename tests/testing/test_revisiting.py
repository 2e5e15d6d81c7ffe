"""A check of strategies that visit again must find those that break the contract, each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from coati.model import Hosts, Later, Outcome, Page, Request, Settlement, Unchanged
from coati.strategies.state import State
from coati.testing.checked_crawl import ContractError
from coati.testing.checks import check_strategy, default_sites
from coati.testing.revisiting import RevisitInTurn


class ForgetsWhatIsDue(RevisitInTurn):
    def load(self, state: State) -> None:
        super().load(state)
        self._due.clear()


class ForgetsOutLinks(RevisitInTurn):
    def load(self, state: State) -> None:
        super().load(state)
        self._out_links.clear()


class CountsLinksInstead(RevisitInTurn):
    """Takes the links of a page for all that stand there: a log holds the new ones only."""

    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Page):
            outcome = replace(outcome, out_links=[hash(url) for url in outcome.links.urls])
        return super().observe(request_id, outcome, now)


class WaitsForThePast(RevisitInTurn):
    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        answer = super().choose(now, hosts)
        return Later(now) if isinstance(answer, Later) else answer


class AsksTwiceAtOnce(RevisitInTurn):
    def choose(self, now: float, hosts: Hosts) -> Request | Later | None:
        self._new.extend(self._in_flight.values())
        return super().choose(now, hosts)


class FallsOverUnchanged(RevisitInTurn):
    def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
        if isinstance(outcome, Unchanged):
            raise ContractError("what is this?")
        return super().observe(request_id, outcome, now)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (ForgetsWhatIsDue, "loaded from a snapshot"),
        (ForgetsOutLinks, "loaded from a snapshot"),
        (CountsLinksInstead, "restored from the log"),
        (WaitsForThePast, "that is not later"),
        (AsksTwiceAtOnce, "is in flight already"),
        (FallsOverUnchanged, "what is this"),
    ],
)
def test_a_broken_contract_is_found(broken: type[RevisitInTurn], message: str) -> None:
    sites = {"ordinary": default_sites()["ordinary"]}
    with pytest.raises(ContractError, match=message):
        check_strategy(lambda site, _seed: broken([site.start_url]), sites, in_flight=[1, 5], revisits=True)


def test_who_does_not_say_that_it_visits_again_may_not() -> None:
    sites = {"ordinary": default_sites()["ordinary"]}
    with pytest.raises(ContractError, match="was requested before"):
        check_strategy(lambda site, _seed: RevisitInTurn([site.start_url]), sites, in_flight=[1])
