"""What a watch has found to be new, changed or gone so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coati.errors import ConfigError, UsageError
from coati.jobs.arguments import PathText, checked_arguments, path_of, plain_text_of
from coati.jobs.notebook_tables import rows_table
from coati.runs.changes_file import Change, read_changes
from coati.times import to_iso_seconds
from coati.units import format_count, parse_seconds
from coati.watching.watch import folder_beside, is_watch


@dataclass(frozen=True, slots=True, repr=False)
class PastChanges:
    """What `coati.past_changes` returns: the changes of a watch, the oldest first.

    ``since`` is the time from which on they were seen (UTC); empty for all.
    """

    folder: Path
    since: str
    changes: tuple[Change, ...]

    def __repr__(self) -> str:
        since = f" since {self.since}" if self.since else ""
        return f"<PastChanges {str(self.folder)!r}: {format_count(len(self.changes), 'change')}{since}>"

    def rows(self) -> list[dict[str, object]]:
        """Return one object per change, without what is not known."""
        return [change.as_json() for change in self.changes]

    def _repr_html_(self) -> str:
        title = f"Changes in {self.folder}" + (f" since {self.since}" if self.since else "")
        rows: list[dict[str, object]] = [
            {"change": each.what, "url": each.url, "title": each.title, "seen": each.seen_at}
            for each in self.changes
        ]
        return rows_table(title, rows)


@checked_arguments
def past_changes(source: PathText, since: str | datetime | timedelta | None = None) -> PastChanges:
    """Return what a watch has found so far to be new, changed or gone; nothing is requested.

    ``source`` is the folder of a watch, or the crawl or list that it watches. ``since`` is a day or a time
    ("2026-05-01"), or how long ago ("2d").
    """
    folder, begin = path_of("source", source), "" if since is None else _moment(since)
    if not is_watch(folder):
        if not is_watch(folder_beside(folder)):
            raise UsageError(f"there is no watch in {folder}")
        folder = folder_beside(folder)
    return PastChanges(folder, begin, tuple(each for each in read_changes(folder) if each.seen_at >= begin))


def _moment(since: str | datetime | timedelta) -> str:
    """Read a day, a time, or how long ago; returns it as the log writes times."""
    try:
        moment = since if isinstance(since, datetime) else _day(since)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return to_iso_seconds(moment.timestamp())
    except (ConfigError, OverflowError, ValueError):
        raise ConfigError(f"--diff {since!r} is neither a day (2026-05-01) nor a time ago (2d)") from None


def _day(since: str | timedelta) -> datetime:
    if isinstance(since, timedelta):
        return datetime.now(UTC) - since
    try:
        return datetime.fromisoformat(plain_text_of("since", since))
    except ValueError:
        return datetime.now(UTC) - timedelta(seconds=parse_seconds(since))
