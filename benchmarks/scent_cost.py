"""What scent costs beside SB-CLASSIFIER: a request, as the crawl grows, and in memory.

    python -m benchmarks.scent_cost [--archives DIR] [--site NAME]...

Both crawl the same sites in the same run, in turn, with pages parsed and with links that are kept ready; the
best of a few rounds counts, since other work on the machine only ever adds. A request of SB-CLASSIFIER may be
a HEAD, which is cheap: the last column compares what the whole crawl cost. With --max-requests the two fetch
other pages, which may be smaller or larger.

In the made-up site every name differs in letters, so that scent can take no two links for one kind.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from benchmarks.memory import weigh
from benchmarks.reporting import format_option, report
from benchmarks.step_cost import EndlessSite, by_tenth, in_letters
from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite
from coati.testing.generator import generate_site
from coati.testing.site_parameters import SiteParameters
from coati.web.media import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OURS, _THEIRS = "scent", "sb-classifier"
_GROUPS_BY_STEP, _GROUPS_BY_WEIGHT = 6_000, 2_000
_PAGES = 3_000
_ROUNDS = 2


class Spent(NamedTuple):
    """One crawl: its requests, and the processor time of all."""

    requests: int
    cpu_seconds: float

    @property
    def request_us(self) -> float:
        """The time of one request."""
        return 1e6 * self.cpu_seconds / max(1, self.requests)


def crawl(site: ReplaySite, strategy: str, budget: Budget) -> Spent:
    """Crawl a site a few times; return the cheapest."""
    return min((_once(site, strategy, budget) for _ in range(_ROUNDS)), key=lambda spent: spent.cpu_seconds)


def _once(site: ReplaySite, strategy: str, budget: Budget) -> Spent:
    run = replay(site, build_strategy(strategy, [site.start_url]), budget)
    return Spent(len(run.trace), run.cpu_seconds)


def compare(archive: Archive, max_requests: int | None) -> Iterator[dict[str, object]]:
    """Compare both ways of answering: every page parsed, and links from the cache."""
    for answers, cached in (("parsed", False), ("cached", True)):
        site = ReplaySite(archive, use_link_cache=cached)
        budget = Budget(max_requests=max_requests)
        theirs, ours = (crawl(site, strategy, budget) for strategy in (_THEIRS, _OURS))
        yield {
            "site": site.name,
            "pages": answers,
            f"{_THEIRS}, us per request": theirs.request_us,
            f"{_OURS}, us per request": ours.request_us,
            "ratio": ours.request_us / theirs.request_us,
            f"{_THEIRS}, requests": theirs.requests,
            f"{_OURS}, requests": ours.requests,
            "ratio of the whole": ours.cpu_seconds / theirs.cpu_seconds,
        }


def _generated(folder: Path) -> Archive:
    site = generate_site(SiteParameters(pages=_PAGES), 1)
    archive = Archive.create(folder, ArchiveMeta("generated", site.start_url, PRESETS["data"]))
    with archive.bulk():
        for record in site.to_records():
            archive.add(record)
    return archive


@click.command()
@click.option("--archives", type=click.Path(exists=True, path_type=Path), help="Folder of imported replicas.")
@click.option("--site", "sites", multiple=True, default=["networkx", "skimage"], show_default=True)
@click.option("--max-requests", type=int, help="Of each crawl of a site.  [default: all]")
@click.option("--urls", default=200_000, show_default=True, help="How far the cost of a step is followed.")
@click.option("--known", default=1_000_000, show_default=True, help="URLs that memory is measured with.")
@format_option
def main(
    archives: Path | None,
    sites: Sequence[str],
    max_requests: int | None,
    urls: int,
    known: int,
    form: str,
) -> None:
    """Measure memory first, while the process is fresh; then steps; then whole crawls."""
    weight = weigh(_OURS, EndlessSite(known, _GROUPS_BY_WEIGHT, write=in_letters))
    row = {"urls": weight.urls, "MB": weight.grown_bytes / 1e6}
    row["bytes per known URL"] = weight.grown_bytes / weight.urls
    report(f"memory of {_OURS}", [row], form)
    rows: list[dict[str, object]] = []
    for strategy in (_THEIRS, _OURS):
        tenths, _ = by_tenth(strategy, EndlessSite(urls, _GROUPS_BY_STEP, write=in_letters))
        second, last = tenths[1], tenths[9]
        rows.append(
            {
                "strategy": strategy,
                "us per choice, last tenth": last.choice,
                "x second": last.choice / second.choice,
                "us per new link, last tenth": last.new_link,
                "x second ": last.new_link / second.new_link,
            }
        )
    report(f"steps at {urls:,} URLs", rows, form)
    rows = []
    with tempfile.TemporaryDirectory() as folder, _generated(Path(folder) / "site") as archive:
        rows += compare(archive, max_requests)
    for name in sites if archives else ():
        with Archive.open(Path(archives or "") / name) as archive:
            rows += compare(archive, max_requests)
    report("whole crawls, per processor", rows, form)


if __name__ == "__main__":
    main()
