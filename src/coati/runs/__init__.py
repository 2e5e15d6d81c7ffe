"""Run folders: what a crawl leaves behind, and how it goes on after a kill."""

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
from coati.runs.reasons import REASONS, Reason, SkipReason
from coati.runs.restoring import Restored
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
