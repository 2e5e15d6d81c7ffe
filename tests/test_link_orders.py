"""What a link is worth, and what a model may have seen of it, on trees that can be counted by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import link_losses
from benchmarks.link_bound import BOUND
from benchmarks.link_orders import (
    Crawled,
    LinkRows,
    boosted,
    crawl_by,
    foreseen,
    learnt_orders,
    linear,
    mean_share,
    worth_of,
)
from coati.archive.archive import Archive
from coati.assembly import StrategyInputs, StrategySettings
from coati.errors import UsageError
from coati.experiments.site_runs import SiteRunOptions, compare_on_site, page_links
from coati.model import Kind
from coati.replaying.site import ReplaySite
from coati.strategies.truth import SiteTruth
from tests.replaying import tiny_site


def a_tree(rng: Random, size: int) -> SiteTruth:
    """Make a site without any second link to a page; targets are leaves."""
    parent = [-1, *(rng.randrange(number) for number in range(1, size))]
    inner = set(parent)
    kinds = [
        Kind.TARGET if number not in inner and rng.random() < 0.7 else Kind.PAGE for number in range(size)
    ]
    children = [np.array([c for c in range(size) if parent[c] == n], np.int32) for n in range(size)]
    urls = [f"http://tree.test/{number}" for number in range(size)]
    sizes, numbers = np.ones(size, np.int64), {url: number for number, url in enumerate(urls)}
    return SiteTruth(urls, kinds, sizes, children, np.array(parent, np.int32), numbers)


def breadth_first(truth: SiteTruth) -> Crawled:
    return Crawled(list(range(len(truth.urls))), truth.parent.tolist())


def targets_of(truth: SiteTruth) -> np.ndarray:
    return np.array([kind is Kind.TARGET for kind in truth.kinds], bool)


def best_part(truth: SiteTruth, root: int) -> float:
    """Try every part of the tree that begins with a URL: the literal definition."""
    is_target = targets_of(truth)

    def parts(number: int) -> list[tuple[int, int]]:
        found = [(int(is_target[number]), 1)]
        for child in truth.children[number].tolist():
            found += [(t + more, r + cost) for t, r in found for more, cost in parts(child)]
        return found

    return max(t / r for t, r in parts(root))


@pytest.mark.parametrize("seed", range(30))
def test_the_worth_of_a_url_is_that_of_the_best_part_below_it(seed: int) -> None:
    truth = a_tree(Random(seed), 9)
    worth = worth_of(breadth_first(truth), targets_of(truth))
    slow = [best_part(truth, number) for number in range(9)]
    assert (worth.targets / worth.requests).tolist() == pytest.approx(slow)


@pytest.mark.parametrize("seed", range(10))
def test_who_knows_the_worth_crawls_a_tree_as_well_as_can_be(seed: int) -> None:
    truth = a_tree(Random(seed), 7)
    is_target = targets_of(truth)
    worth = worth_of(breadth_first(truth), is_target)
    own = mean_share(is_target[crawl_by(truth, worth.targets / worth.requests).order])
    best = 0.0
    for rest in permutations(range(1, 7)):
        order = [0, *rest]
        if all(order.index(truth.parent[number]) < order.index(number) for number in rest):
            best = max(best, mean_share(is_target[order]))
    assert own == pytest.approx(best)


def test_a_url_hangs_on_the_page_that_led_to_it_first() -> None:
    children = [np.array(each, np.int32) for each in ([1, 2], [3], [3], [])]
    truth = SiteTruth(
        ["a", "b", "c", "d"], [Kind.PAGE] * 4, np.ones(4, np.int64), children, np.array([-1, 0, 0, 1]), {}
    )
    assert crawl_by(truth, np.array([0, 0.1, 0.9, 0.5])) == Crawled([0, 2, 3, 1], [-1, 0, 0, 2])


def test_a_model_has_not_seen_what_it_is_asked_about() -> None:
    # Each row is its own only example, so that whoever cheats would be right, and others say the mean.
    rows = np.arange(60).reshape(60, 1)
    values = np.random.default_rng(1).random(60)
    told = foreseen(rows, values, linear, 0)
    assert abs(float(np.corrcoef(told, values)[0, 1])) < 0.5
    assert told == pytest.approx(np.full(60, values.mean()), abs=0.2)


def test_a_model_tells_what_links_show() -> None:
    rows = np.array([[number % 3, 7] for number in range(60)])
    values = (rows[:, 0] == 1).astype(float)
    told = foreseen(rows, values, linear, 0)
    assert told[values == 1].min() > told[values == 0].max()


def test_a_url_is_described_by_the_link_that_led_to_it(tmp_path: Path) -> None:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        site = ReplaySite(archive)
        crawled = Crawled(list(range(10)), site.truth.parent.tolist())
        rows_of_links = LinkRows(site.truth, partial(page_links, site))
        rows = rows_of_links.of(crawled)
        assert not rows[0].any()
        assert rows[1:].any(axis=1).all()
        # Through the redirect, /a has another source.
        other = Crawled(crawled.order, [-1, 4, *crawled.parent[2:]])
        assert not np.array_equal(rows_of_links.of(other)[1], rows[1])


def test_the_bound_is_the_best_order_that_models_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear_alone = partial(learnt_orders, models=["linear"])
    monkeypatch.setattr("benchmarks.link_bound.learnt_orders", linear_alone)
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as archive:
        site = ReplaySite(archive)
        orders = list(linear_alone(site.truth, partial(page_links, site), 0))
        (bound,) = compare_on_site(site, [("benchmarks.link_bound:BOUND", 0)], SiteRunOptions())
    measures = bound.measures
    assert (measures.requests, measures.targets) == (tiny_site.TOTAL_URLS, tiny_site.TOTAL_TARGETS)
    assert len(orders) == 4
    assert measures.auc == pytest.approx(max(order.area for order in orders))
    assert (bound.comparison.auc_ratio or 1) < 1


def test_who_knows_no_site_cannot_have_the_bound() -> None:
    given = StrategyInputs(("http://a.test/",), 0, StrategySettings())
    with pytest.raises(UsageError, match="only in replay"):
        BOUND.build(given)
    with pytest.raises(UsageError, match="only in replay"):
        BOUND.build(replace(given, truth=a_tree(Random(0), 3)))


def test_losses_are_nobodys_or_those_of_a_row(tmp_path: Path) -> None:
    medians = {("a", "bound"): 0.9, ("a", "scent"): 0.75, ("b", "bound"): None, ("b", "scent"): 0.5}
    numbers = [
        {"site": site, "strategy": row, "variant": None, "measure": measure, "kind": kind, "median": median}
        for (site, row), median in medians.items()
        for measure in ("auc", "auc_ratio")
        for kind in ("run", "summary")
    ]
    file = tmp_path / "link_bound.jsonl"
    file.write_text("\n".join(map(json.dumps, numbers)), encoding="utf-8")
    told = CliRunner().invoke(link_losses.main, [str(file)])
    assert told.output.splitlines() == [
        "| site | nobody's | scent's |",
        "| --- | --- | --- |",
        "| a | 0.100 | 0.150 |",
    ]
    assert "no row called 'bsf'" in CliRunner().invoke(link_losses.main, [str(file), "--row", "bsf"]).output


def test_trees_tell_it_too() -> None:
    rows = np.array([[number % 3] for number in range(60)])
    values = (rows[:, 0] == 1).astype(float)
    assert boosted(rows, values, np.array([[1], [2]]), 0).tolist() == pytest.approx([1, 0], abs=0.2)
