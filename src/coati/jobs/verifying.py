"""Check whether the files of a run are unchanged, and download damaged ones again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coati.jobs.arguments import PathText, checked_arguments, path_of
from coati.jobs.notebook_tables import rows_table
from coati.jobs.own_event_loop import run_with_own_loop
from coati.jobs.progress_bar import progress
from coati.jobs.run_place import find_place
from coati.live.stop_signal import StopSignal
from coati.runs.checked_files import CheckedFile, FileState, checked_files, restore_file
from coati.runs.layout import Layout, holds_run, run_folders
from coati.runs.lock import lock_run
from coati.runs.reader import RunReader
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_settings import SETTINGS

if TYPE_CHECKING:
    from coati.live.outcomes import FetchResult
    from coati.model import Request

_SECRETS = ("header", "cookies", "proxy")


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of reading all ``files`` of a run; ``repaired`` names those that were put back.

    Of a folder with several runs, such as that of a harvest, ``runs`` has each of them.
    """

    folder: Path
    files: int
    damaged: tuple[CheckedFile, ...]
    repaired: frozenset[str]
    runs: tuple[Verification, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every file is as it was fetched."""
        if self.runs:
            return all(run.whole for run in self.runs)
        return len(self.repaired) == len(self.damaged)

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        values = {"folder": str(self.folder), "files": self.files, "damaged": self.rows()}
        return {**values, "runs": [run.as_json() for run in self.runs]} if self.runs else values

    def rows(self) -> list[dict[str, object]]:
        """Return one object per damaged file."""
        if self.runs:
            return [{"run": run.folder.name, **row} for run in self.runs for row in run.rows()]
        return [
            {
                "file": file.name,
                "state": file.state.value,
                "url": file.url,
                "sha256": file.sha256,
                "repaired": file.name in self.repaired,
            }
            for file in self.damaged
        ]

    def _repr_html_(self) -> str:
        return rows_table(f"Damaged among {self.files:,} files in {self.folder}", self.rows())


@checked_arguments
def verify(
    folder: PathText,
    *,
    repair: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    show_progress: bool | None = None,
) -> Verification:
    """Check every file of a run against its hash; ``repair`` downloads damaged ones again, if unchanged.

    ``folder`` may also be that of a harvest, or hold several runs: then all of them are checked.
    """
    place = path_of("folder", folder)
    if holds_run(place) or not (inner := list(run_folders(place))):
        return _verify_run(place, on_progress, repair=repair, show_progress=show_progress)
    runs = tuple(_verify_run(run, on_progress, repair=repair, show_progress=show_progress) for run in inner)
    damaged = tuple(file for run in runs for file in run.damaged)
    repaired = frozenset(name for run in runs for name in run.repaired)
    return Verification(place, sum(run.files for run in runs), damaged, repaired, runs)


def _verify_run(
    place: Path,
    on_progress: Callable[[int, int], None] | None,
    *,
    repair: bool,
    show_progress: bool | None,
) -> Verification:
    damaged = []
    with RunReader(place) as reader, progress("Verifying", show_progress, on_progress) as report_progress:
        (total,) = reader.connection.execute("SELECT count(*) FROM files").fetchone()
        for done, file in enumerate(checked_files(reader), start=1):
            if file.state is not FileState.WHOLE:
                damaged.append(file)
            report_progress(done, total)
    repaired: frozenset[str] = frozenset()
    if repair and damaged:
        repaired = run_with_own_loop(lambda: _repair(place, damaged), StopSignal())
    return Verification(place, total, tuple(damaged), repaired)


def _repair(folder: Path, damaged: Sequence[CheckedFile]) -> frozenset[str]:
    """Fetch damaged files again, as the run did, and return the names of those that could be put back."""
    # It needs Scrapy, which takes a second to import.
    from coati.jobs.starts_only import crawl_starts_only

    # A run folder keeps no secret; there are no options for them here.
    given = {
        name: SETTINGS[name].read(os.environ[SETTINGS[name].variable])
        for name in _SECRETS
        if SETTINGS[name].variable in os.environ
    }
    settings = find_place((str(folder),), given).settings
    layout = Layout(folder)
    wanted = {file.url: file for file in damaged if file.url}
    repaired: set[str] = set()

    def take(request: Request, result: FetchResult) -> None:
        file = wanted.get(request.url)
        body = result.body if result.body_file is None else result.body_file
        if file is not None and body is not None and restore_file(layout.files, file, body):
            repaired.add(file.name)

    lock = lock_run(layout)
    try:
        crawl_starts_only(crawl_plan(settings, CrawlResources(on_fetched=take)), tuple(wanted))
    finally:
        lock.release()
    return frozenset(repaired)
