"""What only a replay knows of many hosts: which pages are relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coati.strategies.hosts.page_features import FoundPage


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
