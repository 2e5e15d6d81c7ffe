"""How well a site can be crawled by what is seen of its links: a bound for learners, beside CLAIRVOYANT.

    coati experiment experiments/scent/link_bound.toml --archives DIR

Models are trained on the site's own truth with cross-validation (`benchmarks.link_orders`), and the best of
their orders is crawled. It is chosen by the truth, too: generous, and no proof, since it cannot tell what a
learner gains that adapts while it crawls. A seed cuts the site into other folds.

Needs the extra ``experiments``. Results and what follows from them: experiments/scent/what_links_tell.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.link_orders import FOLDS, ROUNDS, learnt_orders
from coati.assembly.rows import Need, StrategyRow
from coati.strategies.baselines.clairvoyant import PlannedStrategy

if TYPE_CHECKING:
    from coati.assembly.rows import StrategyInputs


def best_learnt_order(given: StrategyInputs) -> PlannedStrategy:
    """Crawl a site in the best order that its links tell."""
    truth = given.known_truth
    best = max(learnt_orders(truth, given.known_links, given.seed), key=lambda each: each.area)
    return PlannedStrategy((truth.urls[number] for number in best.crawled.order), best.name)


BOUND = StrategyRow(
    "the best order that the site's links tell: what a learner could reach that knew most of the site",
    best_learnt_order,
    ("benchmarks.link_orders", "coati.strategies.baselines.clairvoyant"),
    needs=frozenset({Need.TRUTH}),
    bound=True,
    note=(
        "the best order of models that were trained on the site's own truth,"
        f" {FOLDS} folds, {ROUNDS} rounds; a seed cuts other folds."
    ),
)
