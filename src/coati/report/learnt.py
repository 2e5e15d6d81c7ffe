"""What the strategy of a run has learnt about a URL, from the run folder and without touching it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from coati.errors import CoatiError
from coati.runs.reader import RunReader
from coati.runs.restoring import Tail, load_newest
from coati.runs.snapshots import SnapshotFiles, SnapshotForm

if TYPE_CHECKING:
    from coati.settings.run_settings import RunSettings
    from coati.strategies.strategy import Strategy

_LAST_EVENT = "SELECT max(coalesce(max(chosen_event), 0), coalesce(max(observed_event), 0)) FROM requests"


def settings_of(run: RunReader) -> RunSettings | None:
    """Read the run's settings; None for a run that this version's settings cannot describe."""
    # Imported here: the settings know the live driver, and with it Scrapy.
    from coati.settings.run_file import read_values, with_values
    from coati.settings.run_settings import RunSettings

    try:
        return with_values(RunSettings(), read_values(run.settings))
    except CoatiError:
        return None


def learnt_about(run: RunReader, settings: RunSettings, url: str) -> Mapping[str, Any] | None:
    """Ask the strategy, brought to where the run is, what it expects of a URL.

    None where it has no way to say (`explain`), or where the log was not made by this version's strategy.
    """
    from coati.settings.plan import new_strategy, snapshot_form

    try:
        if not hasattr(new_strategy(settings), "explain"):
            return None
        strategy = _restored(run, settings, snapshot_form(settings))
        return _as_mapping(strategy.explain(url))  # type: ignore[attr-defined]  # asked for above
    except (CoatiError, ValueError, LookupError):
        return None


def _restored(run: RunReader, settings: RunSettings, form: SnapshotForm) -> Strategy:
    from coati.settings.plan import new_strategy

    messages: list[str] = []
    (last_event,) = run.connection.execute(_LAST_EVENT).fetchone()
    snapshots = run.layout.snapshots
    usable = SnapshotFiles(snapshots).usable(last_event, form, messages) if snapshots.is_dir() else ()
    start = load_newest(usable, lambda: new_strategy(settings), form.unpack, messages)
    Tail(run.connection, start.event, start.link).redo(start.strategy)
    return start.strategy


def _as_mapping(told: object) -> Mapping[str, Any] | None:
    if told is None or isinstance(told, Mapping):
        return told
    if is_dataclass(told) and not isinstance(told, type):
        return asdict(told)
    if hasattr(told, "_asdict"):
        return dict(told._asdict())
    return {"because": str(told)}
