"""The totals of a run, counted as it goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from sqlite3 import Connection

from coati.model import Method, OutcomeKind

_BY_KIND = """
SELECT kind, method, new_target, count(*), sum(charged), sum(size_bytes) FROM requests
WHERE observed_event IS NOT NULL GROUP BY kind, method, new_target, charged > 0
"""


@dataclass(slots=True)
class Totals:
    """What was observed.

    ``requests`` is what the run cost: HEADs and retries count, what was refused does not. ``bytes`` are those
    of all bodies. ``by_kind`` counts observations by `coati.model.OutcomeKind`. A page counts where the run
    was charged for fetching it, not where a HEAD only announced it, and not a robots.txt that had to be
    fetched anyway. A target counts once, however often it is visited; ``relevant_pages`` are those targets
    that are pages.
    """

    requests: int = 0
    pages: int = 0
    targets: int = 0
    relevant_pages: int = 0
    bytes: int = 0
    target_bytes: int = 0
    failures: int = 0
    by_kind: dict[str, int] = field(default_factory=dict)

    def add(
        self, kind: str, method: str, charged: int, size_bytes: int, *, new_target: bool, times: int = 1
    ) -> None:
        """Count observations of one kind; ``charged`` and ``size_bytes`` are their sums."""
        self.requests += charged
        self.bytes += size_bytes
        self.by_kind[kind] = self.by_kind.get(kind, 0) + times
        if new_target:
            self.targets += times
            self.target_bytes += size_bytes
            self.relevant_pages += times if kind == OutcomeKind.PAGE else 0
        if kind == OutcomeKind.PAGE and method == Method.GET.value and charged:
            self.pages += times
        elif kind == OutcomeKind.FAILURE:
            self.failures += times


def read_totals(connection: Connection) -> Totals:
    """Count what the database of a run holds."""
    totals = Totals()
    for kind, method, new, times, charged, size_bytes in connection.execute(_BY_KIND):
        totals.add(kind, method, charged, size_bytes, new_target=bool(new), times=times)
    return totals
