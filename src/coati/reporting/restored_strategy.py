"""The strategy of a run, restored from its folder to explain its score of a URL; writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coati.errors import CoatiError
from coati.model import Link
from coati.runs.reader import RunReader
from coati.runs.restoring import LogTail, load_newest
from coati.runs.snapshots import SnapshotFiles
from coati.runs.tag_path_text import path_from_text
from coati.strategies.strategy import Explains, ScoreExplanation, Strategy
from coati.units import format_count

if TYPE_CHECKING:
    from coati.reporting.explanation import FoundLink
    from coati.settings.run_settings import RunSettings

# A choice further than this many events from a snapshot is not brought back: some twenty seconds.
_MOST_REDONE = 60_000

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


class NotExplained(NamedTuple):
    """Why the strategy of a run cannot say anything here, such as one of the user's own in another folder."""

    reason: str


def explained_by_strategy(
    run: RunReader, settings: RunSettings, url: str, found: FoundLink, before_event: int | None = None
) -> ScoreExplanation | NotExplained | None:
    """Ask the strategy to explain a URL's score, as it stood before an event or as it stands now.

    None where it has no score to explain (`Explains`). It cannot say where the log was not made by this
    version's strategy, and where it would take long to bring it back to the event.
    """
    from coati.settings.crawl_plan import new_strategy

    try:
        if not isinstance(new_strategy(settings), Explains):
            return None
        strategy = restored_strategy(run, settings, before_event)
    except (CoatiError, ValueError, LookupError) as error:
        return NotExplained(str(error))
    # A link tells more than its URL. Where a redirect led has the place of the link that was redirected.
    link = url if found.found_on is None else _link(url, found)
    try:
        return strategy.explain(link, found.found_on or "") if isinstance(strategy, Explains) else None
    except (CoatiError, ValueError, LookupError):
        return None


def _link(url: str, found: FoundLink) -> Link:
    anchor = found.anchor or ""
    return Link(url, path_from_text(found.tag_path), anchor, found.context or anchor)


def restored_strategy(run: RunReader, settings: RunSettings, before_event: int | None = None) -> Strategy:
    """Bring the strategy of a run back, as it stood before an event or as it stands now; writes nothing."""
    from coati.settings.crawl_plan import new_strategy, snapshot_form

    messages: list[str] = []
    form = snapshot_form(settings)
    (last_event,) = run.connection.execute(_LAST_EVENT).fetchone()
    end = last_event + 1 if before_event is None else before_event
    snapshots = run.layout.snapshots
    usable = SnapshotFiles(snapshots).usable(end - 1, form, messages) if snapshots.is_dir() else ()
    start = load_newest(usable, lambda: new_strategy(settings), form.unpack, messages)
    if before_event is not None and end - start.event > _MOST_REDONE:
        raise LookupError(
            f"to restore that moment means to repeat {format_count(end - start.event, 'event')} of the log,"
            f" and more than {format_count(_MOST_REDONE)} take too long"
        )
    LogTail(run.connection, start.event, start.link, end).redo(start.strategy)
    return start.strategy
