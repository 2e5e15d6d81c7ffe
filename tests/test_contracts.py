"""Every strategy and policy that we ship keeps to its contract, on generated sites, with several seeds."""

from __future__ import annotations

from typing import Any

import pytest

from coati.assembly import LIVE_STRATEGIES, StrategySettings, build_strategy
from coati.bandits.sleeping_ucb import SleepingUcb
from coati.model import Method, Request
from coati.strategies.revisits.schedulers import SCHEDULERS
from coati.strategies.revisits.watch import WatchSettings
from coati.testing.checked_crawl import ContractError
from coati.testing.checks import check_policy, check_strategy, default_sites
from coati.testing.revisiting import RevisitInTurn
from coati.testing.site import Site
from tests.prospector import Prospector


@pytest.mark.parametrize("seed", [1, 5])
@pytest.mark.parametrize("name", LIVE_STRATEGIES)
def test_strategy(name: str, seed: int) -> None:
    check_strategy(lambda site, number: build_strategy(name, [site.start_url], number), seed=seed)


def test_a_strategy_that_visits_again() -> None:
    check_strategy(lambda site, _seed: RevisitInTurn([site.start_url]), in_flight=[1, 5], revisits=True)


# Growing trees takes long; what is saved of them is tested beside the others.
@pytest.mark.parametrize("name", [name for name in SCHEDULERS if name != "ltr-gbdt"])
def test_a_watch(name: str) -> None:
    # Longer than the bootstrap and some trainings.
    watch = WatchSettings(per_cycle=3, every_seconds=3 * 3600.0, per_site=2, cycles=9)
    settings = StrategySettings(watch=watch)
    chosen = ("errors and redirects", "start page redirects to itself")
    truth = _NothingNew()
    check_strategy(
        lambda site, seed: build_strategy(name, _pages(site), seed, settings=settings, page_truth=truth),
        {site: made for site, made in default_sites().items() if site in chosen},
        in_flight=[4],
        revisits=True,
        start_urls=_pages,
    )


class _NothingNew:
    def links(self, page: int, now: float) -> list[int]:
        return [page]


def _pages(site: Site) -> list[str]:
    return [site.start_url, *(url for url in sorted(site)[:12] if url != site.start_url)]


def test_a_strategy_that_asks_queries() -> None:
    check_strategy(lambda site, _seed: Prospector([site.start_url], "data"))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"url": "search://stub/?q=data&page=1"}, "not in normal form"),
        ({"url": "search:///?q=data"}, "names no search engine"),
        ({"method": Method.HEAD}, "a query takes GET"),
    ],
)
def test_a_strategy_whose_queries_are_none(change: dict[str, Any], complaint: str) -> None:
    class Wrong(Prospector):
        def _request(self, number: int) -> Request:
            request = super()._request(number)
            return request._replace(**change) if request.url.startswith("search:") else request

    with pytest.raises(ContractError, match=complaint):
        check_strategy(lambda site, _seed: Wrong([site.start_url], "data"))


def test_policy() -> None:
    check_policy(lambda _seed: SleepingUcb(exploration=2.0))
