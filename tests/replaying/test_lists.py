"""Lists of links in a replay: start URLs, sitemaps, feeds."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.importing import ImportOptions, import_source
from coati.archive.link_cache import LinkCache
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.source import ProgressCallback, Report
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.model import Kind, Method, Other, Page, Request, Target
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite
from coati.web.media import PRESETS, TargetTypes, parse_types

START = "http://tiny.test/"
SITEMAP = (
    b"<urlset><url><loc>/one.csv</loc><lastmod>2024-01-02</lastmod></url>"
    b"<url><loc>/page</loc></url><url><loc>http://other.test/</loc></url></urlset>"
)
FEED = b"<rss><channel><item><title>New</title><link>/two.csv</link></item></channel></rss>"
INDEX = b"<sitemapindex><loc>/map.xml.gz</loc><loc>/gone.xml</loc><loc>/index.xml</loc></sitemapindex>"
RESPONSES = {
    "": (200, "text/html", b"<a href=/feed>"),
    "robots.txt": (404, "text/html", b"<a href=/no>"),
    "sitemap.xml": (200, "application/xml", INDEX),
    "index.xml": (200, "application/xml", INDEX),
    "map.xml.gz": (200, "application/x-gzip", gzip.compress(SITEMAP)),
    "gone.xml": (404, "text/html", b""),
    "feed": (200, "text/xml", FEED),
    "page": (200, "text/html", b""),
    "one.csv": (200, "text/csv", b"1\n"),
    "two.csv": (200, "text/csv", b"2\n"),
}


def records() -> Iterator[Record]:
    for path, (status, media_type, body) in RESPONSES.items():
        yield Record(Entry(START + path, status, media_type, len(body)), (), body)


def make(folder: Path, types: TargetTypes) -> Archive:
    with Archive.create(folder, ArchiveMeta("tiny", START, types)) as archive:
        for record in records():
            archive.add(record)
    return Archive.open(folder)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with make(tmp_path / "tiny", PRESETS["data-extended"]) as opened:
        yield opened


def answer(site: ReplaySite, path: str, method: Method = Method.GET) -> object:
    return site.respond(Request(0, method, START + path))


@pytest.mark.parametrize("cached", [True, False])
def test_robots_that_is_not_there_leads_through_the_sitemaps(archive: Archive, *, cached: bool) -> None:
    site = ReplaySite(archive, start_urls=[START, START + "robots.txt"], use_link_cache=cached)
    assert [url.removeprefix(START) for url in site.truth.urls] == [
        *("", "robots.txt", "feed", "sitemap.xml", "map.xml.gz", "gone.xml", "index.xml", "one.csv", "page")
    ]
    kinds = {
        url.removeprefix(START): kind for url, kind in zip(site.truth.urls, site.truth.kinds, strict=True)
    }
    assert kinds["feed"] is Kind.TARGET  # wanted, and no list address
    assert kinds["robots.txt"] is kinds["map.xml.gz"] is kinds["index.xml"] is Kind.PAGE
    assert kinds["gone.xml"] is Kind.BROKEN
    assert site.truth.parent.tolist()[:2] == [-1, -1]
    page = answer(site, "map.xml.gz")
    assert isinstance(page, Page)
    assert page.links.urls == [START + "one.csv", START + "page"]
    assert page.links.link(0).modified == 1704153600.0
    head = answer(site, "map.xml.gz", Method.HEAD)
    assert isinstance(head, Page)
    assert not head.links.urls
    done = replay(site, build_strategy("bfs", site.start_urls), Budget())
    assert (len(done.trace), done.trace.targets[-1]) == (9, 2)


@pytest.mark.parametrize("cached", [True, False])
def test_a_feed_is_a_page_where_xml_is_not_wanted(archive: Archive, *, cached: bool) -> None:
    site = ReplaySite(archive, types=parse_types("tables"), use_link_cache=cached)
    assert site.truth.kinds == [Kind.PAGE, Kind.PAGE, Kind.TARGET]
    page = answer(site, "feed")
    assert isinstance(page, Page)
    assert page.links.link(0) == (START + "two.csv", ("rss", "channel", "item", "link"), "New", "New", None)
    # No header tells it from any other XML.
    assert answer(site, "feed", Method.HEAD) == Other(200, 0, "text/xml")
    assert isinstance(answer(ReplaySite(archive, use_link_cache=cached), "feed"), Target)


def test_a_label_says_what_a_url_is(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "labelled", ArchiveMeta("labelled", START, None)) as archive:
        archive.add(Record(Entry(START, 200, "text/html", 14, Kind.PAGE), (), b"<a href=/feed>"))
        archive.add(Record(Entry(START + "feed", 200, "text/xml", len(FEED), Kind.OTHER), (), FEED))
    with Archive.open(tmp_path / "labelled") as archive:
        assert ReplaySite(archive).truth.kinds == [Kind.PAGE, Kind.OTHER]
        assert ReplaySite(archive, types=parse_types("tables")).truth.kinds == [
            *(Kind.PAGE, Kind.PAGE, Kind.BROKEN)
        ]
        assert ReplaySite(archive, start_urls=[START + "feed"]).truth.kinds[0] is Kind.PAGE


def test_dates_are_in_the_cache_of_links(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "dated", ArchiveMeta("dated", START, PRESETS["tables"])) as archive:
        archive.add(Record(Entry(START, 200, "text/xml", len(SITEMAP)), (), SITEMAP))
    with Archive.open(tmp_path / "dated") as archive:
        for _ in ("made", "read"):
            cache = LinkCache.of(archive)
            dates = [cache.link(number).modified for number in cache.link_numbers(START).tolist()]
            assert dates == [1704153600.0, None, None]


class _Source:
    def meta(self) -> ArchiveMeta:
        return ArchiveMeta("tiny", START, PRESETS["data-extended"])

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        return records()


def test_an_import_without_targets_keeps_what_lists_links(tmp_path: Path) -> None:
    import_source(_Source(), tmp_path / "tiny", ImportOptions(keep_target_bodies=False))
    with Archive.open(tmp_path / "tiny") as archive:
        kept = {path for path in RESPONSES if archive.record(START + path).body is not None}
    assert kept == RESPONSES.keys() - {"one.csv", "two.csv"}
