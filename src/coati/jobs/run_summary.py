"""One run in a few numbers, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coati.jobs.notebook_tables import pairs_table
from coati.runs.other_types import other_types
from coati.runs.reader import RunReader
from coati.runs.renderings import count_renderings
from coati.units import format_bytes, format_count, format_seconds

# Of the types that were not wanted, and of the reasons to skip, this many are named.
_NAMED = 3

_DEFERRED = "SELECT count(DISTINCT url) FROM requests WHERE kind = 'deferred'"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did, read from its folder. ``stop_reason`` is None while it runs, or after a kill.

    ``deferred`` counts the addresses that could not be reached at first, ``unreached`` those of them that are
    still to be retried. ``other_types`` counts the files that were not of the wanted types, the most frequent
    type first. ``rendered_pages`` went through a browser, which could not render ``not_rendered`` of
    them.
    """

    folder: str
    start_url: str
    strategy: str
    seed: int
    types: str
    stop_reason: str | None
    sessions: int
    started_at: str
    seconds: float
    requests: int
    pages: int
    targets: int
    relevant_pages: int
    files: int
    target_bytes: int
    bytes: int
    failures: int
    deferred: int
    unreached: int
    skipped: int
    skipped_by_reason: dict[str, int]
    other_types: dict[str, int]
    rendered_pages: int
    not_rendered: int
    report: str | None

    @classmethod
    def read(cls, folder: Path) -> RunSummary:
        """Read the summary of a run; raises `coati.runs.errors.RunError` if there is none."""
        with RunReader(folder) as reader:
            settings: dict[str, Any] = reader.settings
            totals = reader.totals()
            sessions = reader.sessions()
            (files,) = reader.connection.execute("SELECT count(*) FROM files").fetchone()
            (deferred,) = reader.connection.execute(_DEFERRED).fetchone()
            (unreached,) = reader.connection.execute("SELECT count(*) FROM deferred").fetchone()
            rendered, _, not_rendered = count_renderings(reader.connection)
            skips = reader.skip_counts()
            report = reader.layout.report
            return cls(
                folder=str(folder),
                start_url=str(next(iter(settings.get("urls", ())), "")),
                strategy=str(settings.get("strategy", "")),
                seed=int(settings.get("seed", 0)),
                types=str(settings.get("types", "")),
                stop_reason=sessions[-1].stop_reason if sessions else None,
                sessions=len(sessions),
                started_at=sessions[0].started_at if sessions else "",
                seconds=round(sum(session.seconds for session in sessions), 1),
                requests=totals.requests,
                pages=totals.pages,
                targets=totals.targets,
                relevant_pages=totals.relevant_pages,
                files=files,
                target_bytes=totals.target_bytes,
                bytes=totals.bytes,
                failures=totals.failures,
                deferred=deferred,
                unreached=unreached,
                skipped=sum(skips.values()),
                skipped_by_reason=dict(skips),
                other_types={row.media_type: row.files for row in other_types(reader.connection, settings)},
                rendered_pages=rendered,
                not_rendered=not_rendered,
                report=str(report) if report.is_file() else None,
            )

    def as_json(self) -> dict[str, object]:
        """Return the summary as JSON can say it."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return pairs_table(f"{self.start_url} in {self.folder}", self.counts())

    def counts(self) -> list[tuple[str, str]]:
        """Return the lines of a table: what, and how much of it."""
        same = self.targets - self.relevant_pages - self.files
        targets = f"{self.targets:,} ({format_bytes(self.target_bytes)})"
        if same:
            targets += f" in {self.files:,} {'file' if self.files == 1 else 'files'};"
            targets += f" {same:,} {'has' if same == 1 else 'have'} the same bytes as another"
        lines = [
            ("requests", f"{self.requests:,} ({format_bytes(self.bytes)} in {format_seconds(self.seconds)})"),
            ("targets", targets),
            ("pages", self._pages()),
        ]
        if self.other_types:
            lines.append(("others", self._others()))
        if self.failures:
            lines.append(("failures", f"{self.failures:,}"))
        if self.deferred:
            lines.append(("outages", self._outages()))
        if self.skipped:
            reasons = _most_frequent(self.skipped_by_reason, "reason")
            lines.append(("skipped", f"{format_count(self.skipped, 'URL')} ({reasons})"))
        return lines

    def _pages(self) -> str:
        if not self.rendered_pages:
            return f"{self.pages:,}"
        failed = f", which failed for {self.not_rendered:,} of them" if self.not_rendered else ""
        return f"{self.pages:,}, {self.rendered_pages:,} rendered by a browser{failed}"

    def _others(self) -> str:
        files = format_count(sum(self.other_types.values()), "file")
        return f"{files}, not collected because of --types: {_most_frequent(self.other_types, 'type')}"

    def _outages(self) -> str:
        again = f"{format_count(self.deferred, 'URL')} could not be reached at first"
        if not self.unreached:
            return f"{again} and {'was' if self.deferred == 1 else 'were'} requested again"
        return f"{again}; {format_count(self.unreached)} still to be retried"


def _most_frequent(counts: dict[str, int], noun: str) -> str:
    named = [f"{count:,} {name}" for name, count in counts.items()]
    more = f" and {format_count(len(named) - _NAMED, f'more {noun}')}" if len(named) > _NAMED else ""
    return f"{', '.join(named[:_NAMED])}{more}"
