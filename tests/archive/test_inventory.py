from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.inventory import OutsideLink, count_contents, find_outside_links
from coati.archive.record import ArchiveMeta
from coati.model import Kind
from tests.archive.samples import SITE, make, page

ROOT = "http://example.test/"


def test_records_are_counted_under_the_archives_definition(tmp_path: Path) -> None:
    with Archive.open(make(tmp_path / "a")) as archive:
        contents = count_contents(archive)
    assert contents.records == len(SITE)
    assert contents.bodies == 4
    assert contents.kinds == {Kind.PAGE: 2, Kind.TARGET: 2, Kind.REDIRECT: 1, Kind.BROKEN: 1}
    assert contents.bytes_by_kind[Kind.TARGET] == 10_000_008
    assert contents.statuses == {200: 4, 301: 1, 0: 1}
    assert contents.media_types == {"text/html": 2, "text/csv": 2, "": 2}


def test_links_of_the_site_that_have_no_answer_are_found(tmp_path: Path) -> None:
    with Archive.open(make(tmp_path / "a")) as archive:
        outside = find_outside_links(archive)
    assert outside.count == 1
    assert outside.examples == (OutsideLink(f"{ROOT}gone", ROOT),)
    assert outside.refreshes == 0


def test_a_link_that_a_crawl_would_not_follow_is_not_a_gap(tmp_path: Path) -> None:
    links = ("/a.png", "http://other.test/", "mailto:x@y.test", "/b.zip")
    text = "".join(f'<a href="{link}">x</a>' for link in links)
    meta = ArchiveMeta("x", ROOT, None, blocked_extensions=frozenset({"zip"}))
    with Archive.open(make(tmp_path / "a", [page(ROOT, text)], meta)) as archive:
        outside = find_outside_links(archive)
    # Another archive may have asked for images and not for zip files.
    assert [link.url for link in outside.examples] == [f"{ROOT}a.png"]


def test_many_gaps_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    text = "".join(f'<a href="/{number}">x</a>' for number in range(300))
    with Archive.open(make(tmp_path / "a", [page(ROOT, text), page(f"{ROOT}b", text)])) as archive:
        outside = find_outside_links(archive)
    assert outside.count == 300
    assert outside.examples == tuple(OutsideLink(f"{ROOT}{number}", ROOT) for number in range(20))


def test_ends_of_meta_refreshes_are_counted_apart(tmp_path: Path) -> None:
    refresh = '<meta http-equiv="refresh" content="0; url=/{}">'
    pages = [
        page(ROOT, refresh.format("only")),
        page(f"{ROOT}1", refresh.format("both")),
        page(f"{ROOT}2", '<a href="/both">x</a>'),
        page(f"{ROOT}3", refresh.format("both")),
    ]
    with Archive.open(make(tmp_path / "a", pages)) as archive:
        outside = find_outside_links(archive)
    assert outside.examples == (OutsideLink(f"{ROOT}both", f"{ROOT}2"),)
    assert outside.refresh_examples == (OutsideLink(f"{ROOT}only", ROOT),)
    assert (outside.count, outside.refreshes) == (1, 1)
