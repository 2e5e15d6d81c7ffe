"""The report of a harvest over many sites: which had most files, and where their own reports are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from coati.reporting.page import page_around
from coati.reporting.safe_html import Html, element, shortened, web_link
from coati.reporting.tables import Column, TableCell, counted, table
from coati.runs.durable import write_whole
from coati.stop_reasons import text_for
from coati.units import format_bytes, format_count, format_seconds


class SiteRow(Protocol):
    """What the report says of one site; ``folder`` is its run folder, within that of the harvest."""

    @property
    def site(self) -> str: ...
    @property
    def start_url(self) -> str: ...
    @property
    def requests(self) -> int: ...
    @property
    def targets(self) -> int: ...
    @property
    def target_bytes(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def stop_reason(self) -> str | None: ...
    @property
    def folder(self) -> str: ...


_COLUMNS = (
    Column("Site"),
    Column("Files", numeric=True),
    Column("Size", numeric=True),
    Column("Requests", numeric=True),
    Column("Files per 100 requests", numeric=True),
    Column("How it ended", wide=True),
)


def write_sites_report(path: Path, sites: Sequence[SiteRow], stop_reason: str) -> None:
    """Write the report in place of an older one; sites stand in the order in which they are given."""
    write_whole(path, [sites_page(sites, stop_reason).encode()])


def sites_page(sites: Sequence[SiteRow], stop_reason: str, all_files: str = "files.csv") -> str:
    """Build the page; ``all_files`` is where the table of all files is, seen from it."""
    title = (
        f"{format_count(sum(site.targets for site in sites), 'file')} from {format_count(len(sites), 'site')}"
    )
    return page_around(
        title, element("header", element("h1", title), _brief(sites, stop_reason, all_files)), _ranking(sites)
    )


def _brief(sites: Sequence[SiteRow], stop_reason: str, all_files: str) -> Html:
    requests = sum(site.requests for site in sites)
    rich = sum(site.targets > 0 for site in sites)
    ended = f" {text_for(stop_reason).sentence}" if stop_reason else ""
    longest = max((site.seconds for site in sites), default=0.0)
    return element(
        "p",
        f"{format_count(requests, 'request')} over {format_seconds(longest)} found"
        f" {format_bytes(sum(site.target_bytes for site in sites))} of files, from {format_count(rich)} of"
        f" {format_count(len(sites), 'site')}.{ended} All files are listed in ",
        element("a", all_files, href=all_files),
        ", the sites in ",
        element("a", "sites.csv", href="sites.csv"),
        ".",
    )


def _ranking(sites: Sequence[SiteRow]) -> Html:
    return element(
        "section",
        element("h2", "Sites, most files first"),
        table(_COLUMNS, [_row(site) for site in sites], "Sites"),
    )


def _row(site: SiteRow) -> Sequence[TableCell | Html | str]:
    per_hundred = 100 * site.targets / site.requests if site.requests else 0.0
    href = quote(f"{site.folder}/report.html")
    name = element("span", element("a", shortened(site.site), href=href), " ", web_link(site.start_url, "↗"))
    return (
        TableCell(name, site.site),
        counted(site.targets),
        TableCell(format_bytes(site.target_bytes), site.target_bytes),
        counted(site.requests),
        TableCell(f"{per_hundred:.0f}", per_hundred),
        site.stop_reason or "not ended",
    )
