from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix  # type: ignore[import-untyped] # it ships no types
from sklearn.linear_model import SGDClassifier

from coati.learners.linear_sgd import LinearSgd
from coati.learners.url_bigrams import DIMENSIONS, bigrams
from coati.strategies.state import pack, unpack

Numbers = npt.NDArray[np.int64]


class UrlLogistic:
    """The regression on URLs alone, with texts in the place of bags."""

    def __init__(self) -> None:
        self.model = LinearSgd(DIMENSIONS)

    def score(self, text: str) -> float:
        return self.model.score(bigrams(text))

    def learn(self, texts: Sequence[str], labels: Sequence[bool]) -> None:
        self.model.learn([bigrams(text) for text in texts], labels)


def rows(texts: Sequence[str]) -> csr_matrix:
    """Count the pairs of each text, one row a text, without the module under test."""
    indices: list[int] = []
    starts = [0]
    for text in texts:
        for first, second in pairwise(text):
            if " " <= first <= "~" and " " <= second <= "~":
                indices.append((ord(first) - 32) * 95 + ord(second) - 32)
        starts.append(len(indices))
    matrix = csr_matrix((np.ones(len(indices)), indices, starts), shape=(len(texts), DIMENSIONS))
    matrix.sum_duplicates()
    return matrix


def made_up_urls(rng: random.Random, count: int) -> tuple[list[str], list[bool]]:
    texts, labels = [], []
    for _ in range(count):
        is_target = rng.random() < 0.4
        folder = rng.choice(["data", "news", "a/b/c", "~user", "Über", "x" * rng.randrange(1, 30)])
        ending = rng.choice(
            [".csv", ".pdf", "/download", ".zip"] if is_target else [".html", "/", "", "?page=2"]
        )
        texts.append(f"http://www.example.org/{folder}/{rng.randrange(10**6)}{ending}")
        # Some labels are wrong, as some servers are.
        labels.append(is_target if rng.random() < 0.95 else not is_target)
    return texts, labels


@pytest.mark.parametrize("seed", range(4))
def test_the_regression_is_scikit_learns(seed: int) -> None:
    rng = random.Random(seed)
    theirs = SGDClassifier(loss="log_loss", max_iter=100, random_state=42)
    ours = UrlLogistic()
    unseen, _ = made_up_urls(rng, 40)
    for batch in range(30):
        texts, labels = made_up_urls(rng, 10 if seed < 2 else rng.randrange(1, 25))
        theirs.partial_fit(rows(texts), np.array(labels), classes=[False, True])
        ours.learn(texts, labels)
        expected = theirs.decision_function(rows(unseen))
        found = [ours.score(text) for text in unseen]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=f"batch {batch}")
        assert [ours.score(text) > 0 for text in unseen] == theirs.predict(rows(unseen)).tolist()


def test_the_order_within_a_batch_matters_and_is_scikit_learns() -> None:
    texts = [f"/{chr(97 + n)}{n}" for n in range(12)]
    labels = [n % 2 == 0 for n in range(12)]
    theirs = SGDClassifier(loss="log_loss", random_state=42)
    theirs.partial_fit(rows(texts), np.array(labels), classes=[False, True])
    ours, unshuffled = UrlLogistic(), UrlLogistic()
    ours.learn(texts, labels)
    for text, label in zip(texts, labels, strict=True):
        unshuffled.learn([text], [label])
    expected = theirs.decision_function(rows(texts))
    np.testing.assert_allclose([ours.score(text) for text in texts], expected, rtol=1e-9)
    assert not np.allclose([unshuffled.score(text) for text in texts], expected)


@given(st.text())
def test_pairs_are_counted_over_printable_ascii_alone(text: str) -> None:
    assert sorted(bigrams(text).tolist()) == sorted(np.repeat(*pairs_of(text)).tolist())


def pairs_of(text: str) -> tuple[Numbers, Numbers]:
    """Return the places of the pairs, and how often each occurs."""
    row = rows([text])
    return row.indices, row.data.astype(int)


@pytest.mark.parametrize("text", ["", "a", "é", "日本", "\ud800", "\x7f\x00", "a\ncd"])
def test_any_text_has_a_score(text: str) -> None:
    model = UrlLogistic()
    assert model.score(text) == 0.0
    model.learn([text, "/a.csv"], [False, True])
    assert np.isfinite(model.score(text))


def test_a_character_outside_ascii_is_not_a_question_mark() -> None:
    assert bigrams("aéb").tolist() == []
    assert bigrams("abéb").tolist() == bigrams("ab").tolist()
    assert len(bigrams("a?b")) == 2


def test_an_empty_batch_teaches_nothing() -> None:
    model = UrlLogistic()
    model.learn([], [])
    assert model.score("/a.csv") == 0.0


def test_extreme_examples_do_not_overflow() -> None:
    model = UrlLogistic()
    for _ in range(50):
        model.learn(["a" * 4000, "b" * 4000], [True, False])
        assert np.isfinite(model.score("a" * 4000))
    assert model.score("a" * 4000) > 0 > model.score("b" * 4000)


def test_a_model_that_was_saved_continues_the_same() -> None:
    rng = random.Random(9)
    model = UrlLogistic()
    for _ in range(5):
        model.learn(*made_up_urls(rng, 10))
    restored = UrlLogistic()
    restored.learn(["/other"], [True])
    restored.model.load(unpack(pack(model.model.save())))
    texts, labels = made_up_urls(rng, 10)
    model.learn(texts, labels)
    restored.learn(texts, labels)
    assert [restored.score(text) for text in texts] == [model.score(text) for text in texts]
