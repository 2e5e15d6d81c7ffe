"""A web of many hosts as a driver sees it: what the generated ones offer (`coati.testing.host_web`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from coati.replaying.driver import ReplaySource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.strategies.hosts.known_labels import LabelledPage


class Web(ReplaySource, Protocol):
    """Answers requests like an archived site, and knows which pages are relevant."""

    @property
    def start_urls(self) -> Sequence[str]:
        """Where a crawl begins."""

    @property
    def hosts(self) -> int:
        """How many hosts there are."""

    @property
    def pages(self) -> int:
        """How many pages there are."""

    def relevant(self, url: str) -> bool:
        """Tell whether a page is relevant."""

    def relevant_pages(self) -> int:
        """Count the relevant pages."""

    def sample(self, pages: int, seed: int) -> Iterator[LabelledPage]:
        """Draw pages at random."""

    def balanced(self, pages: int, seed: int) -> Iterator[LabelledPage]:
        """Draw pages of some larger hosts, as many relevant ones as others."""
