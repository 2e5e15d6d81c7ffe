"""Run folders: what a crawl leaves behind, and how it is resumed after a kill."""

from typing import TYPE_CHECKING

from coati.lazy_names import names_from

if TYPE_CHECKING:
    from coati.runs.errors import (
        NoRunError,
        RunError,
        RunLockedError,
        RunMismatchError,
        RunVersionError,
        RunWriteError,
    )
    from coati.runs.fetched import Fetched
    from coati.runs.layout import Layout, holds_run
    from coati.runs.reader import RunReader
    from coati.runs.restoring import Restored
    from coati.runs.skip_reasons import REASONS, Reason, SkipReason
    from coati.runs.snapshots import SnapshotForm
    from coati.runs.store import Recorded, RunStore
    from coati.runs.totals import Totals

__all__ = [
    "REASONS",
    "Fetched",
    "Layout",
    "NoRunError",
    "Reason",
    "Recorded",
    "Restored",
    "RunError",
    "RunLockedError",
    "RunMismatchError",
    "RunReader",
    "RunStore",
    "RunVersionError",
    "RunWriteError",
    "SkipReason",
    "SnapshotForm",
    "Totals",
    "holds_run",
]

# Imported on first use: who only reads a run needs no numpy.
_PLACES = {
    "coati.runs.errors": [
        "NoRunError",
        "RunError",
        "RunLockedError",
        "RunMismatchError",
        "RunVersionError",
        "RunWriteError",
    ],
    "coati.runs.fetched": ["Fetched"],
    "coati.runs.layout": ["Layout", "holds_run"],
    "coati.runs.reader": ["RunReader"],
    "coati.runs.skip_reasons": ["REASONS", "Reason", "SkipReason"],
    "coati.runs.restoring": ["Restored"],
    "coati.runs.snapshots": ["SnapshotForm"],
    "coati.runs.store": ["Recorded", "RunStore"],
    "coati.runs.totals": ["Totals"],
}

__getattr__ = names_from(__name__, _PLACES)
