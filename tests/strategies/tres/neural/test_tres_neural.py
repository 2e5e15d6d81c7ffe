"""The neural TRES. Nearly all of it needs PyTorch, which is not a dependency; without, little is tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from coati.errors import UsageError
from coati.learners.double_q import DoubleQ, QSettings
from coati.strategies.state import pack, unpack
from coati.strategies.tres.neural import NeuralSettings, tres
from coati.strategies.tres.neural.page_classifier import ClassifierSettings, KeywordBiLstm, keyword_bins
from coati.strategies.tres.neural.pytorch import pytorch
from coati.strategies.tres.neural.q_network import TorchDoubleQ
from coati.strategies.tres.neural.word_vectors import VectorSettings, WordVectors, train_vectors
from coati.strategies.tres.tres import FEATURES, TresExamples, TresSettings, TresStrategy
from coati.testing.checks import check_strategy
from coati.testing.generator import generate_site
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from tests.driving import ask
from tests.strategies.truths import Truths

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

POSITIVE = [f"download the data file number {i} as csv table" for i in range(12)]
NEGATIVE = [f"our team of people met for lunch on day {i}" for i in range(12)]
SMALL_VECTORS = VectorSettings(dimensions=8, epochs=5, batch=64, rate=0.03)
SMALL_CLASSIFIER = ClassifierSettings(
    words=20, states=6, dense=(8,), joint=(6,), epochs=25, batch=8, rate=0.02
)
SMALL = NeuralSettings(
    TresSettings(values=QSettings(start=12, batch=8, copy_every=10)), SMALL_VECTORS, SMALL_CLASSIFIER
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks this small only lose by threads."""
    if find_spec("torch") is None:
        yield
        return
    threads = pytorch().get_num_threads()
    pytorch().set_num_threads(1)
    yield
    pytorch().set_num_threads(threads)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_the_error_says_what_to_install() -> None:
    with pytest.raises(UsageError, match="tres-light"):
        pytorch()


def test_bins_say_how_many() -> None:
    words = ["raw", "data", "csv", "csv", "csv", "csv"]
    several, different, phrases = np.array(keyword_bins(words)).reshape(3, 6)
    assert several.argmax() == 3
    assert different.argmax() == 2
    assert phrases.argmax() == 1


def test_keywords_that_nobody_has_seen_are_not_widened() -> None:
    vectors = WordVectors(["x", "y"], np.eye(2, dtype=np.float32))
    assert vectors.expand({"data", "csv"}) == {"data", "csv"}


@needs_torch
def test_words_of_a_kind_are_near_each_other() -> None:
    rng = np.random.default_rng(0)
    worlds = [["apple", "pear", "plum", "fig"], ["red", "green", "blue", "grey"]]
    texts = [[str(word) for word in rng.choice(worlds[i % 2], 12)] for i in range(200)]
    settings = VectorSettings(dimensions=8, epochs=8, batch=256, rate=0.01)
    one, other = (train_vectors(texts, settings, seed=1) for _ in range(2))
    assert (one.vectors == other.vectors).all()

    def cosine(a: str, b: str) -> float:
        u, v = (one.vectors[one.number_of[word]] for word in (a, b))
        return float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))

    assert cosine("apple", "plum") > cosine("apple", "red") + 0.3


@needs_torch
def test_the_classifier_learns_and_does_so_again() -> None:
    texts = [text.split() for text in (*POSITIVE, *NEGATIVE)]
    vectors = train_vectors(texts, SMALL_VECTORS, seed=1)
    one, other = (KeywordBiLstm(vectors, (POSITIVE, NEGATIVE), SMALL_CLASSIFIER, 1) for _ in range(2))
    assert one.probability("download the csv table") > 0.5 > one.probability("people of our team")
    assert one.probability("download the csv") == pytest.approx(other.probability("download the csv"))
    assert 0 <= one.probability("") <= 1


@needs_torch
def test_same_values_as_the_learner_in_numpy() -> None:
    settings = QSettings(hidden=(6, 4), batch=9, start=10, copy_every=15)
    ours, torchs = DoubleQ(3, settings, seed=2), TorchDoubleQ(3, settings, seed=2)
    state = ours.save()
    # Layers in numpy are inputs x outputs, in PyTorch outputs x inputs.
    flat, weights, at = state["network"][0], [], 0
    for inputs, outputs in ((3, 6), (6, 4), (4, 1)):
        weights.append(flat[at : at + inputs * outputs].reshape(inputs, outputs).T.ravel())
        weights.append(flat[at + inputs * outputs : at + (inputs + 1) * outputs])
        at += (inputs + 1) * outputs
    vector = np.concatenate(weights).astype(np.float32)
    torchs.load({**torchs.save(), "network": vector, "older_network": vector})
    rng = np.random.default_rng(3)
    rows = rng.random((121, 3)).astype(np.float32)
    for step in range(120):
        for learner in (ours, torchs):
            learner.learn(rows[step], float(rows[step, 0] > 0.5), rows[step + 1])
    assert np.allclose(ours.values(rows), torchs.values(rows), atol=1e-4)
    again = TorchDoubleQ(3, settings, seed=2)
    again.load(unpack(pack(torchs.save())))
    for learner in (torchs, again):
        for step in range(30):
            learner.learn(rows[step], 1.0, rows[step + 1])
    assert np.allclose(again.values(rows), torchs.values(rows), atol=1e-6)


@needs_torch
def test_keeps_the_contract() -> None:
    truths = Truths()
    site = generate_site(SiteParameters(pages=20, links_per_page=6, error_share=0.2), 2)

    examples = TresExamples(POSITIVE, NEGATIVE)
    trained = tres([site.start_url], truths.of(site), examples, 1, SMALL)
    request = ask(trained)
    assert request is not None

    def build(site: Site, seed: int) -> TresStrategy:
        # Trained once for all crawls; only the values learn while crawling.
        values = TorchDoubleQ(len(FEATURES), SMALL.crawl.values, seed)
        parts = replace(trained.parts, values=values)
        return TresStrategy([site.start_url], parts, seed, SMALL.crawl)

    check_strategy(build, {"small": site}, in_flight=[3])


@needs_torch
def test_what_a_text_is_padded_with_changes_nothing() -> None:
    vectors = train_vectors([text.split() for text in (*POSITIVE, *NEGATIVE)], SMALL_VECTORS, seed=1)
    model = KeywordBiLstm(vectors, (POSITIVE, NEGATIVE), SMALL_CLASSIFIER, 1)
    alone, short, long = (model.logits([text]) for text in ("data", POSITIVE[0], POSITIVE[0] * 2))
    together = model.logits(["data", POSITIVE[0], POSITIVE[0] * 2])
    assert np.allclose(np.concatenate([alone, short, long]), together, atol=1e-5)
