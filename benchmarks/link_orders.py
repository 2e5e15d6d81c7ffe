"""Orders of a site's links by a model that was trained on the site's own truth, and what a link is worth.

A link's worth is what an optimal crawler would make of it: of all parts of the tree below it that begin with
it, the one with most targets per request (for trees, following these parts in the order of this ratio is
optimal: Horn 1972). The tree is that of a crawl, where each URL hangs on the page that led to it first.

A model sees of a link what scent sees of it (`coati.strategies.scent.link_keys`), and learns the worth of all
other links of the site. What it says of a link it says without having seen that link's own worth
(cross-validation), but it has seen four fifths of the site before the first request. So its order is better
than any crawler could hope for that sees the same of links and must learn on the way.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coati.model import Kind, Link
from coati.strategies.scent.link_keys import COLUMNS, LinkKeys
from coati.web.likely_extensions import DATA_EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from coati.assembly.rows import LinksOf
    from coati.strategies.truth import SiteTruth

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]
    Learn = Callable[[Numbers, Floats, Numbers, int], Floats]

FOLDS = 5
# A crawl by the first model finds links elsewhere than breadth-first does; the second learns from there.
ROUNDS = 2
_NO_PARENT = -1
# An aspect that only one link has says nothing about another.
_FEWEST = 2
_PENALTY = 3.0
_TREES = 60


class Crawled(NamedTuple):
    """URLs by their numbers in the order of a crawl, and for each URL the one that led to it first."""

    order: list[int]
    parent: list[int]


class Worth(NamedTuple):
    """Of each URL: targets and requests of the best part of the tree that begins with it."""

    targets: Floats
    requests: Floats


def crawl_by(truth: SiteTruth, scores: Floats) -> Crawled:
    """Crawl the site to its end: of all links found, the one with the highest score goes first."""
    parent = [_NO_PARENT] * len(truth.urls)
    starts = np.flatnonzero(truth.parent < 0).tolist()
    known = set(starts)
    waiting = [(-np.inf, number) for number in starts]
    order = []
    while waiting:
        _, number = heapq.heappop(waiting)
        order.append(number)
        for child in truth.children[number].tolist():
            if child not in known:
                known.add(child)
                parent[child] = number
                heapq.heappush(waiting, (-float(scores[child]), child))
    return Crawled(order, parent)


def worth_of(crawled: Crawled, is_target: npt.NDArray[np.bool_]) -> Worth:
    """Work out what each URL is worth in the tree of a crawl."""
    targets, requests = is_target.astype(np.float64), np.ones(len(is_target))
    # What hangs below a part and is not in it, the best first.
    below: list[list[tuple[float, int]]] = [[] for _ in crawled.parent]
    for number in reversed(crawled.order):
        rest = below[number]
        while rest and -rest[0][0] > targets[number] / requests[number]:
            _, part = heapq.heappop(rest)
            targets[number] += targets[part]
            requests[number] += requests[part]
            rest, fewer = sorted((rest, below[part]), key=len, reverse=True)
            for each in fewer:
                heapq.heappush(rest, each)
            below[part] = []
        below[number] = rest
        if crawled.parent[number] != _NO_PARENT:
            ratio = float(targets[number] / requests[number])
            heapq.heappush(below[crawled.parent[number]], (-ratio, number))
    return Worth(targets, requests)


class LinkRows:
    """Describes the URLs of a site by the links that led to them."""

    def __init__(self, truth: SiteTruth, links_of: LinksOf) -> None:
        self._urls = truth.urls
        self._links_of = links_of
        self._keys = LinkKeys(DATA_EXTENSIONS)

    def of(self, crawled: Crawled) -> Numbers:
        """Return a row of keys for each URL; zeros for a start URL."""
        urls = self._urls
        rows = np.zeros((len(urls), COLUMNS), np.int64)
        found: dict[int, list[int]] = {}
        for number, parent in enumerate(crawled.parent):
            found.setdefault(parent, []).append(number)
        found.pop(_NO_PARENT, None)
        for parent, numbers in found.items():
            source = self._keys.source(urls[parent])
            links = self._links(urls[parent])
            for number in numbers:
                link = links.get(urls[number]) or Link(urls[number], ())
                rows[number] = self._keys.row(link, source)
        return rows

    def _links(self, url: str) -> dict[str, Link]:
        """Return the first link to each URL that a page has; none of a redirect."""
        links = self._links_of(url)
        first: dict[str, int] = {}
        for place, linked in enumerate(links.urls):
            first.setdefault(linked, place)
        return {linked: links.link(place) for linked, place in first.items()}


def boosted(known: Numbers, values: Floats, rows_to_score: Numbers, seed: int) -> Floats:
    """Predict by boosted trees over the mean value of each aspect."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import TargetEncoder
    from threadpoolctl import threadpool_limits

    means = TargetEncoder(target_type="continuous", cv=KFold(5, shuffle=True, random_state=seed))
    trees = HistGradientBoostingRegressor(max_iter=_TREES, random_state=seed)
    # On a busy machine its threads wait for each other, and take a hundred times as long as one.
    with threadpool_limits(1):
        trees.fit(means.fit_transform(known, values), values)
        return np.asarray(trees.predict(means.transform(rows_to_score)), np.float64)


def linear(known: Numbers, values: Floats, rows_to_score: Numbers, seed: int) -> Floats:
    """Predict by a sum over all aspects of a link."""
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import OneHotEncoder

    aspects = OneHotEncoder(handle_unknown="ignore", min_frequency=_FEWEST)
    model = Ridge(_PENALTY, solver="sparse_cg", tol=1e-3, random_state=seed)
    model.fit(aspects.fit_transform(known), values)
    return np.asarray(model.predict(aspects.transform(rows_to_score)), np.float64)


MODELS: dict[str, Learn] = {"boosted trees": boosted, "linear": linear}


def foreseen(rows: Numbers, values: Floats, learn: Learn, seed: int, folds: int = FOLDS) -> Floats:
    """Predict each value by a model that has learnt from the other folds."""
    fold = np.random.default_rng(seed).permutation(len(rows)) % folds
    found = np.zeros(len(rows))
    for number in range(min(folds, len(rows))):
        held_out = fold == number
        found[held_out] = learn(rows[~held_out], values[~held_out], rows[held_out], seed)
    return found


class LearntOrder(NamedTuple):
    """One crawl, what made it, and the mean share of the targets that it has in on its way."""

    name: str
    crawled: Crawled
    area: float


def learnt_orders(
    truth: SiteTruth,
    links_of: LinksOf,
    seed: int,
    models: Sequence[str] = tuple(MODELS),
    rounds: int = ROUNDS,
) -> Iterator[LearntOrder]:
    """Return the orders of all models; each round learns from the best crawl of the round before."""
    is_target = np.array([kind is Kind.TARGET for kind in truth.kinds], bool)
    describe = LinkRows(truth, links_of)
    crawled = Crawled(list(range(len(truth.urls))), truth.parent.tolist())
    for turn in range(1, rounds + 1):
        worth, rows = worth_of(crawled, is_target), describe.of(crawled)
        tried = []
        for name, scores in _scores(rows, worth, models, seed):
            crawled = crawl_by(truth, scores)
            area = mean_share(is_target[crawled.order])
            tried.append(LearntOrder(f"{name}, round {turn}", crawled, area))
        yield from tried
        crawled = max(tried, key=lambda each: each.area).crawled


def _scores(rows: Numbers, worth: Worth, models: Sequence[str], seed: int) -> Iterator[tuple[str, Floats]]:
    """Predict targets per request, at once and as two numbers, by each model and by the mean of all."""
    ratios, quotients = [], []
    for name in models:
        learn = MODELS[name]
        ratios.append(foreseen(rows, worth.targets / worth.requests, learn, seed))
        gained, paid = (np.expm1(foreseen(rows, np.log1p(each), learn, seed)) for each in worth)
        quotients.append(np.maximum(gained, 0) / np.maximum(paid, 1))
        yield f"{name}, ratio", ratios[-1]
        yield f"{name}, targets over requests", quotients[-1]
    if len(models) > 1:
        yield "mean of models, ratio", np.mean(ratios, axis=0)
        yield "mean of models, targets over requests", np.mean(quotients, axis=0)


def mean_share(is_target: npt.NDArray[np.bool_]) -> float:
    """Return the mean share of the targets that is in, over all requests of an order."""
    found = np.cumsum(is_target)
    return float(found.mean() / found[-1]) if len(found) and found[-1] else 0.0
