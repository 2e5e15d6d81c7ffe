"""Word vectors by skip-grams with negative samples (word2vec), trained on the example pages.

The published crawler uses vectors that were trained on a large corpus. We have none to ship, and pages of
data portals have words of their own; so vectors come from the examples, and every table says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coati.strategies.tres.neural.pytorch import pytorch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

# Frequent words serve as negative samples less often than they occur: word2vec's exponent.
_NEGATIVE_POWER = 0.75


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """Size of the vectors (the paper: 300), and how they are trained (word2vec's defaults, roughly)."""

    dimensions: int = 300
    window: int = 5
    negatives: int = 5
    epochs: int = 3
    least_count: int = 2
    most_words: int = 30_000
    batch: int = 4096
    rate: float = 2e-3


class WordVectors:
    """Words to numbers and vectors. Number 0 is every word that is not known, and its vector is zero."""

    def __init__(self, words: Sequence[str], vectors: Vectors) -> None:
        self.number_of = {word: number for number, word in enumerate(words, start=1)}
        self.vectors = np.concatenate([np.zeros((1, vectors.shape[1]), np.float32), vectors])

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word."""
        return [self.number_of.get(word, 0) for word in words]

    def expand(self, keywords: Collection[str]) -> frozenset[str]:
        """Add each word that is closer to the keywords, on average, than they are to each other.

        >>> vectors = np.array([[1, 0], [0.9, 0.5], [0.97, 0.2], [0, 1]], np.float32)
        >>> sorted(WordVectors(["data", "file", "dataset", "team"], vectors).expand({"data", "file"}))
        ['data', 'dataset', 'file']
        """
        numbers = [self.number_of[word] for word in sorted(keywords) if word in self.number_of]
        if len(numbers) < 2:  # noqa: PLR2004 - one word is at no distance from itself
            return frozenset(keywords)
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        units = self.vectors / np.maximum(lengths, 1e-12)
        means = units @ units[numbers].mean(0)
        count = len(numbers)
        # The mean over pairs of different keywords: each one's product with itself is 1.
        own = (float(means[numbers].mean()) * count - 1) / (count - 1)
        near = {word for word, number in self.number_of.items() if means[number] > own}
        return frozenset(keywords) | near


def train_vectors(texts: Sequence[Sequence[str]], settings: VectorSettings, seed: int) -> WordVectors:
    """Train vectors on texts, each given as its words."""
    counts = Counter(word for text in texts for word in text)
    kept = [word for word, count in counts.most_common(settings.most_words) if count >= settings.least_count]
    if not kept:
        return WordVectors([], np.zeros((0, settings.dimensions), np.float32))
    number_of = {word: number for number, word in enumerate(kept)}
    rng = np.random.default_rng([seed])
    centres, others = _pairs(
        [[number_of[w] for w in text if w in number_of] for text in texts], settings, rng
    )
    shares = np.array([counts[word] for word in kept], np.float64) ** _NEGATIVE_POWER
    return WordVectors(kept, _skip_grams(centres, others, np.cumsum(shares / shares.sum()), settings, rng))


def _pairs(
    texts: Sequence[Sequence[int]], settings: VectorSettings, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """List each word with its neighbours; near ones come more often, since windows are of random width."""
    centres, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for text in texts:
        words = np.array(text, np.int64)
        widths = rng.integers(1, settings.window + 1, len(words))
        for distance in range(1, min(settings.window, len(words) - 1) + 1):
            left, right = words[:-distance], words[distance:]
            seen_right, seen_left = widths[:-distance] >= distance, widths[distance:] >= distance
            centres += [left[seen_right], right[seen_left]]
            others += [right[seen_right], left[seen_left]]
    return np.concatenate(centres), np.concatenate(others)


def _skip_grams(
    centres: npt.NDArray[np.int64],
    others: npt.NDArray[np.int64],
    negative_shares: npt.NDArray[np.float64],
    settings: VectorSettings,
    rng: np.random.Generator,
) -> Vectors:
    torch = pytorch()
    words = len(negative_shares)
    inner = torch.nn.Embedding(words, settings.dimensions, sparse=True)
    outer = torch.nn.Embedding(words, settings.dimensions, sparse=True)
    start = (rng.random((words, settings.dimensions)) - 0.5) / settings.dimensions
    with torch.no_grad():
        inner.weight.copy_(torch.from_numpy(start))
        outer.weight.zero_()
    optimizer = torch.optim.SparseAdam([*inner.parameters(), *outer.parameters()], lr=settings.rate)
    log_sigmoid = torch.nn.functional.logsigmoid
    for _ in range(settings.epochs):
        order = rng.permutation(len(centres))
        for begin in range(0, len(order), settings.batch):
            chosen = order[begin : begin + settings.batch]
            drawn = np.searchsorted(negative_shares, rng.random((len(chosen), settings.negatives)))
            negatives = np.minimum(drawn, words - 1)
            centre = inner(torch.from_numpy(centres[chosen]))
            close = (centre * outer(torch.from_numpy(others[chosen]))).sum(1)
            far = (outer(torch.from_numpy(negatives)) @ centre[:, :, None])[:, :, 0]
            loss = -(log_sigmoid(close).sum() + log_sigmoid(-far).sum())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return np.asarray(inner.weight.detach().numpy(), np.float32)
