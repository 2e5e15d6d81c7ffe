"""``discover``: search for data repositories, live or over archives, and leave a run folder behind."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coati.archive.description import FILE_NAME as ARCHIVE_FILE
from coati.archive.folder_of_archives import FolderOfArchives, archives_in
from coati.discovering.results import (
    DatasetPage,
    Repository,
    SearchEnd,
    read_dataset_pages,
    read_repositories,
    write_results,
)
from coati.errors import ConfigError, UsageError
from coati.live.event_files import events_logged, events_written
from coati.live.event_lines import end_lines
from coati.runs.layout import Layout
from coati.runs.store import RunStore
from coati.settings.crawl_plan import CrawlResources, crawl_plan
from coati.settings.run_archive import writable_archive
from coati.settings.run_file import to_toml_values
from coati.stop_reasons import StopReason
from coati.strategies.discovery.searcher import Searcher
from coati.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coati.live.plan import CrawlResult
    from coati.live.progress import OnEvent, Progress
    from coati.live.read_through import ArchiveLike
    from coati.live.stop_signal import StopSignal
    from coati.settings.run_settings import RunSettings
    from coati.strategies.strategy import Strategy

    OnSearchProgress = Callable[["SearchProgress"], None]


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search."""

    crawl: Progress
    pages_analysed: int
    sites_checked: int
    repositories: int


@dataclass(frozen=True, slots=True)
class Discovered:
    """How a search ended, and what it found: every site that was checked, verified ones first.

    ``asleep`` names the actions that no engine allows, ``queries_waiting`` counts the queries that
    ``max_queries`` did not allow, and ``gave_up_after`` the requests without a new repository that ended it
    (0: it ended for another reason).
    """

    folder: Path
    result: CrawlResult
    sites: tuple[Repository, ...]
    dataset_pages: tuple[DatasetPage, ...]
    asleep: tuple[str, ...]
    queries_waiting: int
    gave_up_after: int = 0

    @property
    def repositories(self) -> list[Repository]:
        """The verified repositories, the best for the topic first."""
        return [site for site in self.sites if site.rank is not None]


def discover(  # noqa: PLR0913 - each by name
    settings: RunSettings,
    folder: Path,
    now: float,
    *,
    resumed: bool = False,
    on_progress: OnSearchProgress | None = None,
    on_event: OnEvent | None = None,
    stop: StopSignal | None = None,
) -> Discovered:
    """Search for repositories; ``settings`` are those of `coati.settings.discovery.search_settings`.

    ``now`` is the time at which the session begins, in seconds since the epoch.
    """
    # Scrapy takes a second to import, and `--help` should not wait for it.
    from coati.live.running import crawl as crawl_live

    searching: list[Searcher] = []
    with ExitStack() as stack:
        archive = stack.enter_context(_archive(settings))
        on_event = stack.enter_context(events_written(settings.events, on_event))
        on_event, log = stack.enter_context(events_logged(settings.log_file, on_event))
        values = to_toml_values(settings)
        store = stack.enter_context(RunStore.begin(folder, values, now, resumed=resumed))
        log(f"coati {__version__}: {settings.topic} into {folder.absolute()}")
        resources = CrawlResources(store=store, archive=archive, on_event=on_event, stop=stop)
        plan = crawl_plan(settings, resources)

        def new_strategy() -> Strategy:
            searching[:] = [_searcher(plan.new_strategy())]
            return searching[0]

        def report(progress: Progress) -> None:
            if on_progress is not None:
                on_progress(SearchProgress(progress, *searching[0].counts()))

        result = crawl_live(replace(plan, new_strategy=new_strategy, on_progress=report))
        for line in end_lines(result):
            log(line)
    return _results(settings, folder, result, searching[0])


def _searcher(strategy: Strategy) -> Searcher:
    if not isinstance(strategy, Searcher):
        raise UsageError("this strategy does not search for repositories")
    return strategy


def _results(settings: RunSettings, folder: Path, result: CrawlResult, strategy: Searcher) -> Discovered:
    with closing(sqlite3.connect(Layout(folder).database, isolation_level=None)) as connection:
        sites = read_repositories(folder, connection, strategy.findings())
        pages = read_dataset_pages(connection, sites, settings.topic)
        given_up = strategy.gave_up_after if result.stop is StopReason.FINISHED else 0
        end = SearchEnd(strategy.queries_waiting, given_up)
        write_results(folder, connection, sites, pages, end)
    return Discovered(folder, result, tuple(sites), tuple(pages), tuple(strategy.asleep()), *end)


@contextmanager
def _archive(settings: RunSettings) -> Iterator[ArchiveLike | None]:
    if not settings.archive:
        yield None
        return
    folder = Path(settings.archive)
    if settings.offline:
        with FolderOfArchives(archives_in(folder)) as archives:
            yield archives
        return
    if not (folder / ARCHIVE_FILE).is_file() and folder.is_dir() and any(folder.glob(f"*/{ARCHIVE_FILE}")):
        raise ConfigError(f"{folder} holds several archives, which are only read: use --offline")
    with writable_archive(folder, settings, folder.name, "coati discover") as archive:
        yield archive
