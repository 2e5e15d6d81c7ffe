"""What only a replay knows of many hosts: which pages are relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from coati.model import Kind
from coati.strategies.chance import draw
from coati.strategies.hosts.page_features import FoundPage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coati.strategies.truth import SiteTruth


class LabelledPage(NamedTuple):
    """A page and its label, to train a classifier on."""

    page: FoundPage
    relevant: bool


class KnownLabels(Protocol):
    """The labels of all pages."""

    def relevant(self, url: str) -> bool:
        """Tell whether a page is relevant."""

    def sample(self, pages: int, seed: int) -> Iterable[LabelledPage]:
        """Draw pages at random, each found on some page that links to it."""


class TruthLabels:
    """The labels of an archived site: its targets are what is relevant."""

    def __init__(self, truth: SiteTruth) -> None:
        self._truth = truth

    def relevant(self, url: str) -> bool:
        """Tell whether a URL is a target."""
        number = self._truth.number_of.get(url)
        return number is not None and self._truth.kinds[number] is Kind.TARGET

    def sample(self, pages: int, seed: int) -> Iterator[LabelledPage]:
        """Draw URLs at random, at most as many as there are; a page that links to one is not a target."""
        truth = self._truth
        for turn in range(min(pages, len(truth.urls))):
            number = draw(seed, turn, len(truth.urls))
            parent = None if truth.parent[number] < 0 else False
            yield LabelledPage(FoundPage(truth.urls[number], parent), truth.kinds[number] is Kind.TARGET)
