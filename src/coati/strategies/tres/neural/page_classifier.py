"""KwBiLSTM: a Bi-LSTM over a text's words, joined by counts of keywords, that judges pages (TRES, 2021).

The first 300 words run through a Bi-LSTM as word vectors; its last states pass dense layers of 300, 150, 85
and 45; what is known of keywords joins there, and layers of 50 and 10 lead to two classes. It is trained for
25 epochs on either half of the examples, and the network that does better on its other half is kept.

The papers leave open how wide the LSTM is and what the keyword bins are. Here it has 150 states per
direction, and the bins say how many keywords, how many different ones and how many keyphrases there are:
none, 1, 2 or 3, 4 to 7, 8 to 15, more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.learners.sigmoid import sigmoid
from coati.learners.word_logistic import words_of
from coati.strategies.tres.neural.pytorch import pytorch
from coati.strategies.tres.terms import KEYPHRASES, KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy.typing as npt

    from coati.strategies.tres.neural.word_vectors import WordVectors

_BIN_STARTS = (1, 2, 4, 8, 16)
_BINS = 3 * (len(_BIN_STARTS) + 1)
_PHRASES = tuple(f" {' '.join(words_of(phrase))} " for phrase in KEYPHRASES)


@dataclass(frozen=True, slots=True)
class ClassifierSettings:
    """The published parameters; ``states`` (per direction) and ``batch`` are ours."""

    words: int = 300
    states: int = 150
    dense: tuple[int, ...] = (300, 150, 85, 45)
    joint: tuple[int, ...] = (50, 10)
    epochs: int = 25
    folds: int = 2
    batch: int = 32
    rate: float = 1e-3


def keyword_bins(words: Sequence[str], keywords: Collection[str] = KEYWORDS) -> list[float]:
    """Say how many keywords a text has, how many different ones and how many keyphrases, in six bins each.

    >>> keyword_bins(["data", "data", "x"])[:12]
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """
    found = [word for word in words if word in keywords]
    text = f" {' '.join(words)} "
    counts = (len(found), len(set(found)), sum(text.count(phrase) for phrase in _PHRASES))
    bins = [0.0] * _BINS
    for place, count in enumerate(counts):
        bins[place * (len(_BIN_STARTS) + 1) + sum(count >= start for start in _BIN_STARTS)] = 1.0
    return bins


class KeywordBiLstm:
    """The classifier (`coati.strategies.tres.tres.TextClassifier`), trained when it is built."""

    def __init__(
        self,
        vectors: WordVectors,
        examples: tuple[Sequence[str], Sequence[str]],
        settings: ClassifierSettings,
        seed: int,
        keywords: Collection[str] = KEYWORDS,
    ) -> None:
        self._torch = pytorch()
        self._vectors = vectors
        self._table = self._torch.from_numpy(vectors.vectors)
        self._settings = settings
        self._keywords = keywords
        positive, negative = examples
        rows = [self._read(text) for text in (*positive, *negative)]
        labels = np.array([1] * len(positive) + [0] * len(negative))
        # Gradients fade over 300 words until they are denormal numbers, with which processors are slow:
        # taken for zero, training is fifteen times as fast.
        self._torch.set_flush_denormal(True)
        try:
            self._network = self._train(rows, labels, seed)
        finally:
            self._torch.set_flush_denormal(False)

    def probability(self, text: str) -> float:
        """Return the probability that a text is like the positive examples."""
        no, yes = self.logits([text])[0].tolist()
        return sigmoid(yes - no)

    def logits(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return what the network says for and against each text."""
        with self._torch.no_grad():
            output = self._run(self._network, [self._read(text) for text in texts])
        return np.asarray(output.numpy(), np.float32)

    def _read(self, text: str) -> tuple[list[int], list[float]]:
        words = words_of(text, self._settings.words)
        # An LSTM needs a word; an empty text has one unknown word.
        return self._vectors.numbers(words) or [0], keyword_bins(words, self._keywords)

    def _train(self, rows: Sequence[tuple[list[int], list[float]]], labels: Any, seed: int) -> Any:  # noqa: ANN401
        """Train one network per fold, and return the one that errs least on what it was not trained on."""
        torch = self._torch
        rng = np.random.default_rng([seed])
        # Both classes are spread over all folds.
        fold_of = np.empty(len(rows), int)
        for side in (0, 1):
            places = rng.permutation(np.flatnonzero(labels == side))
            fold_of[places] = np.arange(len(places)) % self._settings.folds
        best, least = None, float("inf")
        for fold in range(self._settings.folds):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed * self._settings.folds + fold)
                network = self._build()
            self._fit(network, rows, labels, np.flatnonzero(fold_of != fold), rng)
            loss = self._loss_of(network, rows, labels, np.flatnonzero(fold_of == fold))
            if loss < least:
                best, least = network, loss
        return best

    def _build(self) -> dict[str, Any]:
        nn, settings = self._torch.nn, self._settings
        dense: list[Any] = []
        width = 2 * settings.states
        for size in settings.dense:
            dense += [nn.Linear(width, size), nn.ReLU()]
            width = size
        joint: list[Any] = []
        width += _BINS
        for size in settings.joint:
            joint += [nn.Linear(width, size), nn.ReLU()]
            width = size
        # Two directions apart, where PyTorch's packed sequences of various lengths are six times as slow.
        lstms = [nn.LSTM(self._table.shape[1], settings.states, batch_first=True) for _ in range(2)]
        return {
            "forwards": lstms[0],
            "backwards": lstms[1],
            "dense": nn.Sequential(*dense),
            "joint": nn.Sequential(*joint, nn.Linear(width, 2)),
        }

    def _fit(self, network: dict[str, Any], rows: Any, labels: Any, places: Any, rng: Any) -> None:  # noqa: ANN401
        torch = self._torch
        weights = [weight for part in network.values() for weight in part.parameters()]
        optimizer = torch.optim.Adam(weights, lr=self._settings.rate)
        for _ in range(self._settings.epochs):
            order = rng.permutation(places)
            for begin in range(0, len(order), self._settings.batch):
                chosen = order[begin : begin + self._settings.batch]
                output = self._run(network, [rows[at] for at in chosen])
                loss = torch.nn.functional.cross_entropy(output, torch.from_numpy(labels[chosen]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    def _loss_of(self, network: dict[str, Any], rows: Any, labels: Any, places: Any) -> float:  # noqa: ANN401
        torch = self._torch
        total = 0.0
        with torch.no_grad():
            for begin in range(0, len(places), self._settings.batch):
                chosen = places[begin : begin + self._settings.batch]
                output = self._run(network, [rows[at] for at in chosen])
                wanted = torch.from_numpy(labels[chosen])
                total += float(torch.nn.functional.cross_entropy(output, wanted, reduction="sum"))
        return total / max(len(places), 1)

    def _run(self, network: dict[str, Any], rows: Sequence[tuple[list[int], list[float]]]) -> Any:  # noqa: ANN401
        torch = self._torch
        ends = [self._ends(network["forwards"], [numbers for numbers, _ in rows])]
        ends += [self._ends(network["backwards"], [numbers[::-1] for numbers, _ in rows])]
        bins = torch.tensor([bins for _, bins in rows])
        return network["joint"](torch.cat([network["dense"](torch.cat(ends, 1)), bins], 1))

    def _ends(self, lstm: Any, texts: Sequence[list[int]]) -> Any:  # noqa: ANN401
        """Return the state after each text's last word; what it is padded with is not seen."""
        torch = self._torch
        longest = max(map(len, texts))
        padded = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
        outputs, _ = lstm(self._table[padded])
        return outputs[torch.arange(len(texts)), torch.tensor([len(text) - 1 for text in texts])]
