"""Runs that exist: open one, list those below a folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coati.errors import UsageError
from coati.jobs.arguments import PathText, checked_arguments, count_of, path_of
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.run_details import RunDetails
from coati.jobs.run_summary import RunSummary
from coati.jobs.verifying import Verification, verify
from coati.reporting.explaining import explain_url
from coati.reporting.explanation import Explanation
from coati.reporting.report_file import write_report
from coati.runs.errors import RunError
from coati.runs.layout import Layout, run_folders
from coati.runs.reader import RunReader
from coati.runs.shared_titles import SHARED_TITLES, TELLING_TITLE

_FILES = f"""
{SHARED_TITLES}
SELECT file, url, {TELLING_TITLE} AS title, media_type, size_bytes, sha256, fetched_at, found_on
FROM targets ORDER BY request
"""  # noqa: S608 - our own text


@dataclass(frozen=True, slots=True)
class RunFile:
    """A collected file; ``path`` is where it is stored."""

    path: Path
    url: str
    title: str
    media_type: str
    size_bytes: int
    sha256: str
    fetched_at: str
    found_on: str | None


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run, for reading, also while the run is in progress."""

    folder: Path

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def summary(self) -> RunSummary:
        """What it did, in a few numbers."""
        return RunSummary.read(self.folder)

    @property
    def settings(self) -> dict[str, object]:
        """Every setting as it was used, secrets left out."""
        with RunReader(self.folder) as reader:
            return reader.settings

    def details(self, limit: int = 50) -> RunDetails:
        """List what it did: groups of links, types, errors, skipped URLs and more, ``limit`` rows of each."""
        limit = count_of("limit", limit)
        with RunReader(self.folder) as reader:
            return RunDetails.read(reader, limit)

    def files(self) -> list[RunFile]:
        """List the targets that it kept, in the order in which they came."""
        folder = Layout(self.folder).files
        with RunReader(self.folder) as reader:
            rows = reader.connection.execute(_FILES).fetchall()
        return [RunFile(folder / row[0], *row[1:]) for row in rows if row[0]]

    @checked_arguments
    def query(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> list[dict[str, object]]:
        """Query the run's database, read-only; the reference of the run folder lists its tables.

        Raises `coati.errors.UsageError` where the query fails.
        """
        if isinstance(parameters, str) or not isinstance(parameters, Sequence | Mapping):
            raise UsageError(
                f"parameters: {parameters!r} is not a list; give one value for each ? of the query"
            )
        bound = parameters if isinstance(parameters, Mapping) else tuple(parameters)
        with RunReader(self.folder) as reader:
            try:
                found = reader.connection.execute(sql, bound)
                return [dict(row) for row in found]
            except sqlite3.Error as error:
                raise UsageError(f"the query failed: {error}") from error

    @checked_arguments
    def explain(self, url: str) -> Explanation:
        """Explain why a URL was requested or skipped."""
        return explain_url(self.folder, url)

    def report(self, out: str | Path | None = None) -> Path:
        """Write ``report.html`` again, or the report to another file, and return its path."""
        return report(self.folder, out)

    def verify(
        self,
        *,
        repair: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        show_progress: bool | None = None,
    ) -> Verification:
        """Read every file against its hash."""
        return verify(self.folder, repair=repair, on_progress=on_progress, show_progress=show_progress)

    def _repr_html_(self) -> str:
        summary = asdict(self.summary)
        shown = ("strategy", "types", "stop_reason", "requests", "targets", "pages", "failures", "report")
        return pairs_table(f"{summary['start_url']} in {self.folder}", ((n, summary[n]) for n in shown))


@checked_arguments
def open_run(folder: PathText) -> Run:
    """Open the folder of a run; raises `coati.runs.RunError` where it cannot be read."""
    place = path_of("folder", folder)
    with RunReader(place):
        return Run(place)


@checked_arguments
def find_runs(
    folder: PathText = ".", on_problem: Callable[[RunError], None] | None = None
) -> list[RunSummary]:
    """Summarise the runs below a folder, the newest first; ``on_problem`` gets unreadable ones."""
    place = path_of("folder", folder)
    if not place.is_dir():
        raise UsageError(f"there is no folder {place}")
    found = []
    for path in run_folders(place):
        try:
            found.append(RunSummary.read(path))
        except RunError as error:
            if on_problem is not None:
                on_problem(error)
    return sorted(found, key=lambda summary: summary.started_at, reverse=True)


@checked_arguments
def explain(url: str, run: PathText = ".") -> Explanation:
    """Explain why a URL was requested or skipped in a run.

    ``url`` may also be a path on the run's site, or the name of a file that it collected.
    """
    return explain_url(path_of("run", run), url)


@checked_arguments
def report(run: PathText, out: str | Path | None = None) -> Path:
    """Rewrite ``report.html`` of a run, also while it is in progress, and return its path.

    ``out`` is another file to write it to, where the folder of the run cannot be written.
    """
    return write_report(path_of("run", run), None if out is None else Path(out))
