"""What a classifier took links for, and what they were: the matrices behind the paper's Table 5.

Rows are the truth (page, target, neither), columns the prediction (page, target; "neither" is never
predicted). Only predictions count, not links whose class was asked for with a HEAD. The misclassification
rate leaves the third row out: pages taken for targets and targets taken for pages, in percent of all pages
and targets. Over several sites it is that of the mean of the sites' matrices in percent, so that a large site
weighs as much as a small one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coati.model import Kind
from coati.strategies.url_classes import UrlClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coati.model import Link, Outcome
    from coati.strategies.state import State
    from coati.strategies.truth import SiteTruth
    from coati.strategies.url_classes import UrlClasses

TRUE_CLASSES = ("page", "target", "neither")
PREDICTED_CLASSES = ("page", "target")

# Where a redirect leads is found out by following it, so it is right to take it for a page.
_ROWS = {Kind.PAGE: 0, Kind.REDIRECT: 0, Kind.TARGET: 1}
_NEITHER = 2


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """Counts or percentages, by truth and then by prediction.

    >>> slides = ConfusionMatrix(((58.04, 1.37), (0.75, 32.19), (5.34, 2.41)))
    >>> round(slides.misclassification_rate, 2)
    2.3
    """

    cells: tuple[tuple[float, float], ...]

    @property
    def total(self) -> float:
        """Everything that was predicted."""
        return sum(map(sum, self.cells))

    @property
    def misclassification_rate(self) -> float | None:
        """The wrong ones among pages and targets, in percent; None if there are none of either."""
        (pages, false_targets), (false_pages, targets), _ = self.cells
        all_of_them = pages + false_targets + false_pages + targets
        return 100 * (false_targets + false_pages) / all_of_them if all_of_them else None

    def percentages(self) -> ConfusionMatrix:
        """Give each cell in percent of the total; all zero if nothing was predicted."""
        total = self.total or 1.0
        return ConfusionMatrix(
            tuple((100 * page / total, 100 * target / total) for page, target in self.cells)
        )

    @staticmethod
    def mean(sites: Iterable[ConfusionMatrix]) -> ConfusionMatrix:
        """Give the mean of the sites' matrices in percent; sites where nothing was predicted are left out."""
        parts = [matrix.percentages().cells for matrix in sites if matrix.total]
        count = len(parts) or 1
        rows = range(len(TRUE_CLASSES))
        return ConfusionMatrix(
            tuple(
                (sum(p[row][0] for p in parts) / count, sum(p[row][1] for p in parts) / count) for row in rows
            )
        )


class CountedClasses:
    """A classifier that is watched: it decides as the one inside, and its predictions are counted."""

    def __init__(self, classes: UrlClasses, truth: SiteTruth) -> None:
        self._classes = classes
        self._truth = truth
        self._counts = [[0, 0] for _ in TRUE_CLASSES]

    @property
    def matrix(self) -> ConfusionMatrix:
        """The predictions so far."""
        return ConfusionMatrix(tuple((page, target) for page, target in self._counts))

    def classify(self, url: str, link: Link | None = None) -> tuple[UrlClass, float]:
        """Let the classifier decide, and count what it predicts."""
        url_class, score = self._classes.classify(url, link)
        if url_class in {UrlClass.PAGE, UrlClass.TARGET}:
            kind = self._truth.kind(url)
            row = _NEITHER if kind is None else _ROWS.get(kind, _NEITHER)
            self._counts[row][url_class is UrlClass.TARGET] += 1
        return url_class, score

    def probed(self, url: str, outcome: Outcome) -> UrlClass:
        """Pass on what a HEAD told."""
        return self._classes.probed(url, outcome)

    def learn(self, url: str, outcome: Outcome) -> None:
        """Pass on what a fetch told."""
        self._classes.learn(url, outcome)

    def save(self) -> State:
        """Give the classifier and the counts."""
        return {**self._classes.save(), "confusion": self._counts}

    def load(self, state: State) -> None:
        """Take over a saved classifier and its counts."""
        self._classes.load(state)
        self._counts = [list(row) for row in state["confusion"]]
