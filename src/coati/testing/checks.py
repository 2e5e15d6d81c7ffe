"""Does a strategy, or a policy, keep its contract? For everybody who writes one.

`check_strategy` crawls small generated sites with it, with one and with several requests in flight, and holds
it to `coati.strategies.strategy`; `check_policy` puts a policy to work and holds it to
`coati.bandits.policy`. Both raise `ContractError` with what was broken, and where.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from coati.model import AT_THE_END, Deferred, Failure, Method, Refused, Request
from coati.strategies.chance import draw
from coati.strategies.state import pack, unpack
from coati.testing.checked_crawl import CheckedCrawl, as_logged, require, require_same
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site import Response, Site
from coati.testing.site_parameters import SiteParameters

if TYPE_CHECKING:
    from coati.bandits.policy import Choice, Policy
    from coati.model import Outcome
    from coati.strategies.strategy import Strategy
    from coati.testing.checked_crawl import Event, Respond

StrategyFactory = Callable[[Site, int], "Strategy"]
"""Builds a strategy for a site and a seed. Most need only ``site.start_url``; an oracle needs the rest."""

PolicyFactory = Callable[[int], "Policy"]
"""Builds a policy for a seed."""


# How long an outage lasts, in seconds.
_OUTAGES = (3.0, 40.0, AT_THE_END)


def check_strategy(
    factory: StrategyFactory,
    sites: Mapping[str, Site] | None = None,
    in_flight: Sequence[int] = (1, 4, 16),
    seed: int = 1,
    *,
    revisits: bool = False,
    start_urls: Callable[[Site], Sequence[str]] = lambda site: [site.start_url],
) -> None:
    """Hold a strategy to its contract on every site and with every number of requests in flight.

    ``revisits`` is for strategies that request a URL again after it was answered. ``start_urls`` are those
    that the strategy is built with, where it is not just the start of the site.

    >>> from coati.strategies.baselines.simple_orders import breadth_first
    >>> check_strategy(lambda site, seed: breadth_first([site.start_url]), in_flight=[2])
    """
    for name, site in (default_sites() if sites is None else sites).items():
        make = partial(factory, site, seed)
        honest: Respond = Responder(site).outcome
        gloomy: list[Respond] = [
            partial(mood, honest, site.start_url) for mood in (_refusing, _failing, _mute, _interrupted)
        ]
        for answer in (honest, *gloomy):
            for limit in in_flight:
                try:
                    _Crawl(make, start_urls(site), answer, limit, revisits).check()
                except Exception as error:
                    error.add_note(f"on the site {name!r} with {limit} in flight and seed {seed}")
                    raise


def default_sites() -> dict[str, Site]:
    """Return small sites that differ in what they ask of a strategy, by a name that says it."""
    base = "http://start.test/"
    moved = {base: Response.redirect("/home"), base + "home": Response.page('<a href="a.csv">A</a>')}
    wasteful = SiteParameters(pages=40, links_per_page=15, error_share=0.3, redirect_share=0.3)
    traps = SiteParameters(pages=20, calendar_pages=30, concatenating_pages=9, session_pages=20)
    return {
        "ordinary": generate_site(SiteParameters(pages=50, links_per_page=20), 1),
        "errors and redirects": generate_site(wasteful, 2),
        "deep": generate_site(SiteParameters(pages=48, target_depth=12, links_per_page=12, templates=2), 3),
        "traps": generate_site(traps, 4),
        "start page missing": Site(base, {}),
        "start page is a target": Site(base, {base: Response.file("text/csv", b"1,2")}),
        "start page redirects to itself": Site(base, {base: Response.redirect(base)}),
        "start page moved": Site(base, moved),
    }


@dataclass(frozen=True, slots=True)
class _Crawl:
    """One crawl, which is made to the end and then again in every way that must lead to the same end."""

    make: Callable[[], Strategy]
    start_urls: Sequence[str]
    answer: Respond
    in_flight: int
    revisits: bool

    def check(self) -> None:
        events = self._whole()
        require(bool(events), "the strategy requests nothing, not even the start page")
        require_same(events, self._whole(), "the same seed gave another crawl")
        log = as_logged(events)
        early, late = sorted(draw(self.in_flight, turn, len(events) + 1) for turn in (0, 1))
        require_same(events, self._restored(log[:late]), f"restored from the log after event {late}")
        self._check_snapshot(events, log, early, late)
        self._check_unknown_choice()

    def _new_crawl(self) -> CheckedCrawl:
        return CheckedCrawl(self.make(), self.start_urls, self.answer, self.in_flight, revisits=self.revisits)

    def _whole(self) -> list[Event]:
        crawl = self._new_crawl()
        crawl.run()
        return crawl.events

    def _restored(self, log: Sequence[Event]) -> list[Event]:
        crawl = self._new_crawl()
        crawl.restore(log)
        crawl.run()
        return crawl.events

    def _check_snapshot(self, events: Sequence[Event], log: Sequence[Event], early: int, late: int) -> None:
        saved = self._new_crawl()
        saved.run(until=early)
        snapshot = pack(saved.strategy.save())
        saved.run()
        require_same(events, saved.events, f"saving after event {early} changed the crawl")
        for tail in (log[early:early], log[early:late]):
            loaded = self._new_crawl()
            loaded.strategy.load(unpack(snapshot))
            loaded.adopt(events[:early])
            loaded.restore(tail)
            loaded.run()
            what = f"loaded from a snapshot after event {early} and {len(tail)} events of the log"
            require_same(events, loaded.events, what)

    def _check_unknown_choice(self) -> None:
        try:
            self.make().redo(Request(0, Method.GET, "http://nobody-told-of-this.test/"), 0.0)
        except ValueError:
            return
        require(holds=False, message="redo took a choice that could not have been made")


def _interrupted(answer: Respond, _start_url: str, request: Request) -> Outcome:
    """Let a third of the URLs meet outages first: for some seconds, for longer, and to the end."""
    address = zlib.crc32(request.url.encode())
    # The number of the request decides, so that a restored crawl meets the same outages.
    luck = draw(address, request.id, 2 * len(_OUTAGES))
    if address % 3 or luck >= len(_OUTAGES):
        return answer(request)
    return Deferred(0, 0, "connection refused", _OUTAGES[luck])


def _refusing(answer: Respond, start_url: str, request: Request) -> Outcome:
    """Let robots.txt forbid half of the URLs, but not the start page."""
    if request.url != start_url and zlib.crc32(request.url.encode()) % 2:
        return Refused("robots.txt")
    return answer(request)


def _failing(answer: Respond, start_url: str, request: Request) -> Outcome:
    """Let everything behind the start page fail, with an answer or without."""
    if request.url == start_url:
        return answer(request)
    return Failure(0, 0, "time-out") if zlib.crc32(request.url.encode()) % 2 else Failure(503, 9, "busy")


def _mute(_answer: Respond, start_url: str, request: Request) -> Outcome:
    """Let there be nothing at all: the start page fails, whatever else could be requested is refused."""
    return Failure(0, 0, "no such host") if request.url == start_url else Refused("robots.txt")


def check_policy(factory: PolicyFactory, arms: int = 50, steps: int = 2_000, seed: int = 1) -> None:
    """Hold a policy to its contract while arms appear, fall asleep, wake and pay late.

    >>> from coati.bandits.sleeping_ucb import SleepingUcb
    >>> check_policy(lambda seed: SleepingUcb(exploration=2.0))
    """
    require(factory(seed).choose(1) is None, "an arm was chosen before any was woken")
    workout = _Workout([factory(seed), factory(seed)], arms, Random(seed))
    for step in range(1, steps + 1):
        workout.step(step)
        if step % (steps // 4 or 1) == 0:
            loaded = factory(seed)
            loaded.load(unpack(pack(workout.policies[0].save())))
            workout.policies[1] = loaded


class _Workout:
    """Twin policies that are told the same, and must answer the same."""

    def __init__(self, policies: list[Policy], arms: int, rng: Random) -> None:
        self.policies = policies
        self._rng = rng
        self._arms = arms
        self._known = 0
        self._awake: set[int] = set()
        self._unpaid: list[int] = []

    def step(self, time: int) -> None:
        """Do one thing that a strategy may do, then choose; most choices become a pull."""
        self._rng.choice([self._appear, self._wake_any, self._sleep_any, self._pay, self._pay])()
        self._undo()
        choice = self._choose(time)
        if choice is not None and self._rng.randrange(4):
            for policy in self.policies:
                policy.pull(choice.arm)
            self._unpaid.append(choice.arm)

    def _appear(self) -> None:
        if self._known < self._arms:
            self._known += 1
            self._wake(self._known - 1)

    def _wake_any(self) -> None:
        # One that is awake stays so, as a sleeper does that is put to sleep.
        if self._known:
            self._wake(self._rng.randrange(self._known))

    def _sleep_any(self) -> None:
        if self._known:
            arm = self._rng.randrange(self._known)
            self._awake.discard(arm)
            for policy in self.policies:
                policy.sleep(arm)

    def _undo(self) -> None:
        """Take a pull back: as if it had never been made, so that pulling once more changes nothing."""
        if self._unpaid:
            self.policies[0].undo_pull(self._unpaid[-1])
            self.policies[0].pull(self._unpaid[-1])

    def _pay(self) -> None:
        # The arm may sleep already when its reward comes.
        if self._unpaid:
            arm = self._unpaid.pop(self._rng.randrange(len(self._unpaid)))
            reward = self._rng.choice([0.0, 1.0, self._rng.expovariate(1.0)])
            for policy in self.policies:
                policy.observe(arm, reward)

    def _choose(self, time: int) -> Choice | None:
        one, other = (policy.choose(time) for policy in self.policies)
        require(one == other, f"at time {time} the same calls, or a save and load, led to {one} and {other}")
        require(
            (one is None) == (not self._awake), f"at time {time} {len(self._awake)} arms are awake: {one}"
        )
        if one is None:
            return None
        require(one.arm in self._awake, f"at time {time} a sleeping arm was chosen: {one}")
        require(not math.isnan(one.score), f"at time {time} the score is not a number: {one}")
        return one

    def _wake(self, arm: int) -> None:
        self._awake.add(arm)
        for policy in self.policies:
            policy.wake(arm)
