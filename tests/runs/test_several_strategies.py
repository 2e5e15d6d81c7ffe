"""One log may hold several strategies: each is restored from its own events, and ids do not collide."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from coati.assembly import build_strategy
from coati.errors import UsageError
from coati.model import Page, Request
from coati.runs.fetched import Fetched
from coati.runs.snapshots import SnapshotForm
from coati.runs.store import RunStore
from coati.strategies.state import pack, unpack
from coati.strategies.strategy import Strategy
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask

SITES = {
    f"site-{number}": generate_site(SiteParameters(pages=40), number, f"http://{number}.test")
    for number in (1, 2)
}
NAMES = {"site-1": "sb-classifier", "site-2": "scent"}


def new(name: str) -> Strategy:
    return build_strategy(NAMES[name], [SITES[name].start_url], 3)


def form(name: str) -> SnapshotForm:
    return SnapshotForm(NAMES[name], {}, pack, unpack)


def step(store: RunStore, name: str, strategy: Strategy, now: float) -> Request | None:
    request = ask(strategy, now)
    if request is None:
        return None
    store.chosen(request, now, name)
    outcome = Responder(site_of(name)).outcome(request)
    fetched = Fetched(
        request, outcome, now, now, body=b"<p>" if isinstance(outcome, Page) else b"1", strategy=name
    )
    recorded = store.record(fetched)
    store.settled(strategy.observe(request.id, recorded.outcome, now), name)
    return request


def site_of(name: str) -> Site:
    return SITES[name]


def test_each_is_restored_from_its_own_events(tmp_path: Path) -> None:
    rng = random.Random(5)
    asked: dict[str, list[str]] = {name: [] for name in SITES}
    with RunStore.create(tmp_path / "run", {}, 1000.0) as store:
        strategies = {name: new(name) for name in SITES}
        for turn in range(120):
            name = rng.choice(sorted(SITES))
            request = step(store, name, strategies[name], 1000.0 + turn)
            if request is not None:
                asked[name].append(request.url)
    assert all(len(urls) > 30 for urls in asked.values())
    with RunStore.open(tmp_path / "run", 2000.0) as store:
        for name, strategy in strategies.items():
            restored = store.restore(lambda name=name: new(name), form(name), name)  # type: ignore[misc]
            assert not restored.in_flight
            further = [ask(each, 3000.0) for each in (strategy, restored.strategy)]
            assert further[0] == further[1]


def test_what_is_in_flight_is_given_back_to_who_chose_it(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", {}, 1000.0) as store:
        first = {}
        for name in SITES:
            request = first[name] = ask(new(name))
            assert request is not None
            store.chosen(request, 1000.0, name)
    with RunStore.open(tmp_path / "run", 2000.0) as store:
        for name in SITES:
            assert store.restore(lambda name=name: new(name), form(name), name).in_flight == [first[name]]  # type: ignore[misc]


def test_an_answer_that_nobody_asked_for_is_refused(tmp_path: Path) -> None:
    request = ask(new("site-1"))
    assert request is not None
    with RunStore.create(tmp_path / "run", {}, 1000.0) as store:
        store.chosen(request, 1000.0, "site-1")
        outcome = Responder(site_of("site-1")).outcome(request)
        with pytest.raises(UsageError, match="site-2 never chose"):
            store.record(Fetched(request, outcome, 1000.0, 1000.0, strategy="site-2"))
