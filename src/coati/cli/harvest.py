"""``coati harvest``: one budget over many sites."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from coati.budget import Budget
from coati.cli.fleet_harvest import harvest_with_fleet
from coati.cli.harvest_result import show_files, show_pages
from coati.cli.setting_options import SettingsCommand, given_settings, no_stop_option, setting_option
from coati.cli.terminal import say
from coati.errors import UsageError
from coati.harvesting.files_harvest import FilesHarvest, harvest_files
from coati.harvesting.harvest_place import HarvestChoices, HarvestSource, find_crawls, find_harvest
from coati.harvesting.pages_harvest import DEFAULT_STRATEGY, PAGES_AT_ONCE, PagesHarvest, harvest_pages
from coati.harvesting.seeds import SHOWN_LINES, Seeds
from coati.jobs.live_progress import CrawlView, progress_shown
from coati.markup.extraction import require_extruct
from coati.settings.run_settings import SETTINGS
from coati.units import format_count, format_delay, format_seconds
from coati.web.urls import host_of

# The settings of a crawl that mean something for many sites at once.
_SETTINGS = (
    "goal", "types", "strategy", "seed", "stop_when_dry", "scope", "include", "exclude", "sitemaps",
    "max_requests", "max_bytes", "max_time", "max_targets", "host_budget", "max_file_size",
    "delay", "concurrency", "contact", "user_agent", "limit_rate", "user", "password_file", "header", "proxy",
    "render", "limits", "out", "folders", "log_file", "exec", "exec_timeout", "format", "quiet",
)  # fmt: skip
# Where a harvest has other defaults than a crawl; `--types` and `--goal` have none, since one must be given.
_DEFAULTS = {
    "types": "",
    "strategy": f"scent with --types, {DEFAULT_STRATEGY} with --goal",
    "scope": "domain with --types, any with --goal",
    "concurrency": f"one per site with --types, {PAGES_AT_ONCE} with --goal",
}

_ABOUT = """Share one budget among many sites.

LIST is a file with one URL per line, or the folder of a harvest to resume.

With --goal, pages with structured data are collected, on the hosts of the list and on any hosts that they
link to (--scope host or domain restricts it to those of the list). Relevant pages are read in full
afterwards.

With --types, the files of all sites are collected: each site has its own strategy and run folder, and each
request goes to the most promising site. A report ranks the sites.

The same command with the same folder resumes a stopped harvest.

With --store, many machines share the work: sites are crawled in slices, and everything is written to a store
that all machines can reach (a folder, s3://bucket/name, ...). --cluster sets the machines.
"""


def _parameters() -> list[click.Parameter]:
    return [
        click.Argument(["source"], metavar="[LIST]", required=False, type=click.Path(path_type=Path)),
        *(setting_option(SETTINGS[name], _DEFAULTS.get(name)) for name in _SETTINGS),
        no_stop_option(),
        click.Option(
            ["--from", "discovery"],
            type=click.Path(path_type=Path),
            help="Take the sites from this folder of `coati discover`, instead of a list.",
        ),
        click.Option(
            ["--exclude-hosts"],
            type=click.Path(path_type=Path),
            help="File with host names to skip, one per line; their subdomains are skipped too.",
        ),
        click.Option(
            ["--sites-at-once"],
            type=click.IntRange(min=1),
            help="With --types: how many sites to crawl at the same time. Fewer find more files for the"
            " same budget, but take longer.  [default: an eighth of the sites, at most 64]",
        ),
        click.Option(
            ["--fair"], is_flag=True, help="With --types: give each site an equal share of half the budget."
        ),
        click.Option(
            ["--store"],
            metavar="URL",
            help="With --types: write everything to this store, crawling in slices (needs the extra"
            " `fleet`).",
        ),
        click.Option(
            ["--cluster"],
            metavar="WHERE",
            help="With --store: where to run. local:2 starts two processes on this machine,"
            " tcp://HOST:8786 is the scheduler of a Dask cluster.  [default: this process]",
        ),
        click.Option(
            ["--events"],
            type=click.Path(path_type=Path),
            help="With --store: append events to this file, one JSON object per line.",
        ),
        click.Option(
            ["--extract/--no-extract"],
            default=True,
            help="With --goal: read relevant pages in full afterwards (needs the extra `markup`).",
        ),
    ]


@click.command(cls=SettingsCommand, params=_parameters(), help=_ABOUT)
@click.pass_context
def harvest(
    ctx: click.Context,
    /,
    source: Path | None,
    discovery: Path | None,
    exclude_hosts: Path | None,
    **own: Any,  # noqa: ANN401 - the other options
) -> int:
    """Read the options, carry the harvest out, and return the exit code."""
    given = given_settings(ctx)
    if given.get("goal") and own["store"]:
        raise UsageError(
            "--store works with --types only: pages that meet a goal are collected by one machine"
        )
    plan, seeds = find_harvest(
        HarvestSource(source, discovery),
        given,
        HarvestChoices.named(own["sites_at_once"], exclude_hosts, fair=own["fair"], extract=own["extract"]),
    )
    _say_about(seeds)
    if isinstance(plan, PagesHarvest):
        return _harvest_pages(plan)
    if own["store"]:
        return harvest_with_fleet(plan, own["store"], own["cluster"], own["events"])
    if own["cluster"] or own["events"]:
        raise UsageError("--cluster and --events need --store")
    return _harvest_files(plan)


def _harvest_files(plan: FilesHarvest) -> int:
    settings = plan.settings
    if not settings.quiet:
        _say_files_begin(plan)
    with progress_shown(CrawlView(settings.budget), quiet=settings.quiet) as on_progress:
        harvested = harvest_files(plan, on_progress)
    show_files(harvested, settings.format)
    return harvested.exit_code


def _harvest_pages(plan: PagesHarvest) -> int:
    settings = plan.settings
    if plan.extract:
        require_extruct()
    if not settings.quiet:
        _say_pages_begin(plan)
    with progress_shown(CrawlView(settings.budget), quiet=settings.quiet) as on_progress:
        harvested = harvest_pages(plan, on_progress, None if settings.quiet else _Extracted().tell)
    show_pages(harvested, settings.format)
    return harvested.exit_code


# The fewest pages read in full that are worth a line: some seconds of work.
_PAGES_TOLD = 100


class _Extracted:
    """Says from time to time how many pages were read in full."""

    def __init__(self) -> None:
        self._told = 0

    def tell(self, done: int, pages: int) -> None:
        """Say it for every tenth of the pages, but not for a few."""
        if done == pages or done - self._told >= max(_PAGES_TOLD, pages // 10):
            self._told = done
            say(f"Read {done:,} of {format_count(pages, 'relevant page')} in full.", err=True)


def _say_about(seeds: Seeds) -> None:
    """Say what was wrong with the list; the rest of it is used."""
    for line in seeds.wrong[:SHOWN_LINES]:
        say(f"Left out: {line}", err=True)
    if len(seeds.wrong) > SHOWN_LINES:
        say(
            f"Left out: {format_count(len(seeds.wrong) - SHOWN_LINES, 'more line')} of {seeds.source}",
            err=True,
        )
    if seeds.duplicates:
        say(
            f"{format_count(seeds.duplicates, 'URL')} occurred more than once in the list.",
            err=True,
        )
    if seeds.bare:
        lines = format_count(seeds.bare, "URL")
        say(f"Without http:// or https://, and so requested over https: {lines}.", err=True)


def _say_files_begin(plan: FilesHarvest) -> None:
    sites = plan.sites()
    at_once = plan.sites_at_once(len(sites))
    settings = plan.settings
    what = f"{settings.types} from {format_count(len(sites), 'site')} by {settings.strategy}"
    say(f"Harvesting {what} into {plan.out}, {at_once} at a time.", err=True)
    _say_estimate(plan)


def _say_pages_begin(plan: PagesHarvest) -> None:
    settings = plan.settings
    hosts = format_count(len({host_of(url) for url in settings.urls}), "host")
    where = {"any": " and any that they lead to,", "domain": " and what lies below them,"}
    what = f"{' and '.join(settings.goal)} from {hosts}{where.get(settings.scope, ' only,')}"
    say(f"Harvesting {what} by {settings.strategy} into {plan.out}.", err=True)
    _say_estimate(plan)


def _say_estimate(plan: FilesHarvest | PagesHarvest) -> None:
    """Say how long it takes, as far as that is known."""
    settings, left = plan.settings, plan.requests_left()
    if left is None:
        say("No --max-requests is set: this may take very long.", err=True)
    elif settings.delay and left:
        pace = f"one request every {format_delay(settings.delay)} per host"
        whole = left == settings.max_requests
        what = "the budget lasts" if whole else f"the {left:,} requests left of the budget last"
        say(f"With {pace}, {what} about {format_seconds(plan.estimated_seconds(left))}.", err=True)
    if not settings.contact:
        say(
            "Hint: add --contact YOUR-ADDRESS (or set COATI_CONTACT) so that owners of sites can reach you.",
            err=True,
        )


def crawl_list(file: Path, start: tuple[str, ...], given: Mapping[str, object]) -> int:
    """Crawl every site of a list separately: `coati crawl --from-file`."""
    if start:
        raise UsageError("give start URLs or --from-file, not both")
    plan, seeds = find_crawls(HarvestSource(file), given)
    _say_about(seeds)
    with progress_shown(CrawlView(Budget()), quiet=plan.settings.quiet) as on_progress:
        harvested = harvest_files(plan, on_progress)
    # `coati harvest` would share one budget.
    show_files(harvested, plan.settings.format, again="the same command")
    return harvested.exit_code
