"""At which level a crawl ends, and on what it goes on."""

import pytest

from coati.assembly import build_early_stop, build_strategy, stop_rule
from coati.budget import Budget
from coati.errors import ConfigError
from coati.model import Link, LinkList, Outcome, Page, Request, Target
from coati.replaying.driver import STOPPED_EARLY, replay
from coati.strategies.baselines.simple_orders import breadth_first
from coati.strategies.scent.scent import Scent
from coati.strategies.stopping.dry_spell import DrySpell
from coati.strategies.stopping.stop_when_dry import LEVELS, StopWhenDry, floor_of
from coati.strategies.strategy import Outlook


class Promising(Scent):
    """Says that enough links wait, with a promise that falls from a request on."""

    def __init__(self, falls_at: int, low: float = 0.0) -> None:
        super().__init__(["http://example.org/"])
        self.falls_at, self.low = falls_at, low
        self.requests = 0

    def outlook(self, requests: int) -> Outlook | None:
        return Outlook(9000, requests * (0.5 if self.requests < self.falls_at else self.low))


def stop_at(strategy: Promising, rule: StopWhenDry, until: int = 4000) -> int | None:
    for number in range(1, until):
        strategy.requests = number
        promised = 0.5 if number < strategy.falls_at else strategy.low
        targets = min(number, strategy.falls_at) // 2 + int(strategy.low * max(0, number - strategy.falls_at))
        if rule.observe(number, targets, promised, strategy):
            return number
    return None


def test_it_ends_soon_after_nothing_is_promised_on_a_small_site_too() -> None:
    ended = stop_at(Promising(400), StopWhenDry())
    assert ended is not None
    assert 400 < ended < 520


def test_it_continues_while_much_is_promised() -> None:
    assert stop_at(Promising(9999), StopWhenDry()) is None


def test_not_before_a_hundred_requests() -> None:
    ended = stop_at(Promising(2), StopWhenDry())
    assert ended is not None
    assert 100 <= ended < 250


def test_a_crawl_that_found_nothing_yet_is_given_time() -> None:
    assert stop_at(Promising(0), StopWhenDry()) == 1500


def test_levels_are_ordered() -> None:
    ends = [stop_at(Promising(1000, 0.008), StopWhenDry(floor)) for floor in LEVELS.values()]
    assert list(LEVELS) == ["careful", "normal", "eager"]
    assert ends[0] is None
    assert ends[1] is None
    assert ends[2] is not None


def test_a_strategy_that_tells_nothing_is_stopped_by_its_yield() -> None:
    ours, theirs = StopWhenDry(), DrySpell()
    strategy = breadth_first(["http://example.org/"])
    for number in range(1, 4000):
        targets = min(number, 1000) // 2
        ended = theirs.observe(number, targets)
        assert ours.observe(number, targets, 0.0, strategy) == ended
        assert ours.estimate == theirs.estimate
        if ended:
            return
    pytest.fail("neither ended")


def test_bytes_of_targets_do_not_promise_targets() -> None:
    scent = build_strategy("scent-bytes", ["http://example.org/"])
    assert isinstance(scent, Scent)
    assert scent.outlook(100) is None


@pytest.mark.parametrize("level", ["", "often", "-1", "0", "nan", "inf", "careful normal"])
def test_an_unknown_level_is_refused_with_the_levels(level: str) -> None:
    with pytest.raises(ConfigError, match="use off, careful, normal, eager or a number"):
        floor_of(level)


def test_rules_by_name() -> None:
    assert stop_rule("off") is None
    assert isinstance(stop_rule("7"), StopWhenDry)
    assert isinstance(build_early_stop("dry"), StopWhenDry)


class SmallSite:
    """Twenty pages of data with five files each, and news of seven hundred pages (`Answering`)."""

    name = "small"
    start = "http://example.org/"

    def span(self) -> None:
        return None

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        if request.url.endswith(".csv"):
            return Target(200, 10, "text/csv")
        return Page(
            200, 10, LinkList([Link(self.start + path, ("html", "a")) for path in self._links(request.url)])
        )

    def _links(self, url: str) -> list[str]:
        if url == self.start:
            return [f"data/{n}.html" for n in range(20)] + [f"news/{n}/" for n in range(14)]
        kind, _, name = url.removeprefix(self.start).partition("/")
        if kind == "data":
            return [f"files/{name[:-5]}-{n}.csv" for n in range(5)]
        return [f"news/{name}{n}.html" for n in range(50)] if name.endswith("/") else []


@pytest.mark.parametrize(("level", "most_requests"), [("careful", 800), ("normal", 700), ("eager", 450)])
def test_a_site_of_some_hundred_addresses_is_left_before_its_end(level: str, most_requests: int) -> None:
    stopped = replay(SmallSite(), build_strategy("scent", [SmallSite.start], 1), Budget(), stop_rule(level))
    assert stopped.stop == STOPPED_EARLY
    assert stopped.trace.targets[-1] == 100
    assert len(stopped.trace) < most_requests


def test_off_takes_everything() -> None:
    whole = replay(SmallSite(), build_strategy("scent", [SmallSite.start], 1), Budget(), stop_rule("off"))
    assert (len(whole.trace), whole.trace.targets[-1]) == (835, 100)


def test_what_waits_is_reported_without_a_trace() -> None:
    scent = Scent(["http://example.org/"])
    assert scent.outlook(10) == Outlook(0, 0.0)
