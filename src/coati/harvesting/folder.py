"""The folder of a harvest over many sites: one run folder per site, and their summary.

harvest.toml          the settings, and every address
sites/NAME/           the run of one site, as `coati crawl` leaves it
sites.csv             the sites, the richest first
files.csv             the files of all sites
summary.json          the same in numbers
report.html           the sites ranked, with links to their reports
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coati.runs.csv_pieces import csv_pieces
from coati.runs.durable import write_whole
from coati.runs.files_csv import COLUMNS, listing_rows
from coati.runs.layout import Layout, holds_run
from coati.runs.reader import RunReader


@dataclass(frozen=True, slots=True)
class HarvestLayout:
    """The paths of one harvest."""

    folder: Path

    @property
    def settings(self) -> Path:
        return self.folder / "harvest.toml"

    @property
    def sites(self) -> Path:
        return self.folder / "sites"

    @property
    def listing(self) -> Path:
        return self.folder / "files.csv"

    @property
    def site_table(self) -> Path:
        return self.folder / "sites.csv"

    @property
    def summary(self) -> Path:
        return self.folder / "summary.json"

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    def site(self, name: str) -> Path:
        """Return the run folder of a site."""
        return self.sites / name


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """What one site cost and brought, all sessions together; ``stop_reason`` is None after a kill."""

    site: str
    start_url: str
    requests: int
    targets: int
    files: int
    target_bytes: int
    bytes: int
    pages: int
    failures: int
    seconds: float
    stop_reason: str | None
    folder: str

    @property
    def targets_per_100(self) -> float:
        """Targets for each hundred requests."""
        return 100 * self.targets / self.requests if self.requests else 0.0


def read_site(layout: HarvestLayout, name: str) -> SiteSummary | None:
    """Read what the run folder of a site says; None where it has none yet."""
    folder = layout.site(name)
    if not holds_run(folder):
        return None
    with RunReader(folder) as run:
        start_url = str(next(iter(run.settings.get("urls", ())), ""))
        return summary_of(run, name, start_url, str(folder.relative_to(layout.folder)))


def summary_of(run: RunReader, name: str, start_url: str, place: str) -> SiteSummary:
    """Read what a run says of its site; ``place`` is where readers of the summary find it."""
    totals, sessions = run.totals(), run.sessions()
    (files,) = run.connection.execute("SELECT count(*) FROM files").fetchone()
    return SiteSummary(
        site=name,
        start_url=start_url,
        requests=totals.requests,
        targets=totals.targets,
        files=files,
        target_bytes=totals.target_bytes,
        bytes=totals.bytes,
        pages=totals.pages,
        failures=totals.failures,
        seconds=round(sum(session.seconds for session in sessions), 1),
        stop_reason=sessions[-1].stop_reason if sessions else None,
        folder=place,
    )


def ranked(sites: Iterable[SiteSummary]) -> list[SiteSummary]:
    """Put sites in order: most targets first, then fewest requests; those that never answered are last."""
    return sorted(sites, key=lambda site: (-site.targets, not site.requests, site.requests, site.site))


def sums_of(sites: Sequence[SiteSummary]) -> dict[str, int]:
    """Add up what all sites cost and brought."""
    names = ("requests", "targets", "files", "target_bytes", "bytes", "pages", "failures")
    return {"sites": len(sites), **{name: sum(getattr(site, name) for site in sites) for name in names}}


def write_summary(layout: HarvestLayout, sites: Sequence[SiteSummary], stop_reason: str) -> None:
    """Write what sums a harvest up, each file in place of an older one."""
    write_whole(layout.summary, [summary_json(sites, stop_reason)])
    write_whole(layout.site_table, site_lines(sites))
    write_whole(layout.listing, csv_pieces(["site", *COLUMNS], _file_rows(layout, sites)))


def summary_json(sites: Sequence[SiteSummary], stop_reason: str) -> bytes:
    """Return a harvest in numbers."""
    summary = {
        "stop_reason": stop_reason,
        **sums_of(sites),
        "by_site": [asdict(site) for site in sites],
    }
    return json.dumps(summary, indent=1).encode() + b"\n"


def site_lines(sites: Sequence[SiteSummary]) -> Iterator[bytes]:
    """Return the table of sites, line by line."""
    names = [name for name in SiteSummary.__slots__ if name != "folder"]
    rows = (
        [*(getattr(site, name) for name in names), round(site.targets_per_100, 2), site.folder]
        for site in sites
    )
    return csv_pieces([*names, "targets_per_100", "folder"], rows)


def _file_rows(layout: HarvestLayout, sites: Sequence[SiteSummary]) -> Iterator[Sequence[object]]:
    for site in sites:
        with RunReader(Layout(layout.site(site.site)).folder) as run:
            for file, *rest in listing_rows(run.connection):
                yield [site.site, f"{site.folder}/{file}", *rest]
