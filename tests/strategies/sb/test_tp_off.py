from __future__ import annotations

import numpy as np
import pytest

from coati.model import Kind, Link, LinkList, Method, Page, Request, Target
from coati.strategies.baselines.simple_orders import breadth_first
from coati.strategies.sb.tp_off import TpOffSettings, tp_off
from coati.strategies.truth import SiteTruth
from coati.testing.checks import check_strategy
from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask
from tests.strategies.focused.test_focused import order_of
from tests.strategies.sb.literal_sb import LiteralGroups, LiteralPaths
from tests.strategies.truths import Truths, truth_of

SMALL = {
    "wasteful": generate_site(
        SiteParameters(pages=25, links_per_page=8, error_share=0.2, redirect_share=0.2), 2
    ),
    "start page missing": Site("http://start.test/", {}),
}


def literal_order(site: Site, truth: SiteTruth, warm_up: int) -> list[str]:
    """TP-OFF as the text says it: lists, vectors as long as the vocabulary, every group compared."""
    responder, paths, groups = Responder(site), LiteralPaths(), LiteralGroups()
    group_of = {site.start_url: groups.join(paths.vector(()))}
    gains: dict[int, list[int]] = {}
    frontier, order = [site.start_url], []
    benefits: dict[int, float] | None = None
    while frontier:
        values = [0.0 if benefits is None else benefits.get(group_of[url], 0.0) for url in frontier]
        url = frontier.pop(int(np.argmax(values)))
        order.append(url)
        outcome = responder.outcome(Request(0, Method.GET, url))
        location = getattr(outcome, "location", None)
        if location is not None and location not in group_of:
            group_of[location] = group_of[url]
            frontier.append(location)
        if isinstance(outcome, Page):
            links = [outcome.links.link(index) for index in range(len(outcome.links.urls))]
            targets = sum(truth.kind(name) is Kind.TARGET for name in {link.url for link in links})
            gains.setdefault(group_of[url], []).append(targets)
        if len(order) == warm_up:
            benefits = {group: sum(found) / len(found) for group, found in gains.items()}
        if isinstance(outcome, Page):
            for link in links:
                if link.url not in group_of:
                    group_of[link.url] = groups.join(paths.vector(link.tag_path))
                    frontier.append(link.url)
    return order


@pytest.mark.parametrize("seed", range(3))
def test_same_order_as_the_literal_text(seed: int) -> None:
    parameters = SiteParameters(pages=60, links_per_page=15, error_share=0.1, redirect_share=0.1)
    site = generate_site(parameters, seed)
    truth = truth_of(site)
    order = order_of(tp_off([site.start_url], truth, TpOffSettings(25)), Responder(site).outcome)
    assert order == literal_order(site, truth, 25)
    plain = order_of(breadth_first([site.start_url]), Responder(site).outcome)
    assert order[:25] == plain[:25]
    assert order != plain


@pytest.mark.parametrize("warm_up", [0, 10])
def test_keeps_the_contract(warm_up: int) -> None:
    settings, truths = TpOffSettings(warm_up), Truths()
    check_strategy(
        lambda site, _seed: tp_off([site.start_url], truths.of(site), settings),
        in_flight=[1, 5] if warm_up else [4],
        sites=SMALL,
    )


def test_known_targets_count_and_unknown_groups_are_worth_nothing() -> None:
    start = "http://a.test/"
    site = Site(start, {})
    good, plain, late = (
        ("html", "ul.good", "a"),
        ("html", "p", "b", "i", "a"),
        ("html", "div.late", "em", "a"),
    )
    pages = {
        start: [Link(start + "g1", good), Link(start + "p1", plain), Link(start + "g2", good)],
        start + "g1": [Link(start + "t.csv", plain), Link(start + "new", late), Link(start + "g3", good)],
        start + "p1": [],
        start + "g2": [Link(start + "t.csv", plain)],
        start + "g3": [],
        start + "new": [],
    }
    urls = [*pages, start + "t.csv"]
    number_of = {url: number for number, url in enumerate(urls)}
    children = [np.array([number_of[link.url] for link in pages.get(url, [])], np.int32) for url in urls]
    kinds = [Kind.PAGE if url in pages else Kind.TARGET for url in urls]
    none = np.zeros(len(urls), np.int64)
    truth = SiteTruth(urls, kinds, none, children, none.astype(np.int32), number_of)
    strategy = tp_off([site.start_url], truth, TpOffSettings(4))
    order: list[str] = []
    rewards: dict[int, float] = {}
    while (request := ask(strategy)) is not None:
        order.append(request.url.removeprefix(start))
        links = pages.get(request.url)
        outcome = Target(200, 1, "text/csv") if links is None else Page(200, 1, LinkList(links))
        rewards.update(strategy.observe(request.id, outcome, 0.0))
    # t.csv was known when g2 was fetched, and still pays; then the rest of the good group comes first.
    assert order == ["", "g1", "p1", "g2", "g3", "t.csv", "new"]
    assert [rewards[number] for number in range(4)] == [0, 1, 0, 1]
    assert 4 not in rewards
