"""The contract of a source: another layout of a site, as a stream of our records.

A source is read once, front to back, and holds no more than one body in memory. It reports and skips what it
cannot read: damage costs the records that it touches and no more. Nothing in a source is trusted, whatever
its origin; every size is bounded here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from coati.archive.record import ArchiveMeta, Record
from coati.web.media import TargetTypes

# A body that is larger is left out, as bodies of targets may be: its size is kept. A record is
# handled in memory, and a replay needs the bodies of pages only.
MAX_BODY_BYTES = 256 * 1024 * 1024


class DamagedPart(NamedTuple):
    """A part of a source that could not be used; ``where`` names the file and the place in it."""

    where: str
    reason: str
    url: str = ""

    def __str__(self) -> str:
        of_url = f" ({self.url})" if self.url else ""
        return f"{self.where}{of_url}: {self.reason}"


Report = Callable[[DamagedPart], None]
"""Called with each damaged part as it is found."""

ProgressCallback = Callable[[int, int], None]
"""Called with the progress: how much is done, of how much, in any unit."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What the user wants to be different from what a source says or a layout defaults to."""

    name: str | None = None
    start_url: str | None = None
    types: TargetTypes | None = None


class SiteSource(Protocol):
    """One site in another layout; constructing it opens nothing that needs to be closed."""

    def meta(self) -> ArchiveMeta:
        """Say what the archive will say about itself; may read the beginning of the source."""

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        """Return the records in the order in which the source has them, URLs in normal form."""


def unreported(_damaged: DamagedPart) -> None:
    """Take the report of a pass over a source that is not the one that counts."""
