from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.errors import UsageError
from coati.model import Failure, Kind, Method, Other, Page, Redirect, Request, Target
from coati.replaying.site import ReplaySite
from coati.web.media import PRESETS, parse_types
from tests.replaying import tiny_site
from tests.replaying.tiny_site import START


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive.open(tiny_site.make(tmp_path / "tiny")) as opened:
        yield opened


def test_the_truth_is_numbered_breadth_first(archive: Archive) -> None:
    truth = ReplaySite(archive).truth
    paths = [url.removeprefix(START) for url in truth.urls]
    assert paths == ["", "a", "b", "gone", "old", "a1.csv", "a2.csv", "b1.csv", "style", "c"]
    assert [kind.value for kind in truth.kinds] == [
        *("html", "html", "html", "broken", "redirect", "target", "target", "target", "other", "html")
    ]
    assert truth.sizes.tolist() == [300, 200, 400, 0, 0, 100, 200, 700, 1000, 100]
    assert truth.parent.tolist() == [-1, 0, 0, 0, 0, 1, 1, 2, 2, 2]
    assert [children.tolist() for children in truth.children] == [
        *([1, 2, 3, 4], [5, 6, 0], [7, 8, 9], [], [1], [], [], [], [], [])
    ]
    assert all(truth.number_of[url] == number for number, url in enumerate(truth.urls))
    assert truth.kind(START + "a1.csv") is Kind.TARGET
    assert truth.kind("http://other.test/") is None


@pytest.mark.parametrize("use_link_cache", [True, False])
def test_each_request_gets_the_answer_that_was_archived(archive: Archive, *, use_link_cache: bool) -> None:
    site = ReplaySite(archive, use_link_cache=use_link_cache)

    def answer(path: str, method: Method = Method.GET) -> object:
        return site.respond(Request(0, method, START + path))

    assert answer("a1.csv") == Target(200, 100, "text/csv")
    assert answer("b1.csv", Method.HEAD) == Target(200, 0, "text/csv")
    assert answer("style") == Other(200, 1000, "text/css")
    assert answer("old") == Redirect(301, 0, START + "a")
    assert answer("gone") == Failure(404, 0, "status 404")
    assert isinstance(answer("never-archived"), Failure)
    page = answer("")
    assert isinstance(page, Page)
    assert (page.status, page.size_bytes) == (200, 300)
    # Within scope, pictures left out, as often as they stand there.
    assert list(page.links.urls) == [START + path for path in ("a", "b", "gone", "old", "a")]
    assert page.links.link(1).tag_path == ("html", "body", "p", "a")
    assert page.links.link(1).anchor == "/b"
    head = answer("", Method.HEAD)
    assert isinstance(head, Page)
    assert (head.size_bytes, list(head.links.urls)) == (0, [])


def test_another_definition_of_targets_takes_the_place_of_the_archives(archive: Archive) -> None:
    assert ReplaySite(archive).definition == "data"
    site = ReplaySite(archive, types=parse_types("text/css"))
    assert site.definition == "text/css"
    assert isinstance(site.respond(Request(0, Method.GET, START + "style")), Target)
    assert isinstance(site.respond(Request(0, Method.GET, START + "a1.csv")), Other)


def test_labels_are_the_truth_where_the_archive_has_them(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "labelled", ArchiveMeta("labelled", START, None)) as archive:
        archive.add(
            Record(Entry(START, 200, "text/html", 20, Kind.PAGE), (), b"<a href=/t><a href=/o>".ljust(20))
        )
        archive.add(Record(Entry(START + "t", 200, "x/y", 5, Kind.TARGET)))
        archive.add(Record(Entry(START + "o", 200, "text/csv", 5, Kind.OTHER)))
    with Archive.open(tmp_path / "labelled") as archive:
        labelled = ReplaySite(archive)
        assert labelled.definition == "the archive's own labels"
        assert labelled.truth.kinds == [Kind.PAGE, Kind.TARGET, Kind.OTHER]
        assert ReplaySite(archive, types=PRESETS["data"]).truth.kinds == [Kind.PAGE, Kind.OTHER, Kind.TARGET]


def test_a_replay_may_begin_elsewhere(archive: Archive) -> None:
    site = ReplaySite(archive, start_urls=["HTTP://Tiny.test:80/b#top"])
    assert site.start_url == START + "b"
    assert len(site.truth.urls) == 4


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (
            "http://tiny.test/nowhere",
            "http://tiny.test/nowhere is not in the archive tiny, made from http://tiny.test/",
        ),
        ("http://other.test/", "not in the archive"),
        ("tiny.test", "not a URL: 'tiny.test'"),
        ("", "not a URL"),
    ],
)
def test_a_start_outside_the_archive_is_refused(archive: Archive, start: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ReplaySite(archive, start_urls=[start])
