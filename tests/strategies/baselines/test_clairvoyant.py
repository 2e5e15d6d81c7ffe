from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coati.model import Kind
from coati.strategies.baselines.clairvoyant import clairvoyant, omniscient
from coati.strategies.strategy import Strategy
from coati.strategies.truth import SiteTruth
from tests.driving import ask


@st.composite
def truths(draw: st.DrawFn) -> SiteTruth:
    """Draw a graph, and number what can be reached from its first page breadth-first."""
    count = draw(st.integers(1, 24))
    kind = st.sampled_from([Kind.PAGE, Kind.PAGE, Kind.TARGET, Kind.BROKEN])
    raw_kinds = [Kind.PAGE, *draw(st.lists(kind, min_size=count - 1, max_size=count - 1))]
    links = st.lists(st.integers(0, count - 1), max_size=6)
    raw = [draw(links) if k is Kind.PAGE else [] for k in raw_kinds]
    order, parent = [0], [-1]
    for number in order:
        for child in raw[number]:
            if child not in order:
                order.append(child)
                parent.append(order.index(number))
    place = {node: i for i, node in enumerate(order)}
    children = [np.array(list(dict.fromkeys(place[c] for c in raw[n])), np.int32) for n in order]
    urls = [f"http://a.test/{i}" for i in range(len(order))]
    return SiteTruth(
        urls,
        [raw_kinds[n] for n in order],
        np.ones(len(order), np.int64),
        children,
        np.array(parent, np.int32),
        {url: i for i, url in enumerate(urls)},
    )


def literal_order(truth: SiteTruth) -> list[int]:
    """Return the order by definition, slowly: every path's score is worked out again before each step."""
    fetched: set[int] = set()
    order: list[int] = []
    pages = [n for n, kind in enumerate(truth.kinds) if kind in {Kind.PAGE, Kind.REDIRECT}]

    def path(number: int) -> list[int]:
        nodes = []
        while number >= 0:
            if number not in fetched:
                nodes.append(number)
            number = int(truth.parent[number])
        return nodes[::-1]

    def new_targets(number: int) -> list[int]:
        found = [c for c in truth.children[number].tolist() if truth.kinds[c] is Kind.TARGET]
        return [c for c in found if c not in fetched]

    while True:
        # Targets that two pages of a path share count for both, as long as neither is fetched.
        scores = {
            n: Fraction(sum(len(new_targets(p)) for p in path(n)), len(path(n)))
            for n in pages
            if n not in fetched
        }
        best = max(scores, key=lambda n: (scores[n], -n), default=None)
        if best is None or not scores[best]:
            return order
        for number in path(best):
            for url in (number, *new_targets(number)):
                fetched.add(url)
                order.append(url)


def plan(strategy: Strategy) -> list[str]:
    urls = []
    while (request := ask(strategy)) is not None:
        urls.append(request.url)
    return urls


@given(truth=truths())
def test_clairvoyant_is_the_literal_greedy_order(truth: SiteTruth) -> None:
    assert plan(clairvoyant(truth)) == [truth.urls[n] for n in literal_order(truth)]


@given(truth=truths())
def test_omniscient_requests_each_target_and_nothing_else(truth: SiteTruth) -> None:
    targets = {url for url, kind in zip(truth.urls, truth.kinds, strict=True) if kind is Kind.TARGET}
    asked = plan(omniscient(truth))
    assert set(asked) == targets
    assert len(asked) == len(targets)
