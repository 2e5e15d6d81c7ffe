"""``coati harvest``: one budget over many sites."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coati.budget import Budget
from coati.cli.setting_options import SettingsCommand, given_settings, setting_option
from coati.cli.terminal import say
from coati.errors import ConfigError, UsageError
from coati.harvesting.files import FilesHarvest, harvest_files
from coati.harvesting.folder import HarvestLayout, sums_of
from coati.harvesting.seeds import SHOWN_LINES, Seeds, read_seeds, seeds_of_discovery
from coati.harvesting.sites import read_hosts
from coati.jobs.live_progress import CrawlView, shown
from coati.runs.settings_file import read_settings
from coati.settings.run_file import read_values, with_values
from coati.settings.run_settings import SETTINGS, RunSettings
from coati.units import format_bytes, format_count, format_seconds
from coati.web.unseen import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coati.harvesting.files import FilesHarvested

# The settings of a crawl that mean something for many sites at once.
_SETTINGS = (
    "types", "strategy", "seed", "stop_when_dry", "scope", "include", "exclude", "sitemaps",
    "max_requests", "max_bytes", "max_time", "max_targets", "max_file_size",
    "delay", "contact", "header", "proxy", "limits", "out", "folders", "format", "quiet",
)  # fmt: skip

# Sites that are shown after a harvest; sites.csv has all.
_SHOWN_SITES = 20
_PLAIN_WIDTH = 140

_ABOUT = """Spend one budget over many sites.

LIST is a file with one address per line, or the folder of a harvest to resume. With --types the files of all
sites are taken: each site is crawled by a strategy of its own, and every request goes to the site that
promises most. Everything lands in one folder (--out): a run folder per site, the list of all files, and a
report that ranks the sites. The same command in the same folder continues where it was.
"""


def _parameters() -> list[click.Parameter]:
    return [
        click.Argument(["source"], metavar="[LIST]", required=False, type=click.Path(path_type=Path)),
        *(setting_option(SETTINGS[name]) for name in _SETTINGS),
        click.Option(
            ["--from", "discovery"],
            type=click.Path(path_type=Path),
            help="Take the sites that a discovery left in this folder, instead of a list.",
        ),
        click.Option(
            ["--sites-at-once"],
            type=click.IntRange(min=1),
            help="Sites that are crawled at the same time; fewer bring more files for the same budget, and"
            " take longer.  [default: an eighth of the sites, at most 64]",
        ),
        click.Option(
            ["--host-budget"], type=click.IntRange(min=1), help="The most requests that one site may get."
        ),
        click.Option(["--fair"], is_flag=True, help="Give each site an equal share of half the budget."),
        click.Option(
            ["--exclude-hosts"],
            type=click.Path(path_type=Path),
            help="A file with host names, one per line, that are left alone; so is what lies below them.",
        ),
    ]


@click.command(cls=SettingsCommand, params=_parameters(), help=_ABOUT)
@click.pass_context
def harvest(  # noqa: PLR0917 - one parameter an option
    ctx: click.Context,
    /,
    source: Path | None,
    discovery: Path | None,
    sites_at_once: int | None,
    host_budget: int | None,
    fair: bool,
    exclude_hosts: Path | None,
    **_: object,
) -> int:
    """Find out what is wanted, and do it."""
    given = given_settings(ctx)
    out, seeds, begun = _place(source, discovery, given)
    settings = with_values(RunSettings(), {**_settings_in(begun), **given})
    plan = FilesHarvest(
        urls=seeds.urls,
        out=out,
        settings=settings,
        at_once=sites_at_once or begun.get("sites_at_once") or None,
        per_site=Budget(max_requests=host_budget or begun.get("host_budget") or None),
        fair=fair or begun.get("fair", False),
        exclude_hosts=frozenset(begun.get("exclude_hosts", ()))
        if exclude_hosts is None
        else _hosts_in(exclude_hosts),
    )
    _say_about(seeds)
    if not settings.quiet:
        _say_what_begins(plan)
    view = CrawlView(settings.budget)
    with shown(view, quiet=settings.quiet) as on_progress:
        harvested = harvest_files(plan, on_progress)
    _show(harvested, settings.format)
    return harvested.stop.exit_code


def _place(
    source: Path | None, discovery: Path | None, given: Mapping[str, object]
) -> tuple[Path, Seeds, dict[str, Any]]:
    """Find the folder, the addresses, and what a harvest in that folder was begun with."""
    if source is not None and discovery is not None:
        raise UsageError("give a list of addresses or --from with the folder of a discovery, not both")
    if source is not None and source.is_dir():
        if not HarvestLayout(source).settings.is_file():
            raise ConfigError(f"there is no harvest in {source} to resume; give a file with addresses")
        begun = read_settings(HarvestLayout(source).settings)
        return source, Seeds(str(source), tuple(begun["urls"])), begun
    if source is not None:
        seeds = read_seeds(source)
    elif discovery is not None:
        seeds = seeds_of_discovery(discovery)
    else:
        raise UsageError("nothing to harvest: give a file with one address per line, or --from DIR")
    if "types" not in given:
        raise UsageError("say what to harvest: --types data takes data files (`coati types` lists more)")
    out = Path(str(given.get("out") or Path(seeds.source).with_suffix("").name + "-harvest"))
    return out, seeds, {}


def _settings_in(stored: Mapping[str, object]) -> dict[str, object]:
    known = {name: value for name, value in stored.items() if name in SETTINGS and name != "urls"}
    return read_values(known)


def _hosts_in(file: Path) -> frozenset[str]:
    try:
        return read_hosts(file.read_text("utf-8-sig", "replace").splitlines())
    except OSError as error:
        raise ConfigError(f"exclude-hosts: {file} cannot be read: {error.strerror}") from None


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
            f"{format_count(seeds.duplicates, 'address', 'addresses')} stood in the list more than once.",
            err=True,
        )


def _say_what_begins(plan: FilesHarvest) -> None:
    sites = plan.sites()
    at_once = plan.sites_at_once(len(sites))
    settings = plan.settings
    what = f"{settings.types} from {format_count(len(sites), 'site')} by {settings.strategy}"
    say(f"Harvesting {what} into {plan.out}, {at_once} at a time.", err=True)
    seconds = plan.estimated_seconds()
    if seconds is None:
        say("No budget of requests is set (--max-requests): this may take very long.", err=True)
    elif seconds:
        pace = f"one request every {format_seconds(settings.delay)} per site"
        say(f"With {pace}, the budget lasts about {format_seconds(seconds)}.", err=True)
    if not settings.contact:
        say("Hint: --contact YOUR-ADDRESS (or COATI_CONTACT) tells owners of sites whom to ask.", err=True)


def _show(harvested: FilesHarvested, form: str) -> None:
    sums = sums_of(harvested.sites)
    layout = harvested.layout
    if form == "json":
        for site in harvested.sites:
            say(json.dumps({"kind": "site", **asdict(site)}))
        total = {"kind": "total", "stop": harvested.stop.name.lower(), "stop_reason": harvested.stop.value}
        say(json.dumps({**total, **sums, "resumed": harvested.resumed, "folder": str(layout.folder)}))
        return
    say(f"Stopped: {harvested.stop.value}.")
    sites = format_count(sums["sites"], "site")
    say(f"  requests:   {sums['requests']:,} ({format_bytes(sums['bytes'])}) to {sites}")
    found = format_bytes(sums["target_bytes"])
    say(f"  targets:    {sums['targets']:,} ({found}), listed in {layout.listing}")
    say(f"  report:     {layout.report}")
    plain = Console()
    (plain if plain.is_terminal else Console(width=_PLAIN_WIDTH)).print(_table(harvested))
    if harvested.stop.resumable:
        say(
            f"Next: `coati harvest {layout.folder}` with a larger budget continues where it stopped.",
            err=True,
        )


def _table(harvested: FilesHarvested) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("site", overflow="fold")
    table.add_column("targets", justify="right")
    table.add_column("requests", justify="right")
    table.add_column("per 100", justify="right")
    table.add_column("how it ended", overflow="fold")
    for site in harvested.sites[:_SHOWN_SITES]:
        counts = f"{site.targets:,}", f"{site.requests:,}", f"{site.targets_per_100:.0f}"
        row = (site.site, *counts, site.stop_reason or "not ended")
        table.add_row(*(Text(safe(cell)) for cell in row))
    if len(harvested.sites) > _SHOWN_SITES:
        table.add_row(f"… and {len(harvested.sites) - _SHOWN_SITES} more in sites.csv")
    return table
