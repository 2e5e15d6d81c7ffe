"""Truth and rules agree: the truth counts what a crawler may ask for, whatever rule one strategy keeps to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.experiments.site_runs import SiteRunOptions, compare_on_site
from coati.model import Failure, Method, Page, Redirect, Refused, Request, Target
from coati.replaying.site import ReplaySite
from coati.web.media import parse_types
from coati.web.rules import Refusal, TrapRule

START = "http://long.test/"
# 100 letters that take six characters each on the way, as a name in Cyrillic or Greek does.
LETTERS = "%D0%B6" * 100
ENCODED, ENCODED_PAGE = START + LETTERS + ".csv", START + LETTERS
LONG_FILE = START + "x" * 400 + ".csv"
LONG_PAGE, REPEATING = START + "y" * 400, START + "a/b/a/b/a"
BEHIND_A_TRAP = START + "behind.csv"
PUBLISHED_REFUSES = {ENCODED, ENCODED_PAGE, LONG_FILE}


def _page(url: str, links: Sequence[str]) -> Record:
    body = "".join(f"<a href='{link}'>x</a>" for link in links).encode()
    return Record(Entry(url, 200, "text/html", len(body)), (), body)


def _csv(url: str) -> Record:
    return Record(Entry(url, 200, "text/csv", 10))


RECORDS = (
    _page(START, [START + "near.csv", ENCODED, LONG_FILE, ENCODED_PAGE, LONG_PAGE, REPEATING, START + "old"]),
    _page(ENCODED_PAGE, [START + "deep.csv"]),
    _page(LONG_PAGE, [BEHIND_A_TRAP]),
    _page(REPEATING, [BEHIND_A_TRAP]),
    *map(_csv, (START + "near.csv", ENCODED, LONG_FILE, START + "deep.csv", BEHIND_A_TRAP)),
    Record(Entry(START + "old", 301, "", 0, location=ENCODED)),
)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive.create(tmp_path / "long", ArchiveMeta("long", START, parse_types("text/csv"))) as made:
        for record in RECORDS:
            made.add(record)
    with Archive.open(tmp_path / "long") as opened:
        yield opened


def _get(site: ReplaySite, url: str) -> object:
    return site.respond(Request(0, Method.GET, url))


def test_the_truth_counts_what_a_crawler_may_ask_for(archive: Archive) -> None:
    found = [START, START + "near.csv", ENCODED, LONG_FILE, ENCODED_PAGE, START + "old", START + "deep.csv"]
    assert ReplaySite(archive).truth.urls == found


def test_what_no_rule_admits_is_refused(archive: Archive) -> None:
    site = ReplaySite(archive)
    assert _get(site, LONG_PAGE) == Refused(Refusal.TOO_LONG)
    assert _get(site, REPEATING) == Refused(Refusal.REPEATS)


def test_the_published_rule_shows_less_of_the_same_truth(archive: Archive) -> None:
    site = ReplaySite(archive)
    narrow = site.under(TrapRule.PUBLISHED)
    assert narrow.truth is site.truth
    assert isinstance(_get(site, ENCODED), Target)
    for url in PUBLISHED_REFUSES:
        assert _get(narrow, url) == Refused(Refusal.TOO_LONG)
    assert _get(narrow, START + "old") == Redirect(301, 0, ENCODED)
    page = _get(narrow, START)
    assert isinstance(page, Page)
    assert list(page.links.urls) == [START + "near.csv", START + "old"]
    # Asking the narrow one leaves no trace in the other.
    page = _get(site, START)
    assert isinstance(page, Page)
    assert set(page.links.urls) >= PUBLISHED_REFUSES
    assert site.under(TrapRule.OURS) is site
    assert narrow.under(TrapRule.PUBLISHED) is narrow


def test_where_no_url_is_long_there_is_one_site(tmp_path: Path) -> None:
    with Archive.create(tmp_path / "short", ArchiveMeta("short", START, None)) as made:
        made.add(_page(START, [START + "a"]))
    with Archive.open(tmp_path / "short") as archive:
        site = ReplaySite(archive)
        assert site.under(TrapRule.PUBLISHED) is site
        assert isinstance(_get(site, START + "a"), Failure)


def test_only_wanted_extensions_are_spared(archive: Archive) -> None:
    site = ReplaySite(archive, types=parse_types("application/pdf"))
    assert _get(site, LONG_FILE) == Refused(Refusal.TOO_LONG)
    assert LONG_FILE not in site.truth.number_of
    assert ENCODED in site.truth.number_of


def test_a_list_shows_what_the_rule_of_the_strategy_admits(tmp_path: Path) -> None:
    sitemap = START + "sitemap.xml"
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in (START + "near.csv", ENCODED, LONG_PAGE))
    body = f"<urlset>{listed}</urlset>".encode()
    with Archive.create(tmp_path / "listed", ArchiveMeta("listed", START, parse_types("text/csv"))) as made:
        for record in RECORDS:
            made.add(record)
        made.add(Record(Entry(sitemap, 200, "application/xml", len(body)), (), body))
    with Archive.open(tmp_path / "listed") as archive:
        site = ReplaySite(archive, start_urls=(START, sitemap))
        for traps, urls in ((TrapRule.OURS, [ENCODED]), (TrapRule.PUBLISHED, [])):
            page = _get(site.under(traps), sitemap)
            assert isinstance(page, Page)
            assert list(page.links.urls) == [START + "near.csv", *urls]
            assert site.under(traps).truth.urls[2:5] == [START + "near.csv", ENCODED, LONG_FILE]


def test_all_are_measured_by_one_truth(archive: Archive) -> None:
    wanted: list[tuple[str, int | None]] = [("bfs", None), ("clairvoyant", None), ("sb-oracle", 0)]
    runs = list(compare_on_site(ReplaySite(archive), wanted, SiteRunOptions()))
    plain, best, published = runs
    assert {(run.totals.urls, run.totals.targets) for run in runs} == {(7, 4)}
    assert (plain.measures.requests, plain.measures.targets) == (7, 4)
    # The start, its three files, and the page to the last one.
    assert (best.measures.requests, best.measures.targets) == (6, 4)
    asked = {step.url for step in published.run.trace.steps()}
    assert asked & PUBLISHED_REFUSES == set()
    assert (published.measures.targets, published.measures.requests_to_90_pct) == (1, None)
