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
    from coati.runs.fetched import (
        Fetched,
    )
    from coati.runs.layout import (
        Layout,
        holds_run,
    )
    from coati.runs.reader import (
        RunReader,
    )
    from coati.runs.restoring import (
        Restored,
    )
    from coati.runs.skip_reasons import (
        REASONS,
        Reason,
        SkipReason,
    )
    from coati.runs.snapshots import (
        SnapshotForm,
    )
    from coati.runs.store import (
        Recorded,
        RunStore,
    )
    from coati.runs.totals import (
        Totals,
    )

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

# Imported when they are asked for: who only reads a run needs no numpy.
_PLACES = {
    "NoRunError": "coati.runs.errors",
    "RunError": "coati.runs.errors",
    "RunLockedError": "coati.runs.errors",
    "RunMismatchError": "coati.runs.errors",
    "RunVersionError": "coati.runs.errors",
    "RunWriteError": "coati.runs.errors",
    "Fetched": "coati.runs.fetched",
    "Layout": "coati.runs.layout",
    "holds_run": "coati.runs.layout",
    "RunReader": "coati.runs.reader",
    "REASONS": "coati.runs.skip_reasons",
    "Reason": "coati.runs.skip_reasons",
    "SkipReason": "coati.runs.skip_reasons",
    "Restored": "coati.runs.restoring",
    "SnapshotForm": "coati.runs.snapshots",
    "Recorded": "coati.runs.store",
    "RunStore": "coati.runs.store",
    "Totals": "coati.runs.totals",
}

__getattr__ = names_from(__name__, _PLACES)
