"""`coati.harvest`: what the command does, as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coati.budget import Budget
from coati.errors import UsageError
from coati.harvesting.files import FilesHarvest, FilesHarvested, harvest_files
from coati.harvesting.pages import PagesHarvest, PagesHarvested, harvest_pages, usual_settings
from coati.harvesting.seeds import read_seeds, seeds_in
from coati.settings.run_file import read_values, with_values
from coati.settings.run_settings import RunSettings

if TYPE_CHECKING:
    from coati.jobs.options import CrawlOptions
    from coati.live.progress import Progress


def harvest(
    source: str | Path | Sequence[str],
    *,
    sites_at_once: int | None = None,
    fair: bool = False,
    exclude_hosts: Sequence[str] = (),
    extract: bool = True,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Unpack[CrawlOptions],
) -> FilesHarvested | PagesHarvested:
    """Spend one budget over many sites; ``source`` is a file with addresses, or the addresses.

    With ``goal``, pages that meet it are collected on any hosts; with ``types``, the files of all sites. What
    the folder ``out`` holds of the same harvest is resumed. Options are those of `coati.crawl`.
    """
    seeds = read_seeds(Path(source)) if isinstance(source, str | Path) else seeds_in(source)
    given = seeds.with_headers(read_values({**options, "out": str(options.get("out", ""))}))
    if not given["out"]:
        raise UsageError("a harvest needs a folder: give `out`")
    out = Path(str(given["out"]))
    if bool(given.get("goal")) == ("types" in given):
        raise UsageError("say what to harvest: a goal for pages, or types for files; one of the two")
    excluded = frozenset(host.lower() for host in exclude_hosts)
    if given.get("goal"):
        settings = usual_settings(seeds.urls, given, excluded)
        return harvest_pages(PagesHarvest(settings=settings, out=out, extract=extract), on_progress)
    settings = with_values(RunSettings(), given)
    plan = FilesHarvest(
        urls=seeds.urls,
        out=out,
        settings=settings,
        at_once=sites_at_once,
        per_site=Budget(max_requests=settings.host_budget),
        fair=fair,
        exclude_hosts=excluded,
    )
    return harvest_files(plan, on_progress)


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
