"""Snapshots of pages as tables become an ordinary archive with a history."""

from __future__ import annotations

from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.importing import ImportOptions, import_source
from coati.archive.sources.layouts import open_source
from coati.archive.sources.source import DamagedPart, SourceOptions
from coati.errors import ArchiveError
from coati.model import PageLinks
from coati.readers.formats import Format
from coati.readers.registry import PageReader
from tests.archive.snapshots import OTHER, PAGE, write_feeds, write_news, write_tables


def imported(folder: Path, damages: list[DamagedPart] | None = None) -> Archive:
    layout, source = open_source([folder], "auto", SourceOptions())
    assert layout == "snapshots"
    report = (lambda _: None) if damages is None else damages.append
    import_source(source, folder / "archive", ImportOptions(report=report))
    return Archive.open(folder / "archive")


def links_at(archive: Archive, page: str, capture: int) -> PageLinks:
    body = archive.body(page, archive.captures(page)[capture].moment)
    return PageReader().read(Format.HTML, body, page, "text/html").links


def urls_at(archive: Archive, page: str, capture: int) -> list[str]:
    return list(links_at(archive, page, capture).urls)


def test_a_page_has_a_capture_per_change(tmp_path: Path) -> None:
    with imported(write_news(tmp_path)) as archive:
        assert [entry.status for entry in archive.captures(PAGE)] == [200, 200]
        assert urls_at(archive, PAGE, 0) == [f"{PAGE}0.html", f"{PAGE}1.html"]
        assert urls_at(archive, PAGE, 1) == [f"{PAGE}1.html", f"{PAGE}2.html"]
        assert [moment % 86_400 for moment in archive.moments()] == [720.0, 4320.0, 7920.0, 11520.0]


def test_a_page_that_failed_is_there_again(tmp_path: Path) -> None:
    with imported(write_news(tmp_path)) as archive:
        assert [entry.status for entry in archive.captures(OTHER)] == [200, 500, 200]
        assert urls_at(archive, OTHER, 2) == [f"{PAGE}{number}.html" for number in (1, 3, 4)]


def test_labels_and_titles_are_kept(tmp_path: Path) -> None:
    with imported(write_news(tmp_path)) as archive:
        links = links_at(archive, PAGE, 0)
        assert [links.link(place).anchor for place in (0, 1)] == ["Story <0>", "Story <1>"]
        assert ["li.politics" in links.link(place).tag_path for place in (0, 1)] == [False, True]


def test_a_feed_shows_its_last_links_on_a_site_of_its_own(tmp_path: Path) -> None:
    with imported(write_feeds(tmp_path)) as archive:
        feed, other = "http://feed-0.test/", "http://feed-1.test/"
        assert len(urls_at(archive, feed, 0)) == 20
        assert len(urls_at(archive, feed, 1)) == 20
        assert urls_at(archive, feed, 1)[-1] == feed + "http:%2F%2Fsite-26.test%2Fa%3Fb=26"
        assert [urls_at(archive, other, capture) for capture in (0, 1)] == [
            [],
            [other + "http:%2F%2Fsite-27.test%2Fa%3Fb=27"],
        ]


def test_numbers_that_no_table_has_are_reported(tmp_path: Path) -> None:
    folder = write_news(tmp_path)
    write_tables(folder, {"events.tsv.gz": ["0|0|+0|-", "1|0|+77|-"]})
    damages: list[DamagedPart] = []
    with imported(folder, damages) as archive:
        assert len(archive.captures(PAGE)) == 1
    assert [str(damage) for damage in damages] == [
        "snapshot 1, page 0: it has a number that its table does not have"
    ]


def test_a_table_that_is_cut_off_is_named(tmp_path: Path) -> None:
    folder = write_news(tmp_path)
    file = folder / "events.tsv.gz"
    file.write_bytes(file.read_bytes()[:-12])
    with pytest.raises(ArchiveError, match=r"events.tsv.gz cannot be read to its end"):
        imported(folder)


@pytest.mark.parametrize("line", ["0|0", "x|0"])
def test_a_line_that_is_not_a_row_is_named(tmp_path: Path, line: str) -> None:
    folder = write_tables(write_news(tmp_path), {"events.tsv.gz": ["0|0|+0|-", line]})
    with pytest.raises(ArchiveError, match="line 2 is cut off or has fewer than 4 columns"):
        imported(folder)


def test_pages_without_an_address_are_refused(tmp_path: Path) -> None:
    folder = write_tables(write_news(tmp_path), {"pages.tsv": ["0|news.test|front|mailto:x"]})
    with pytest.raises(ArchiveError, match="without a URL"):
        imported(folder)
