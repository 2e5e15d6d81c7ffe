"""`coati.discover`: what the command does, as a function, and what it returns."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coati.discovering.results import DatasetPage, Repository
from coati.discovering.searching import Discovered
from coati.discovering.searching import discover as search_live
from coati.jobs.arguments import PathText, checked_arguments, texts_of
from coati.jobs.notebook import is_shown
from coati.jobs.notebook_tables import rows_table
from coati.jobs.options import DiscoverOptions, plain_values
from coati.jobs.own_event_loop import run_with_own_loop
from coati.jobs.progress_bar import both
from coati.jobs.run_place import RunPlace, find_search_place, forget_failed_start
from coati.jobs.runs import Run
from coati.jobs.search_progress import SearchView, search_progress_shown
from coati.live.progress import OnEvent
from coati.live.stop_signal import StopSignal
from coati.reporting.report_file import write_report
from coati.runs.layout import holds_run
from coati.settings.run_file import read_values
from coati.stop_reasons import ENGINE_TROUBLE, StopReason, StopText
from coati.units import format_count

if TYPE_CHECKING:
    from coati.discovering.searching import OnSearchProgress


@dataclass(frozen=True, slots=True, repr=False)
class DiscoveryRun:
    """What `coati.discover` returns; ``found`` says how the search ended and what it found."""

    place: RunPlace
    found: Discovered
    report: Path | None

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        """Show on one line what it found and why it ended; the fields are many."""
        found = format_count(len(self.repositories), "repository", "repositories")
        words = self.engine_trouble or self.stop.text
        return f"<DiscoveryRun {str(self.folder)!r}: {found}; {words.brief}>"

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.place.folder

    @property
    def run(self) -> Run:
        """The run, for reading."""
        return Run(self.folder)

    @property
    def stop(self) -> StopReason:
        """Why it ended."""
        return self.found.result.stop

    @property
    def engine_trouble(self) -> StopText | None:
        """What to say about the search engine, where it ended the search before anything was found."""
        return None if self.found.sites else ENGINE_TROUBLE.get(self.stop)

    @property
    def repositories(self) -> list[Repository]:
        """The verified repositories, the best for the topic first."""
        return self.found.repositories

    @property
    def sites(self) -> tuple[Repository, ...]:
        """Every site that was checked, verified ones first."""
        return self.found.sites

    @property
    def dataset_pages(self) -> tuple[DatasetPage, ...]:
        """Pages with links to files of data."""
        return self.found.dataset_pages

    @property
    def exit_code(self) -> int:
        """The exit status of a command that made this search."""
        return self.stop.exit_code

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it, without the repositories."""
        found, settings = self.found, self.place.settings
        return {
            "folder": str(self.folder),
            "topic": settings.topic,
            "strategy": settings.strategy,
            "stop": self.stop.name.lower(),
            "stop_reason": self.engine_trouble.brief if self.engine_trouble else self.stop.value,
            "resumed": self.place.resumed,
            "requests": found.result.progress.requests,
            "repositories": len(found.repositories),
            "sites_checked": len(found.sites),
            "sites_rejected": sum(site.state == "rejected" for site in found.sites),
            "dataset_pages": len(found.dataset_pages),
            "queries_waiting": found.queries_waiting,
            "gave_up_after": found.gave_up_after,
            "actions_asleep": list(found.asleep),
        }

    def _repr_html_(self) -> str:
        rows: list[dict[str, object]] = [
            {
                "rank": each.rank,
                "site": each.site,
                "title": each.title,
                "files": each.files,
                "formats": " ".join(each.formats),
                "url": each.url,
            }
            for each in self.repositories
        ]
        return rows_table(f"Repositories on “{self.place.settings.topic}”: {self.stop.value}", rows)


@checked_arguments
def discover(
    topic: PathText | Iterable[str] = (),
    *,
    on_progress: OnSearchProgress | None = None,
    on_event: OnEvent | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
    **options: Unpack[DiscoverOptions],
) -> DiscoveryRun:
    """Find data repositories on a topic with search engines and links, and return the run.

    ``topic`` says what the data should be about, or names the folder of a search to resume. Other arguments
    are the settings of ``coati discover`` (`coati.DiscoverOptions`); ``search`` names the engines. Progress
    is shown in notebooks, or where ``show_progress`` says so.
    """
    place = find_search_place(
        texts_of("topic", topic), read_values(plain_values(options, DiscoverOptions.__annotations__))
    )
    stop = stop or StopSignal()
    with search_progress_shown(SearchView(place.settings.budget), quiet=not is_shown(show_progress)) as show:
        tell = both(show, on_progress)
        return run_with_own_loop(lambda: carry_out_search(place, tell, on_event, stop), stop)


def carry_out_search(
    place: RunPlace,
    on_progress: OnSearchProgress | None = None,
    on_event: OnEvent | None = None,
    stop: StopSignal | None = None,
) -> DiscoveryRun:
    """Carry a search out in its place, and write its report."""
    if not place.resumed and holds_run(place.folder):
        forget_failed_start(place.folder)
    found = search_live(
        place.settings,
        place.folder,
        time.time(),
        resumed=place.resumed,
        on_progress=on_progress,
        on_event=on_event,
        stop=stop,
    )
    return DiscoveryRun(place, found, write_report(place.folder))
