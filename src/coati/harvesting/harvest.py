"""`coati.harvest`: what the command does, as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coati.harvesting.files_harvest import FilesHarvest, FilesHarvested, harvest_files
from coati.harvesting.harvest_place import HarvestChoices, HarvestSource, find_harvest
from coati.harvesting.pages_harvest import PagesHarvested, harvest_pages
from coati.jobs.arguments import PathText
from coati.jobs.live_progress import CrawlView, shown
from coati.jobs.notebook import is_shown
from coati.jobs.options import CrawlOptions, plain_values
from coati.jobs.own_thread import run_beside_loop
from coati.jobs.progress_bar import both
from coati.live.stop_signal import StopSignal
from coati.settings.run_file import read_values

if TYPE_CHECKING:
    from coati.live.progress import OnProgress, Progress
    from coati.settings.run_settings import RunSettings


def harvest(  # noqa: PLR0913 - one argument per option of the command
    source: PathText | Iterable[str] | None = None,
    *,
    discovery: PathText | None = None,
    sites_at_once: int | None = None,
    fair: bool = False,
    exclude_hosts: str | Iterable[str] | None = None,
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
    resumed. Options are those of `coati.crawl`.
    """
    plan, _ = find_harvest(
        HarvestSource.named(source, discovery),
        read_values(plain_values(options)),
        HarvestChoices.named(sites_at_once, exclude_hosts, fair=fair, extract=extract),
    )
    stop = stop or StopSignal()
    with shown(CrawlView(plan.settings.budget), quiet=not is_shown(show_progress)) as show:
        tell = both(show, on_progress)
        if isinstance(plan, FilesHarvest):
            return run_beside_loop(lambda: harvest_files(plan, tell, stop), stop)
        return run_beside_loop(lambda: harvest_pages(plan, tell, stop=stop), stop)


def crawl_each(
    urls: tuple[str, ...], out: Path, settings: RunSettings, on_progress: Callable[[Progress], None] | None
) -> FilesHarvested:
    """Crawl every site of a list for itself: the budget is that of each, and none waits for another."""
    own = settings.budget
    plain = replace(settings, max_requests=None, max_bytes=None, max_time=None, max_targets=None)
    plan = FilesHarvest(urls=urls, out=out, settings=plain, at_once=_SIDE_BY_SIDE, per_site=own)
    return harvest_files(plan, on_progress)


# Sites of a list that are crawled side by side; each is asked no more often than alone.
_SIDE_BY_SIDE = 100
