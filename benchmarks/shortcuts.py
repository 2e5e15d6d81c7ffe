"""What shortcuts bring: an API in front of archived sites, a generated portal, and recognition.

    python -m benchmarks.shortcuts --archives DIR [--site phila=wordpress] [--seeds 15]

DIR holds one imported archive per site (`coati archive import`). The API of each site is made from the truth
of its archive (`coati.testing.ArchiveWithApi`), in several states, and `scent` crawls it beside the site as
it is. The figures are requests until 90 % of the targets are in, the median and quartiles over seeds, and the
same per target. "Other requests" says whether the requests for the site's own links are the same, in the same
order, as without the API.

The portal has 5,000 data sets with four resources each in CKAN; its inventory is what is known after
following nothing but the API. Recognition looks at the start page of every archive of DIR.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import cast

import click

from benchmarks.reporting import circumstances
from coati.archive.archive import Archive
from coati.assembly import build_shortcuts, build_strategy
from coati.budget import Budget
from coati.model import EVERY_HOST, Kind, Page, Request
from coati.replaying.driver import ReplayOptions, replay
from coati.replaying.site import ReplaySite
from coati.shortcuts.recognition import recognise
from coati.testing import Api, ApiFile, ApiState, ArchiveWithApi, Responder, Response, Site, with_api
from coati.web.urls import is_query

SITES = ("phila=wordpress", "healthwatch=drupal", "trompa=drupal", "ncarsea=drupal")
_SHARE = 0.9
_HOPS = 3


@dataclass(frozen=True, slots=True)
class Course:
    """One crawl: how many requests 90 % of the targets took, and the URLs that were requested until then."""

    requests: float
    urls: tuple[str, ...]


@click.command()
@click.option("--archives", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--site", "sites", multiple=True, default=SITES, help="NAME=SOFTWARE. Can be repeated.")
@click.option("--seeds", default=15, show_default=True)
def main(archives: Path, sites: Sequence[str], seeds: int) -> None:
    """Print all figures."""
    click.echo(circumstances())
    for each in sites:
        name, _, software = each.partition("=")
        with Archive.open(archives / name) as archive:
            _study(archive, software, seeds)
    _portal()
    for folder in sorted(archives.iterdir()):
        with Archive.open(folder) as archive:
            click.echo(f"{folder.name}: {_recognised(archive) or 'nothing'}")


def _study(archive: Archive, software: str, seeds: int) -> None:
    plain = ReplaySite(archive)
    targets = [
        url for url, kind in zip(plain.truth.urls, plain.truth.kinds, strict=True) if kind is Kind.TARGET
    ]
    wanted = _SHARE * len(targets)
    click.echo(
        f"\n{archive.meta.name} ({archive.digest()[:12]}): {len(plain.truth.urls):,} URLs,"
        f" {len(targets):,} targets, {software}"
    )
    without = [_crawl(plain, seed, wanted) for seed in range(seeds)]
    _say("without", without, wanted)
    files = [ApiFile(url, url.rpartition("/")[2], _media_type(archive, url)) for url in targets]
    for state in ApiState:
        api = Api(software, archive.meta.start_url, files, state)
        front = cast("Archive", ArchiveWithApi(archive, api))
        site = ReplaySite(front, shortcuts=build_shortcuts("auto", "scent"))
        courses = [_crawl(site, seed, wanted) for seed in range(seeds)]
        same = sum(_same(own, other) for own, other in zip(courses, without, strict=True))
        _say(state.value, courses, wanted, f"; other requests the same in {same} of {seeds}")


def _media_type(archive: Archive, url: str) -> str:
    entry = archive.entry(url)
    return "" if entry is None else entry.media_type


def _crawl(site: ReplaySite, seed: int, wanted: float) -> Course:
    budget = Budget(max_targets=math.ceil(wanted))
    run = replay(
        site, build_strategy("scent", site.start_urls, seed), budget, options=ReplayOptions(listed_links=True)
    ).trace
    reached = bool(run.targets) and run.targets[-1] >= wanted
    return Course(len(run) if reached else math.inf, tuple(step.url for step in run.steps()))


def _same(own: Course, other: Course) -> bool:
    known = set(other.urls)
    shared = tuple(url for url in own.urls if url in known)
    return shared == other.urls[: len(shared)]


def _say(name: str, courses: Sequence[Course], wanted: float, more: str = "") -> None:
    requests = sorted(course.requests for course in courses)
    low, median, high = quantiles(requests, n=4) if len(requests) > 1 else requests * 3
    click.echo(
        f"  {name:<8} {median:7.0f} requests ({low:.0f} to {high:.0f}),"
        f" {median / wanted:.3f} per target{more}"
    )


def _portal(datasets: int = 5_000, resources: int = 4) -> None:
    """Count the requests after which all resources of a portal are known."""
    root = "http://portal.test/"
    files = [
        ApiFile(f"{root}d/{number}/{part}.csv", f"Table {part}", "text/csv", dataset=f"Data set {number}")
        for number in range(datasets)
        for part in range(resources)
    ]
    held = {file.url: Response.file("text/csv", size_bytes=1000) for file in files}
    home = Site(root, {root: Response.page("<html><head></head><body></body></html>"), **held})
    for most in (None, 100):
        site = with_api(home, "ckan", files=files, most=most)
        responder = Responder(site, shortcuts=build_shortcuts("only", "scent"))
        strategy = build_strategy("scent", [root])
        known: set[str] = set()
        requests = pages = 0
        while len(known) < len(files):
            request = strategy.choose(0.0, EVERY_HOST)
            if not isinstance(request, Request) or is_query(request.url):
                break
            outcome = responder.outcome(request)
            strategy.observe(request.id, outcome, 0.0)
            requests += 1
            if isinstance(outcome, Page):
                pages += 1
                known.update(url for url in outcome.links.urls if url.endswith(".csv"))
        cap = (
            "as many data sets per page as requested"
            if most is None
            else f"{most} data sets per page at most"
        )
        click.echo(
            f"\nportal, {cap}: {len(known):,} of {len(files):,} resources known from {pages} pages"
            f" ({requests} requests in all, the others for files in order of promise)"
        )


def _recognised(archive: Archive) -> str:
    url = archive.meta.start_url
    for _ in range(_HOPS):
        entry = archive.entry(url)
        if entry is None or not entry.location:
            break
        url = entry.location
    found = recognise(url, archive.record(url).headers, archive.body(url))
    return ", ".join(each.title for each in found)


if __name__ == "__main__":
    main()
