"""Anthelion (Meusel, Mika, Blanco, "Focused Crawling for Structured Data", CIKM 2014), and its baselines.

The best setting of the paper is the default: hosts by success rate, lambda decaying from 0.5 with m = 10,000,
naive Bayes on the words of the URL and the parent's label. With the score "best" and a lambda of 0 hosts play
no role: that is the paper's online classification.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coati.errors import ConfigError, unknown_name
from coati.strategies.chance import draw
from coati.strategies.hosts.host_bandit import ON_DEMAND, ON_EXPLORE, Exploration, HostBandit
from coati.strategies.hosts.host_scores import make_scores
from coati.strategies.hosts.page_features import FeatureSettings
from coati.strategies.hosts.page_models import KnowingModel, OnlineModel, RandomModel, StaticModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.strategies.hosts.known_labels import KnownLabels
    from coati.strategies.hosts.page_models import PageModel

CLASSIFY = {
    ON_EXPLORE: "when it is found",
    ON_DEMAND: "when its host is drawn, with all other pages of the host",
}


@dataclass(frozen=True, slots=True)
class AnthelionSettings:
    """The parameters of the paper, with those of its best crawl.

    ``score`` is one of `coati.strategies.hosts.host_scores`, ``explore`` is lambda, ``half_after`` m (0:
    lambda does not decay), ``learner`` one of `coati.strategies.hosts.page_models`, ``classify`` when a page
    is judged, ``batch`` after how many pages the classifier learns, ``training_pages`` how many pages a
    static classifier was trained on, ``training_parents`` whether it knew their parents' true labels (in the
    published code all of them are "not relevant").
    """

    score: str = "success-rate"
    explore: float = 0.5
    half_after: int = 10_000
    learner: str = "nb"
    classify: str = ON_EXPLORE
    batch: int = 5
    training_pages: int = 100_000
    training_parents: bool = True
    features: FeatureSettings = field(default_factory=FeatureSettings)

    def check(self) -> None:
        """Raise `ConfigError` where a value makes no sense."""
        if self.classify not in CLASSIFY:
            raise unknown_name("time to classify", self.classify, CLASSIFY)
        if not 0 <= self.explore <= 1:
            raise ConfigError(f"explore is {self.explore}, and should be from 0 to 1")
        if self.half_after < 0 or self.batch < 1 or self.training_pages < 1 or self.features.buckets < 1:
            raise ConfigError("half_after may not be negative; batch, training_pages and buckets are above 0")


def anthelion(start_urls: Sequence[str], seed: int, settings: AnthelionSettings) -> HostBandit:
    """Learn online which hosts and which pages are relevant."""
    settings.check()
    model = OnlineModel(settings.learner, settings.features, settings.batch)
    return _bandit(start_urls, seed, settings, model)


def static_classifier(
    start_urls: Sequence[str], seed: int, settings: AnthelionSettings, labels: KnownLabels
) -> HostBandit:
    """Take the best page of all, by a classifier that was trained on random pages and learns no further."""
    settings.check()
    examples = labels.sample(settings.training_pages, seed)
    if not settings.training_parents:
        examples = (example._replace(page=example.page._replace(parent=False)) for example in examples)
    return _best_page(start_urls, seed, StaticModel(settings.learner, settings.features, examples))


def label_oracle(start_urls: Sequence[str], seed: int, labels: KnownLabels) -> HostBandit:
    """Know the label of each page that was found: the bound for crawlers that must find out."""
    return _best_page(start_urls, seed, KnowingModel(labels))


def random_host(start_urls: Sequence[str], seed: int) -> HostBandit:
    """Take any host, then any of its pages (the paper's random crawl)."""
    model = RandomModel(draw(seed, 0, 1 << 32))
    return HostBandit(
        start_urls, seed, scores=make_scores("best", seed), model=model, exploration=Exploration(1.0)
    )


def _best_page(start_urls: Sequence[str], seed: int, model: PageModel) -> HostBandit:
    return HostBandit(
        start_urls, seed, scores=make_scores("best", seed), model=model, exploration=Exploration(0.0)
    )


def _bandit(
    start_urls: Sequence[str], seed: int, settings: AnthelionSettings, model: PageModel
) -> HostBandit:
    return HostBandit(
        start_urls,
        seed,
        scores=make_scores(settings.score, seed),
        model=model,
        exploration=Exploration(settings.explore, settings.half_after),
        on_demand=settings.classify == ON_DEMAND,
        siblings=settings.features.siblings,
    )
