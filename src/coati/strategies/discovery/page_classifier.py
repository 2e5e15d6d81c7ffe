"""Tells pages that lead to data from others, by their words: TF-IDF and a linear SVM, trained repeatedly.

It begins with a start model. What verification finds out is added, and the machine is trained from scratch on
all examples, the document frequencies counted again. Where the start model has weights and not the examples
behind them, these weights are the prior that training departs from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coati.learners.linear_svm import fit_linear_svm
from coati.learners.sparse_rows import SparseRow, SparseRows
from coati.learners.tf_idf import Vocabulary
from coati.strategies.discovery.start_model import StartModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.learners.sparse_rows import Floats, Places
    from coati.strategies.state import State

_COST = 1.0
_WORDS_TOLD = 8


class _Example(NamedTuple):
    """The numbers of the words of a page, and their augmented frequencies."""

    places: Places
    frequencies: Floats


class PageClassifier:
    """Says by its margin how much a page looks like one that leads to data: above 0 it does.

    >>> from coati.strategies.discovery.start_model import model_of_examples
    >>> start = model_of_examples([({"csv": 1, "data": 2}, True), ({"recipe": 1, "data": 1}, False)])
    >>> classifier = PageClassifier(start)
    >>> classifier.margin({"csv": 1}) > 0 > classifier.margin({"recipe": 2})
    True
    """

    def __init__(self, start: StartModel) -> None:
        self._vocabulary = Vocabulary()
        self._vocabulary.take_over(start.words, start.pages_with, start.pages)
        self._start_weights = np.array(start.weights, float)
        self._start_bias = start.bias
        self._examples: list[_Example] = []
        self._labels: list[bool] = []
        self._weights = np.append(self._start_weights, start.bias)
        self._idf = self._vocabulary.idf()
        if start.examples:
            self.learn(start.examples)

    @property
    def knows_nothing(self) -> bool:
        """Whether it has seen only one kind of page, so that its margins mean nothing."""
        return not len(self._start_weights) and len(set(self._labels)) < 2  # noqa: PLR2004 - both kinds

    def margin(self, words: Mapping[str, int]) -> float:
        """Return how far on the side of data a page lies."""
        row = self._vocabulary.row(words, self._idf)
        return float(row.values @ self._weights[row.places]) + float(self._weights[-1])

    def learn(self, examples: Sequence[tuple[Mapping[str, int], bool]]) -> None:
        """Add examples and train again."""
        for words, label in examples:
            if not words:
                continue
            self._vocabulary.learn(words)
            self._examples.append(self._example(words))
            self._labels.append(label)
        self._fit()

    def reasons(self, words: Mapping[str, int]) -> list[tuple[str, float]]:
        """Return the words that speak most for or against a page, with what each adds to the margin."""
        row = self._vocabulary.row(words, self._idf)
        names = self._vocabulary.words()
        parts = row.values * self._weights[row.places]
        strongest = np.argsort(-np.abs(parts), kind="stable")[:_WORDS_TOLD]
        return [(names[row.places[at]], float(parts[at])) for at in strongest.tolist()]

    def as_start_model(self, most_words: int) -> StartModel:
        """Return the weights of the words that weigh most, without the examples behind them."""
        weights = self._weights[:-1]
        words = self._vocabulary.words()
        kept = np.sort(np.argsort(-np.abs(weights), kind="stable")[:most_words]).tolist()
        return StartModel(
            words=tuple(words[at] for at in kept),
            weights=tuple(float(weights[at]) for at in kept),
            pages_with=tuple(self._vocabulary.pages_with(words[at]) for at in kept),
            pages=self._vocabulary.pages,
            bias=float(self._weights[-1]),
        )

    def save(self) -> dict[str, Any]:
        """Return everything but the start model."""
        sizes = [len(example.places) for example in self._examples]
        places = [example.places for example in self._examples]
        frequencies = [example.frequencies for example in self._examples]
        return {
            **{f"vocabulary_{name}": value for name, value in self._vocabulary.save().items()},
            "example_sizes": np.array(sizes, np.int32),
            "example_places": np.concatenate([np.zeros(0, np.int32), *places]).astype(np.int32),
            "example_frequencies": np.concatenate([np.zeros(0), *frequencies]),
            "example_labels": [bool(label) for label in self._labels],
            "weights": self._weights,
        }

    def load(self, state: State) -> None:
        self._vocabulary.load(
            {name: state[f"vocabulary_{name}"] for name in ("words", "pages_with", "pages")}
        )
        ends = np.cumsum(state["example_sizes"])[:-1]
        places = np.split(state["example_places"].astype(np.intp), ends)
        frequencies = np.split(state["example_frequencies"], ends)
        self._labels = list(state["example_labels"])
        pairs = zip(places, frequencies, strict=True)
        self._examples = [_Example(*pair) for pair in pairs] if self._labels else []
        self._weights = np.array(state["weights"])
        self._idf = self._vocabulary.idf()

    def _example(self, words: Mapping[str, int]) -> _Example:
        ones = np.ones(len(self._vocabulary))
        row = self._vocabulary.row(words, ones)
        # The row has length 1; the frequencies are wanted as they are, the largest being 1.
        return _Example(row.places, row.values / row.values.max())

    def _fit(self) -> None:
        self._idf = self._vocabulary.idf()
        if self.knows_nothing:
            self._weights = self._grown(self._weights)
            return
        rows = SparseRows([self._weighed(example) for example in self._examples], len(self._vocabulary))
        labels = np.where(np.array(self._labels), 1.0, -1.0)
        prior = self._grown(np.append(self._start_weights, self._start_bias))
        begin = self._grown(self._weights)
        self._weights = fit_linear_svm(rows, labels, prior, _COST, begin)

    def _weighed(self, example: _Example) -> SparseRow:
        values = example.frequencies * self._idf[example.places]
        return SparseRow(example.places, values / np.linalg.norm(values))

    def _grown(self, weights: Floats) -> Floats:
        """Return the weights with a 0 for each new word; the bias stays last."""
        return np.concatenate(
            [weights[:-1], np.zeros(len(self._vocabulary) + 1 - len(weights)), weights[-1:]]
        )
