"""`coati.harvest`: what the command does, as a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from coati.budget import Budget
from coati.harvesting.files_harvest import FilesHarvest, FilesHarvested, harvest_files
from coati.harvesting.harvest_place import HarvestChoices, HarvestSource, find_crawls, find_harvest
from coati.harvesting.pages_harvest import PagesHarvested, harvest_pages
from coati.jobs.arguments import PathText, checked_arguments
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.jobs.notebook import is_shown
from coati.jobs.options import CrawlOptions, plain_values
from coati.jobs.own_event_loop import run_with_own_loop
from coati.jobs.progress_bar import both
from coati.live.progress import OnProgress
from coati.live.stop_signal import StopSignal
from coati.settings.run_file import read_run_file, read_values


@checked_arguments
def harvest(  # noqa: PLR0913 - one argument per option of the command
    source: PathText | Iterable[str] | None = None,
    *,
    discovery: PathText | None = None,
    sites_at_once: int | None = None,
    fair: bool = False,
    exclude_hosts: str | Path | Iterable[str] | None = None,
    extract: bool = True,
    on_progress: OnProgress | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
    **options: Unpack[CrawlOptions],
) -> FilesHarvested | PagesHarvested:
    """Share one budget among many sites.

    ``source`` is a file with addresses, the addresses, or the folder of a harvest to resume; ``discovery`` is
    the folder of a search whose sites are taken instead. With ``goal``, pages that meet it are collected on
    any hosts; with ``types``, the files of all sites. What the folder ``out`` holds of the same harvest is
    resumed. ``exclude_hosts`` are host names, or the path of a file with one per line. Options are those of
    `coati.crawl`.
    """
    plan, seeds = find_harvest(
        HarvestSource.named(source, discovery),
        read_values(plain_values(options, CrawlOptions.__annotations__)),
        HarvestChoices.named(sites_at_once, exclude_hosts, fair=fair, extract=extract),
    )
    stop = stop or StopSignal()
    with progress_shown(CrawlView(plan.settings.budget), quiet=not is_shown(show_progress)) as show:
        tell = both(show, on_progress)
        if isinstance(plan, FilesHarvest):
            files = run_with_own_loop(lambda: harvest_files(plan, tell, stop), stop)
            return replace(files, left_out=seeds.wrong)
        pages = run_with_own_loop(lambda: harvest_pages(plan, tell, stop=stop), stop)
        return replace(pages, left_out=seeds.wrong)


@checked_arguments
def crawl_each(
    source: PathText | Iterable[str],
    *,
    run_file: str | Path | None = None,
    on_progress: OnProgress | None = None,
    stop: StopSignal | None = None,
    show_progress: bool | None = None,
    **options: Unpack[CrawlOptions],
) -> FilesHarvested:
    """Crawl each site of a list separately, with its own budget; `coati.harvest` shares one among all.

    ``source`` is a file with addresses, or the addresses. Each site has a run folder below ``out``; the same
    call resumes those that were stopped. Options are those of `coati.crawl`.
    """
    given = {} if run_file is None else read_run_file(Path(run_file))
    given.update(read_values(plain_values(options, CrawlOptions.__annotations__)))
    plan, seeds = find_crawls(HarvestSource.named(source), given)
    stop = stop or StopSignal()
    with progress_shown(CrawlView(Budget()), quiet=not is_shown(show_progress)) as show:
        tell = both(show, on_progress)
        harvested = run_with_own_loop(lambda: harvest_files(plan, tell, stop), stop)
    return replace(harvested, left_out=seeds.wrong)
