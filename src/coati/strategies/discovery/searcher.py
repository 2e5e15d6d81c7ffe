"""What strategies that search for repositories offer, besides what every strategy offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from coati.strategies.strategy import Strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.strategies.discovery.findings import Finding


@runtime_checkable
class Searcher(Strategy, Protocol):
    """A strategy that searches for repositories."""

    @property
    def queries_waiting(self) -> int:
        """How many queries are planned and wait."""

    @property
    def gave_up_after(self) -> int:
        """After how many requests without a new repository it gave up; 0 where it did not give up."""

    @property
    def verifies(self) -> bool:
        """Whether what it finds now is verified; some verify the results of their first query alone."""

    def findings(self) -> Sequence[Finding]:
        """Return every site that was checked: the verified ones first, best for the topic first."""

    def counts(self) -> tuple[int, int, int]:
        """Count the pages that were analysed, the sites that were checked, and those that were verified."""

    def asleep(self) -> Sequence[str]:
        """Name the actions that no configured engine allows."""
