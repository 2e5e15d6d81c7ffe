"""Replays over archives that hold a site at several moments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.budget import Budget, Limit
from coati.cli.main import run as command
from coati.errors import UsageError
from coati.model import Failure, Method, Outcome, Page, Redirect, Request, Settlement, Target, Unchanged
from coati.replaying.driver import FINISHED, HISTORY_OVER, ReplayOptions, replay
from coati.replaying.site import ReplaySite
from coati.testing.revisiting import RevisitInTurn
from coati.web.media import PRESETS
from coati.web.urls import url_hash

START = "http://news.test/"
DAY = 86_400.0


def page(path: str, at: float | None, *links: str) -> Record:
    body = "".join(f"<a href='{link}'>{link}</a>" for link in links).encode()
    return Record(Entry(START + path, 200, "text/html", len(body), fetched_at=at), (), body)


def table(path: str, at: float, body: bytes) -> Record:
    return Record(Entry(START + path, 200, "text/csv", len(body), fetched_at=at), (), body)


RECORDS = (
    page("", 2 * DAY, "/a", "/b.csv", "/late.csv"),
    page("", 1 * DAY, "/a", "/b.csv"),
    page("", 3 * DAY, "/late.csv"),
    # What was captured a little after the start page belongs to the same day.
    page("a", 1 * DAY + 60, "/c.csv"),
    Record(Entry(START + "a", 404, "text/html", 4, fetched_at=3 * DAY), (), b"gone"),
    table("b.csv", 1 * DAY + 90, b"1"),
    table("b.csv", 2 * DAY + 90, b"2"),
    table("c.csv", 1 * DAY + 95, b"c"),
    table("late.csv", 2 * DAY + 99, b"late"),
)


def make(folder: Path, records: Sequence[Record] = RECORDS) -> Path:
    with Archive.create(folder, ArchiveMeta("news", START, PRESETS["data"])) as archive:
        for record in records:
            archive.add(record)
    return folder


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with Archive.open(make(tmp_path / "news")) as opened:
        yield opened


def paths(site: ReplaySite) -> list[str]:
    return [url.removeprefix(START) for url in site.truth.urls]


@pytest.mark.parametrize("use_link_cache", [True, False])
def test_a_site_is_shown_as_it_was(archive: Archive, *, use_link_cache: bool) -> None:
    early, late = (
        ReplaySite(archive, as_of=as_of, use_link_cache=use_link_cache) for as_of in (1.5 * DAY, None)
    )
    assert paths(early) == ["", "a", "b.csv", "c.csv"]
    assert paths(late) == ["", "late.csv"]
    start = Request(0, Method.GET, START)
    shown = [site.respond(start) for site in (early, late)]
    assert [list(page.links.urls) for page in shown if isinstance(page, Page)] == [
        [START + "a", START + "b.csv"],
        [START + "late.csv"],
    ]
    assert isinstance(late.respond(Request(1, Method.GET, START + "a")), Failure)


@pytest.mark.parametrize("use_link_cache", [True, False])
def test_each_request_is_answered_as_of_its_time(archive: Archive, *, use_link_cache: bool) -> None:
    site = ReplaySite(archive, use_link_cache=use_link_cache)

    def links(now: float) -> list[str]:
        outcome = site.respond(Request(0, Method.GET, START), now)
        assert isinstance(outcome, Page)
        return [url.removeprefix(START) for url in outcome.links.urls]

    assert links(1 * DAY) == ["a", "b.csv"]
    assert links(2.9 * DAY) == ["a", "b.csv", "late.csv"]
    assert links(9 * DAY) == ["late.csv"]
    # Its first capture is later: whoever knows of it may ask for it.
    early = site.respond(Request(1, Method.GET, START + "a"), 1 * DAY)
    assert isinstance(early, Page)
    assert list(early.links.urls) == [START + "c.csv"]


def test_what_a_run_was_told_last_is_unchanged(archive: Archive) -> None:
    site = ReplaySite(archive)
    observed: dict[str, float] = {}

    def ask(path: str, now: float, method: Method = Method.GET) -> type[Outcome]:
        return type(site.respond(Request(0, method, START + path), now, observed))

    assert ask("b.csv", 1.1 * DAY, Method.HEAD) is Target
    assert [ask("b.csv", now * DAY) for now in (1.1, 1.9, 2.1, 2.2)] == [Target, Unchanged, Target, Unchanged]
    assert ask("b.csv", 2.3 * DAY, Method.HEAD) is Target
    assert [ask("a", now * DAY) for now in (1.1, 1.2, 3.1, 3.2)] == [Page, Unchanged, Failure, Failure]
    # Another run has been told nothing yet.
    assert isinstance(site.respond(Request(0, Method.GET, START + "b.csv"), 2.2 * DAY, {}), Target)


def test_a_run_over_a_history_begins_and_ends_with_it(archive: Archive) -> None:
    options = ReplayOptions(history=True, out_links=True)
    strategy = RevisitInTurn([START], every_seconds=DAY, visits=100)
    run = replay(ReplaySite(archive), strategy, Budget(), options=options)
    asked = [(step.url.removeprefix(START), step.kind, step.score, step.reward) for step in run.trace.steps()]
    assert asked == [
        ("", "page", 0.0, 2.0),
        ("a", "page", 0.0, 1.0),
        ("b.csv", "target", 0.0, 0.0),
        ("c.csv", "target", 0.0, 0.0),
        # A day later the start page has a new link.
        ("", "page", 2.0, 1.0),
        ("late.csv", "target", 0.0, 0.0),
        ("a", "unchanged", 1.0, 0.0),
        ("b.csv", "unchanged", 0.0, 0.0),
        ("c.csv", "unchanged", 0.0, 0.0),
        # Another day later two are gone.
        ("", "page", 1.0, 2.0),
        ("late.csv", "unchanged", 0.0, 0.0),
        ("a", "failure", 0.0, None),
        ("b.csv", "target", 0.0, 0.0),
        ("c.csv", "unchanged", 0.0, 0.0),
    ]
    # A target counts once, whatever becomes of it.
    assert run.trace.targets[-1] == 3
    assert run.stop == HISTORY_OVER


def test_a_run_may_begin_later_and_its_seconds_are_simulated(archive: Archive) -> None:
    options = ReplayOptions(history=True, begin=2 * DAY)
    strategy = RevisitInTurn([START], every_seconds=3600.0, visits=100)
    run = replay(ReplaySite(archive), strategy, Budget(max_seconds=3 * 3600.0), options=options)
    assert [step.url.removeprefix(START) for step in run.trace.steps()][:4] == ["", "a", "b.csv", "late.csv"]
    assert run.stop == Limit.SECONDS.value
    assert len(run.trace) == 5 * 3


def test_out_links_are_told_to_those_who_need_them_only(archive: Archive) -> None:
    class Watching(RevisitInTurn):
        def observe(self, request_id: int, outcome: Outcome, now: float) -> Sequence[Settlement]:
            told.append(outcome.out_links if isinstance(outcome, Page) else None)
            return super().observe(request_id, outcome, now)

    for out_links in (True, False):
        told: list[Sequence[int] | None] = []
        options = ReplayOptions(out_links=out_links)
        replay(ReplaySite(archive), Watching([START], visits=1), Budget(), options=options)
        assert told[0] == ([url_hash(START + "late.csv")] if out_links else None)


def test_an_archive_without_a_history_is_unchanged_when_it_is_visited_again(tmp_path: Path) -> None:
    records = [page("", None, "/a", "/b.csv"), page("a", None), table("b.csv", 5.0, b"1")]
    moved = Record(Entry(START + "old", 301, "", 0, location=START))
    with Archive.open(make(tmp_path / "once", [*records, moved])) as archive:
        site = ReplaySite(archive)
        run = replay(site, RevisitInTurn([START, START + "old"], visits=2), Budget())
        kinds = [step.kind for step in run.trace.steps()]
        assert kinds == ["page", "redirect", "page", "target", *["unchanged"] * 3]
        assert isinstance(site.respond(Request(0, Method.GET, START + "old")), Redirect)
        assert run.stop == FINISHED


def test_an_archive_without_times_is_not_a_history(tmp_path: Path) -> None:
    with (
        Archive.open(make(tmp_path / "once", [page("", None)])) as archive,
        pytest.raises(UsageError, match="not a history"),
    ):
        replay(ReplaySite(archive), RevisitInTurn([START]), Budget(), options=ReplayOptions(history=True))


@pytest.mark.parametrize(
    ("as_of", "urls"), [("1970-01-02", 4), ("1970-01-02T06:00", 4), ("1970-01-04T00:00+00:00", 2)]
)
def test_the_command_replays_a_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_of: str, urls: int
) -> None:
    how = ["--strategy", "bfs", "--format", "json", "--as-of", as_of]
    assert command(["replay", str(make(tmp_path / "news")), *how]) == 0
    assert json.loads(capsys.readouterr().out)["urls_total"] == urls


@pytest.mark.parametrize(
    ("as_of", "said"), [("yesterday", "is not a time"), ("1969-01-01", "begins at 1970-01-02T00:00:00.000Z")]
)
def test_the_command_refuses_a_time_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_of: str, said: str
) -> None:
    assert command(["replay", str(make(tmp_path / "news")), "--as-of", as_of]) == 2
    assert said in capsys.readouterr().err
