"""From example pages to a ready crawler: `tres`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coati.learners.word_logistic import words_of
from coati.strategies.tres.neural.page_classifier import ClassifierSettings, KeywordBiLstm
from coati.strategies.tres.neural.q_network import TorchDoubleQ
from coati.strategies.tres.neural.word_vectors import VectorSettings, train_vectors
from coati.strategies.tres.terms import KEYWORDS
from coati.strategies.tres.tres import FEATURES, TresParts, TresSettings, TresStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.strategies.tres.tres import TresExamples
    from coati.strategies.truth import SiteTruth


@dataclass(frozen=True, slots=True)
class NeuralSettings:
    """The published parameters of all parts."""

    crawl: TresSettings = field(default_factory=TresSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)


def tres(
    start_urls: Sequence[str],
    truth: SiteTruth,
    examples: TresExamples,
    seed: int = 0,
    settings: NeuralSettings | None = None,
) -> TresStrategy:
    """Train word vectors and the page classifier, widen the list of keywords, and build the crawler."""
    settings = settings or NeuralSettings()
    texts = [words_of(text, settings.classifier.words) for text in (*examples.positive, *examples.negative)]
    vectors = train_vectors(texts, settings.vectors, seed)
    keywords = vectors.expand(KEYWORDS)
    pages = (examples.positive, examples.negative)
    classifier = KeywordBiLstm(vectors, pages, settings.classifier, seed, keywords)
    values = TorchDoubleQ(len(FEATURES), settings.crawl.values, seed)
    parts = TresParts(truth, classifier, values, keywords)
    return TresStrategy(start_urls, parts, seed, settings.crawl)
