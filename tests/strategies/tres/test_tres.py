from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from coati.errors import UsageError
from coati.learners.double_q import QSettings
from coati.model import Kind, Link, LinkList, Outcome, Page, Request, Target
from coati.strategies.tres.terms import KEYPHRASES, KEYWORDS
from coati.strategies.tres.tree_frontier import TreeFrontier, TreeSettings, best_split
from coati.strategies.tres.tres import FEATURES, TresExamples, TresSettings, TresStrategy, tres_light
from coati.strategies.truth import SiteTruth
from coati.testing.checks import check_strategy
from coati.testing.generator import generate_site
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask
from tests.strategies.truths import Truths

START = "http://a.test/"
EXAMPLES = TresExamples(
    ["download the data as csv", "dataset and tables"], ["about us", "the team of people"]
)
QUICK = TresSettings(values=QSettings(start=12, batch=8, copy_every=10, memory=30))


def text_of(site: Site) -> Callable[[str], str]:
    return lambda url: re.sub(rb"<[^>]*>", b" ", site.get(url).body or b"").decode()


def test_the_lists_have_the_published_lengths() -> None:
    assert (len(KEYWORDS), len(KEYPHRASES)) == (43, 31)


def test_keeps_the_contract() -> None:
    truths = Truths()
    sites = {
        "wasteful": generate_site(
            SiteParameters(pages=25, links_per_page=8, error_share=0.2, redirect_share=0.2), 2
        ),
        "start page missing": Site(START, {}),
    }

    def build(site: Site, seed: int) -> TresStrategy:
        return tres_light([site.start_url], truths.of(site), EXAMPLES, seed, QUICK)

    check_strategy(build, sites, in_flight=[1, 5])


def truth_of_pages(pages: dict[str, list[Link]]) -> SiteTruth:
    urls = list(dict.fromkeys([*pages, *(link.url for links in pages.values() for link in links)]))
    number_of = {url: number for number, url in enumerate(urls)}
    none = np.zeros(len(urls), np.int64)
    kinds = [Kind.PAGE if url in pages else Kind.TARGET for url in urls]
    children = [np.array([number_of[link.url] for link in pages.get(url, [])], np.int32) for url in urls]
    return SiteTruth(urls, kinds, none, children, none.astype(np.int32), number_of)


def test_files_follow_their_page_at_once_and_features_are_those_of_the_paper() -> None:
    path = ("html", "a")
    pages = {
        START: [
            Link(START + "a.csv", path),
            Link(START + "data/x", path, "the annual report"),
            Link(START + "b.csv", path),
        ],
        START + "data/x": [Link(START + "team", path, "update"), Link(START + "c.csv", path)],
        START + "team": [Link(START + "deep", path, "read the file")],
        START + "deep": [],
    }
    texts = {START: "about us", START + "data/x": "download the data as csv"}
    strategy = tres_light([START], truth_of_pages(pages), EXAMPLES)
    rows: dict[str, list[float]] = {}

    def answer(request: Request) -> Outcome:
        links = pages.get(request.url)
        if links is None:
            return Target(200, 1, "text/csv")
        return Page(200, 1, LinkList(links), {"text": texts.get(request.url, "the team")})

    order, rewards = [], {}
    while (request := ask(strategy)) is not None:
        order.append(request.url.removeprefix(START))
        for _, number, row in strategy.save()["in_flight"]:
            if row is not None:
                rows[request.url.removeprefix(START)] = row
            assert number >= 0
        for settlement in strategy.observe(request.id, answer(request), 0.0):
            rewards[order[settlement.request_id]] = settlement.reward
    assert order == ["", "a.csv", "b.csv", "data/x", "c.csv", "team", "deep"]
    assert rewards == {"": 0, "data/x": 1, "team": 0, "deep": 0}
    assert len(FEATURES) == 7
    # The start page is not relevant; "data" and "report" are keywords, "annual report" is a keyphrase.
    assert rows["data/x"][:6] == [0, 0, 0, 1, 1, 1]
    # Its page is relevant, one of two; "update" holds no keyword.
    assert rows["team"][:6] == [1, 1, 0.5, 0, 0, 0]
    assert rows["deep"][:6] == pytest.approx([0, 0.5, 1 / 3, 0, 1, 0])


def test_it_must_have_examples_of_both_kinds() -> None:
    with pytest.raises(UsageError, match="without"):
        TresExamples(["data"], [])


# --- the tree -------------------------------------------------------------------------------------

# scikit-learn takes values for equal that are closer than 1e-7, and ours does not.
shares = st.integers(0, 1024).map(lambda count: count / 1024)
tables = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), shares, st.sampled_from([0.0, 1.0])),
    min_size=2,
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_a_split_gains_what_scikit_learns_best_split_gains(table: list[tuple[float, ...]]) -> None:
    rows = np.array([step[:-1] for step in table], np.float32)
    rewards = np.array([step[-1] for step in table])
    tree = DecisionTreeRegressor(max_depth=1, random_state=0).fit(rows, rewards).tree_
    split = best_split(rows, rewards)
    if tree.node_count == 1:
        assert split is None or split.gain < 1e-7
        return
    left, right = tree.children_left[0], tree.children_right[0]
    weights = tree.n_node_samples / len(rows)
    expected = tree.impurity[0] - weights[left] * tree.impurity[left] - weights[right] * tree.impurity[right]
    assert split is not None
    assert split.gain == pytest.approx(expected, abs=1e-7)
    # What it says it gains is what it gains.
    goes_right = rows[:, split.feature].astype(np.float64) > split.threshold
    after = sum(part.var() * len(part) for part in (rewards[goes_right], rewards[~goes_right]))
    assert rewards.var() - after / len(rewards) == pytest.approx(split.gain)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(0, 5))
def test_everything_waits_in_the_leaf_of_its_row(table: list[tuple[float, ...]], deepest: int) -> None:
    frontier = TreeFrontier(3, TreeSettings(deepest, 2))
    rows = [np.array(step[:-1], np.float32) for step in table]
    for number, (row, step) in enumerate(zip(rows, table, strict=True)):
        frontier.push(number, row)
        frontier.learn(row, step[-1])
    again = TreeFrontier(3, TreeSettings(deepest, 2))
    again.load(frontier.save())
    assert again.picks(1, 2) == frontier.picks(1, 2)
    assert len({pick.leaf for pick in frontier.picks(1, 2)}) <= frontier.leaves <= 2**deepest
    for number, row in enumerate(rows):
        pick = frontier.find(number)
        for feature, side, threshold in frontier.conditions(pick.leaf):
            assert (float(row[feature]) > threshold) == (side == ">")
        assert (frontier.take(pick) == row).all()
    assert len(frontier) == 0
    assert frontier.picks(0, 0) == []
