"""Whether an archive is whole, and how to rebuild its index from its WARC files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coati.archive.archive import Archive
from coati.archive.recovery import Damage, rebuild_index
from coati.jobs.arguments import checked_arguments, path_of
from coati.jobs.notebook_tables import pairs_table, rows_table
from coati.jobs.progress_bar import progress
from coati.machine_errors import writing_to


class DamagedRecord(NamedTuple):
    """A record that does not match its digest, or cannot be read."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class ArchiveVerification:
    """What `coati.verify_archive` returns: how many ``records`` were read, and which are damaged."""

    folder: Path
    records: int
    damaged: tuple[DamagedRecord, ...]

    @property
    def whole(self) -> bool:
        """Whether every record is as it was stored."""
        return not self.damaged

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        return {"archive": str(self.folder), "records": self.records, "damaged": self._rows()}

    def _rows(self) -> list[dict[str, object]]:
        return [record._asdict() for record in self.damaged]

    def _repr_html_(self) -> str:
        return rows_table(f"Damaged among {self.records:,} records in {self.folder}", self._rows())


@dataclass(frozen=True, slots=True)
class ReindexedArchive:
    """What `coati.reindex_archive` returns; ``damages`` are unreadable bytes, each with its WARC file."""

    folder: Path
    records: int
    damages: tuple[tuple[str, Damage], ...]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        return {"archive": str(self.folder), "records": self.records, "damaged": len(self.damages)}

    def _repr_html_(self) -> str:
        pairs = [("records", f"{self.records:,}"), ("damaged places", f"{len(self.damages):,}")]
        return pairs_table(f"New index of {self.folder}", pairs)


@checked_arguments
def verify_archive(
    folder: str | Path,
    *,
    on_damage: Callable[[DamagedRecord], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    show_progress: bool | None = None,
) -> ArchiveVerification:
    """Check every record of an archive against its digest; ``on_damage`` is called for each damaged one."""
    damaged = []
    with (
        Archive.open(path_of("folder", folder)) as opened,
        progress("Verifying", show_progress, on_progress) as report_progress,
    ):
        total = opened.count_captures()
        for done, (entry, error) in enumerate(opened.check_all(), start=1):
            if error is not None:
                damaged.append(DamagedRecord(entry.url, str(error)))
                if on_damage is not None:
                    on_damage(damaged[-1])
            report_progress(done, total)
        return ArchiveVerification(opened.folder, total, tuple(damaged))


@checked_arguments
def reindex_archive(folder: str | Path) -> ReindexedArchive:
    """Rebuild the index of an archive from its WARC files, and replace the old one."""
    place = path_of("folder", folder)
    with writing_to(place):
        rebuilt = rebuild_index(place)
        # Opening it for writing works out what the index keeps beside the records.
        with Archive.open(place, writable=True):
            return ReindexedArchive(place, rebuilt.records, tuple(rebuilt.damages))
