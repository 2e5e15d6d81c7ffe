from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from coati.learners.linear_svm import fit_linear_svm
from coati.learners.sparse_rows import SparseRow, SparseRows
from coati.learners.tf_idf import Vocabulary


def dense_rows(matrix: np.ndarray) -> SparseRows:
    return SparseRows([SparseRow(np.flatnonzero(row), row[row != 0]) for row in matrix], matrix.shape[1])


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_same_weights_as_liblinear(seed: int, cost: float) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.random((80, 30)) * (rng.random((80, 30)) < 0.2)
    labels = np.where(matrix @ rng.normal(size=30) + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0)
    found = fit_linear_svm(dense_rows(matrix), labels, np.zeros(31), cost)
    reference = LinearSVC(C=cost, dual=False, tol=1e-10, max_iter=10_000).fit(matrix, labels)
    assert found == pytest.approx(np.append(reference.coef_[0], reference.intercept_), abs=1e-3)


def test_where_it_begins_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    matrix, labels = rng.random((40, 10)), np.where(rng.random(40) > 0.5, 1.0, -1.0)
    rows, zeros = dense_rows(matrix), np.zeros(11)
    cold = fit_linear_svm(rows, labels, zeros)
    assert fit_linear_svm(rows, labels, zeros, begin=rng.normal(size=11)) == pytest.approx(cold, abs=1e-3)


def test_without_examples_the_prior_stays() -> None:
    prior = np.array([1.0, -2.0, 0.5])
    assert fit_linear_svm(SparseRows([], 2), np.zeros(0), prior).tolist() == prior.tolist()


def test_a_prior_moves_no_further_than_the_examples_ask() -> None:
    prior = np.array([3.0, 0.0, 0.0])
    rows = dense_rows(np.array([[1.0, 0.0], [0.0, 1.0]]))
    found = fit_linear_svm(rows, np.array([1.0, -1.0]), prior)
    assert found[0] == pytest.approx(3.0, abs=0.3)
    assert found[1] < -0.3


def test_tf_idf_is_that_of_scikit_learn_with_augmented_counts() -> None:
    pages = [{"rain": 4, "city": 1}, {"rain": 1, "snow": 1}, {"csv": 2}]
    vocabulary = Vocabulary()
    for page in pages:
        vocabulary.learn(page)
    reference = TfidfVectorizer(analyzer=list, norm=None).fit(pages)
    idf = dict(zip(reference.get_feature_names_out(), reference.idf_, strict=True))
    row = vocabulary.row(pages[0], vocabulary.idf())
    weights = np.array([1.0 * idf["rain"], 0.625 * idf["city"]])
    assert row.values == pytest.approx(weights / np.linalg.norm(weights))


def test_a_vocabulary_loads_as_it_was_saved() -> None:
    vocabulary, loaded = Vocabulary(), Vocabulary()
    vocabulary.learn({"rain": 1, "snow": 2})
    vocabulary.learn({"snow": 2})
    loaded.load(vocabulary.save())
    assert (loaded.words(), loaded.pages, loaded.pages_with("snow")) == (["rain", "snow"], 2, 2)
