"""What is printed when a harvest has ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from coati.budget import Limit
from coati.cli.crawl_result import say_commands
from coati.cli.terminal import print_tables, say, say_json
from coati.harvesting.extraction import Extraction
from coati.harvesting.files_harvest import FilesHarvested
from coati.harvesting.folder import sums_of
from coati.harvesting.pages_harvest import JSON_LD, PagesHarvested
from coati.stop_reasons import StopReason
from coati.units import format_bytes, format_count
from coati.web.invisible_characters import safe

# Sites that are shown after a harvest; files have all.
_SHOWN_SITES = 20
# How a site ended that may be there again later.
_AWAY = frozenset({StopReason.SITE_SILENT.value, StopReason.RATE_LIMITED.value})
# Ends that a larger budget would have put off.
_SPENT = frozenset(map(StopReason.of_limit, Limit))


def show_files(harvested: FilesHarvested, form: str, again: str = "") -> None:
    """Print what a harvest of files brought: one object per site and one for all, or a table.

    ``again`` is what continues it, `coati harvest` with its folder unless given.
    """
    sums, layout = sums_of(harvested.sites), harvested.layout
    say_commands(harvested.commands)
    if form == "json":
        for site in harvested.sites:
            say_json({"what": "site", **asdict(site)})
        say_json({"what": "total", **harvested.as_json()})
        return
    say(f"Stopped: {harvested.stop.text.brief}.")
    sites = format_count(sums["sites"], "site")
    say(f"  requests:   {sums['requests']:,} ({format_bytes(sums['bytes'])}) to {sites}")
    found = format_bytes(sums["target_bytes"])
    say(f"  targets:    {sums['targets']:,} ({found}), listed in {layout.listing}")
    say(f"  report:     {layout.report}")
    rows = [
        (site.site, site.targets, site.requests, site.stop_reason or "not ended") for site in harvested.sites
    ]
    print_sites(rows, SiteColumns("site"), "sites.csv")
    away = sum(site.stop_reason in _AWAY for site in harvested.sites)
    say_next(harvested.stop, again or f"`coati harvest {layout.folder}`", away)


def show_pages(harvested: PagesHarvested, form: str) -> None:
    """Print what a harvest of pages brought: one object per host and one for all, or a table."""
    totals, extraction = harvested.totals, harvested.extraction
    if form == "json":
        for host in harvested.hosts:
            say_json({"what": "site", **host._asdict()})
        say_json({"what": "total", **harvested.as_json()})
        return
    for message in harvested.messages:
        say(f"Note: {message}", err=True)
    say(f"Stopped: {harvested.stop.text.brief}.")
    hosts = format_count(len(harvested.hosts), "host")
    say(f"  requests:   {totals.requests:,} ({format_bytes(totals.bytes)}) to {hosts}")
    share = f" ({100 * totals.relevant_pages / totals.pages:.0f} %)" if totals.pages else ""
    say(f"  relevant:   {totals.relevant_pages:,} of {format_count(totals.pages, 'page')}{share}")
    if harvested.broken_scripts:
        say(f"  broken:     {format_count(harvested.broken_scripts, 'script')} of JSON-LD, left aside")
    if extraction is not None:
        _say_extraction(extraction, harvested.folder)
    say(f"  report:     {harvested.folder / 'report.html'}")
    rows = [(host.host, host.relevant, host.requests, host.ended or "") for host in harvested.hosts]
    print_sites(rows, SiteColumns("host", "relevant", "no longer requested because"), "run.sqlite")
    say_next(harvested.stop, f"`coati harvest {harvested.folder}`")


def _say_extraction(extraction: Extraction, folder: Path) -> None:
    """Say what the full reading brought, and both costs."""
    say(
        f"  statements: {extraction.statements:,} from {format_count(extraction.pages, 'page')},"
        f" in {folder / 'run.sqlite'} and {folder / JSON_LD}"
    )
    if extraction.pages_now:
        detector = 1000 * extraction.detector_seconds / extraction.pages_now
        full = 1000 * extraction.seconds / extraction.pages_now
        say(f"  CPU time:   {detector:.1f} ms per page to label it, {full:.0f} ms to read it in full")
    if extraction.failed:
        pages = format_count(extraction.failed, "page")
        say(f"  incomplete: {pages}, by broken or too much markup (table extractions)", err=True)


def say_next(stop: StopReason, again: str, away: int = 0) -> None:
    """Say how to continue, where something is left; ``again`` is what to run."""
    if away:
        sites = format_count(away, "site")
        why = f"{sites} stopped responding or asked for a pause"
        say(f"Next: {why}. Run {again} later to finish them.", err=True)
    elif stop.resumable:
        more = " with a larger budget" if stop in _SPENT else ""
        say(f"Next: to continue, run {again}{more}.", err=True)


class SiteColumns(NamedTuple):
    """How the columns of a table of sites are called."""

    site: str
    found: str = "targets"
    end: str = "how it ended"


def print_sites(rows: Sequence[tuple[str, int, int, str]], columns: SiteColumns, everything: str) -> None:
    """Print sites or hosts, with what each gave; ``everything`` is the file that lists all of them."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(columns.site, overflow="fold")
    for name in (columns.found, "requests", "per 100"):
        table.add_column(name, justify="right")
    # An empty column would only raise a question.
    ends = any(end for *_, end in rows)
    if ends:
        table.add_column(columns.end, overflow="fold")
    for cells in _cells(rows[:_SHOWN_SITES]):
        table.add_row(*(Text(safe(cell)) for cell in (cells if ends else cells[:-1])))
    if len(rows) > _SHOWN_SITES:
        table.add_row(f"… and {len(rows) - _SHOWN_SITES} more in {everything}")
    print_tables(table)


def _cells(rows: Iterable[tuple[str, int, int, str]]) -> Iterable[tuple[str, ...]]:
    for name, found, requests, ended in rows:
        per_hundred = 100 * found / requests if requests else 0.0
        yield name, f"{found:,}", f"{requests:,}", f"{per_hundred:.0f}", ended
