"""Queries in replay: recorded ones, and those that an engine in this process answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.budget import Budget
from coati.model import Method, Page, Refused, Request
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite
from coati.search.provider import LocalProvider
from coati.testing.generator import generate_site
from coati.testing.server import serve
from coati.testing.site import Site
from coati.testing.site_parameters import SiteParameters
from coati.testing.stub_engine import HttpEngine, StubEngine, engine_site
from coati.web.media import PRESETS
from coati.web.queries import Query
from tests.live.crawling import crawl_from
from tests.prospector import Prospector

KNOBS = SiteParameters(pages=25, links_per_page=8, target_share=0.3, page_bytes=1500, target_bytes=500)
WORDS = "data report"
FIRST = Query("stub", WORDS).address


def meta(start_url: str) -> ArchiveMeta:
    return ArchiveMeta("site", start_url, PRESETS["data"])


def archive_of(folder: Path, site: Site) -> Path:
    with Archive.create(folder, meta(site.start_url)) as archive:
        for record in site.to_records():
            archive.add(record)
    return folder


def replayed(
    folder: Path, providers: Sequence[LocalProvider] = (), *, use_link_cache: bool = True
) -> list[str]:
    with Archive.open(folder) as archive:
        site = ReplaySite(archive, providers=providers, use_link_cache=use_link_cache)
        result = replay(site, Prospector([site.start_url], WORDS), Budget())
    return [step.url for step in result.trace.steps()]


def test_a_recorded_crawl_is_replayed_without_the_engine(tmp_path: Path) -> None:
    folder, sites = tmp_path / "archive", list[Site]()

    def make(base_url: str) -> Site:
        sites.append(generate_site(KNOBS, 1, base_url))
        return sites[0]

    def make_engine(base_url: str) -> Site:
        return engine_site(base_url, StubEngine.over(sites[0]))

    with serve(make, make_engine) as server, Archive.create(folder, meta(server.url)) as archive:
        engine = HttpEngine(server.sites[1].start_url.rstrip("/"))
        live = crawl_from(
            server.url,
            new_strategy=lambda: Prospector([server.url], WORDS),
            providers=(engine,),
            archive=archive,
        )
    asked = list(live.observed)
    assert FIRST in asked
    assert replayed(folder) == asked
    assert replayed(folder, use_link_cache=False) == asked
    # What was recorded is used, even where an engine could be asked.
    assert replayed(folder, [StubEngine([])]) == asked


def test_an_engine_over_the_archived_pages_answers(tmp_path: Path) -> None:
    site = generate_site(KNOBS, 1)
    folder = archive_of(tmp_path / "archive", site)
    asked = replayed(folder, [StubEngine.over(site)])
    assert sum(url.startswith("search://") for url in asked) > 10
    assert asked == replayed(folder, [StubEngine.over(site)], use_link_cache=False)


def test_a_query_that_nobody_recorded_is_refused(tmp_path: Path) -> None:
    site = generate_site(KNOBS, 1)
    with Archive.open(archive_of(tmp_path / "archive", site)) as archive:
        answer = ReplaySite(archive).respond(Request(0, Method.GET, FIRST))
        there = ReplaySite(archive, providers=[StubEngine.over(site)]).respond(Request(0, Method.GET, FIRST))
    assert answer == Refused("no such search engine")
    assert isinstance(there, Page)


def test_an_archived_query_is_a_page_and_no_target(tmp_path: Path) -> None:
    site = generate_site(KNOBS, 1)
    folder = archive_of(tmp_path / "archive", site)
    before = len(replayed(folder))
    with serve(lambda _: site) as server, Archive.open(folder, writable=True) as archive:
        crawl_from(
            server.url,
            new_strategy=lambda: Prospector([], WORDS),
            providers=(StubEngine.over(site),),
            archive=archive,
            max_requests=1,
        )
    with Archive.open(folder) as archive:
        entry = archive.entry(FIRST)
        assert entry is not None
        replay_site = ReplaySite(archive, types=PRESETS["all-files"])
        assert replay_site.kind(entry).value == "html"
        assert FIRST not in replay_site.truth.number_of
    assert len(replayed(folder)) > before
