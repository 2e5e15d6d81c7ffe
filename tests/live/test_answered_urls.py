"""A URL is asked for again: what is sent, what comes of it, and that all drivers see the same."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import Entry, Record
from coati.budget import Budget
from coati.cli.main import run as command
from coati.live.answered_urls import AnsweredUrls
from coati.model import Failure, Hosts, Method, Outcome, Redirect, Request, Settlement, Target, Unchanged
from coati.replaying.driver import FINISHED, ReplayOptions, replay
from coati.replaying.site import ReplaySite
from coati.runs.last_visit import LastVisit
from coati.runs.store import RunStore
from coati.stop_reasons import StopReason
from coati.testing.revisiting import RevisitInTurn
from coati.times import from_iso
from coati.web.traps import TrapSettings
from tests.live.crawling import FORM, crawl_from, crawl_into
from tests.live.scripted import Script, answer, in_turn, page, scripted
from tests.live.visiting import (
    EVERY_SECONDS,
    Killer,
    LoggedTimes,
    changing_site,
    decisions,
    links,
    open_archive,
    round_robin,
    versions,
    visit_into,
)

NOW = 2_000_000_000.0


def test_live_replay_and_restore_decide_alike_with_visits(tmp_path: Path) -> None:
    run, held = tmp_path / "run", tmp_path / "archive"
    with scripted(changing_site()) as server:
        with open_archive(held, server.start) as archive:
            crawled = visit_into(run, server.start, archive=archive)
        live = decisions(run, server.base)
        assert crawled.result.stop is StopReason.FINISHED
        assert {kind for _, kind, _, _ in live} == {"page", "target", "unchanged", "failure", "redirect"}
        assert [path for path, *_ in live].count("/") == 4

        with Archive.open(held) as archive:
            options = ReplayOptions(history=True, clock=LoggedTimes(run), out_links=True)
            replayed = replay(ReplaySite(archive), round_robin(server.start), Budget(), options=options)
        steps = [
            (step.url.removeprefix(server.base), step.kind, step.score, step.reward)
            for step in replayed.trace.steps()
        ]
        assert steps == live
        assert replayed.stop == FINISHED
        assert replayed.trace.targets[-1] == crawled.result.progress.targets == 2

        def restored() -> object:
            with RunStore.open(run, NOW) as store:
                return store.restore(lambda: round_robin(server.start), FORM).strategy.save()

        from_snapshot = restored()
        shutil.rmtree(run / "state")
        assert restored() == from_snapshot


def test_a_crawl_that_was_killed_visits_as_if_nothing_had_been(tmp_path: Path) -> None:
    with scripted(changing_site()) as server:
        visit_into(tmp_path / "whole", server.start)
        whole = decisions(tmp_path / "whole", server.base)
    killer = Killer(changing_site(), at=(2, 9, 17))
    with scripted(killer.routes) as server:
        ends: list[int] = []
        while not ends or ends[-1] != 0:
            ends.append(killer.crawl(tmp_path / "killed", server.start))
            assert len(ends) < 9
        assert decisions(tmp_path / "killed", server.base) == whole
    assert len(ends) == 4


def test_a_target_that_changed_is_one_target_with_two_versions(tmp_path: Path) -> None:
    with scripted(changing_site()) as server:
        crawled = visit_into(tmp_path / "run", server.start)
        with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as run:
            query = "SELECT version, file FROM targets WHERE url = ? ORDER BY version"
            kept = [run.execute(query, (server.base + path,)).fetchall() for path in ("/x.csv", "/y.csv")]
            (purposes,) = run.execute("SELECT count(*) FROM requests WHERE purpose = 'visit'").fetchone()
        with RunStore.open(tmp_path / "run", NOW) as store:
            assert store.totals.targets == 2
    assert kept == [[(1, "x.csv"), (2, "x-2.csv")], [(1, "y.csv"), (2, "y-2.csv")]]
    assert crawled.result.progress.targets == 2
    assert purposes == sum(asked.path != "/robots.txt" for asked in server.asked) - 8


@pytest.mark.parametrize("kept", [True, False])
def test_a_budget_of_targets_counts_each_once(tmp_path: Path, *, kept: bool) -> None:
    routes = {"/": page("/x.csv", "/y.csv"), "/x.csv": versions("1", "2", "3", media_type="text/csv")}
    with scripted(routes) as server:
        plan = {"new_strategy": lambda: round_robin(server.start), "max_targets": 2}
        crawled = (
            crawl_into(tmp_path / "run", server.start, **plan) if kept else crawl_from(server.start, **plan)
        )
    assert crawled.result.stop is StopReason.FINISHED
    assert crawled.result.progress.targets == 1
    assert server.paths.count("/x.csv") == 4


class Asks:
    """Asks for some URLs in turn, and keeps what came of them."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls
        self.outcomes: list[Outcome] = []

    def choose(self, now: float, hosts: Hosts) -> Request | None:
        turn = len(self.outcomes)
        return Request(turn, Method.GET, self._urls[turn]) if turn < len(self._urls) else None

    def observe(self, request_id: int, outcome: Outcome, now: float) -> tuple[Settlement, ...]:
        self.outcomes.append(outcome)
        return ()

    def redo(self, request: Request, now: float) -> None:
        raise NotImplementedError("its runs are not resumed")

    def load(self, state: object) -> None:
        raise NotImplementedError("its runs are not resumed")

    def save(self) -> dict[str, object]:
        return {}

    def arm_label(self, arm: int) -> str:
        raise NotImplementedError("its requests have no arm")


def ask(tmp_path: Path, server: Script, *paths: str, **changes: object) -> list[Outcome]:
    strategy = Asks([server.base + path for path in paths])
    crawl_into(tmp_path / "run", server.start, new_strategy=lambda: strategy, **changes)
    return strategy.outcomes


def sent(server: Script, path: str) -> list[tuple[str | None, str | None]]:
    return [
        (asked.headers.get("if-none-match"), asked.headers.get("if-modified-since"))
        for asked in server.asked
        if asked.path == path
    ]


def test_validators_go_to_the_url_that_gave_them_and_nowhere_else(tmp_path: Path) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    with scripted({"/other.csv": versions("1", media_type="text/csv")}) as other:
        moved = answer(200, ETag='"a"', Last_Modified=date), answer(302, Location=other.base + "/other.csv")
        with scripted({"/": in_turn(*moved, answer(200))}) as server:
            ask(tmp_path, server, "/", "/", "/")
            # After the redirect nothing is left that could be unchanged.
            assert sent(server, "/") == [(None, None), ('"a"', date), (None, None)]
        assert not other.asked


def test_unchanged_is_what_the_run_itself_was_given_before(tmp_path: Path) -> None:
    with scripted({"/": versions("1", media_type="text/csv")}) as server:
        outcomes = ask(tmp_path, server, "/", "/", "/")
        assert [type(outcome) for outcome in outcomes] == [Target, Unchanged, Unchanged]
        assert outcomes[1] == Unchanged(304, 0)


def test_the_log_is_not_queried_about_what_was_just_found_to_be_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queried: list[str] = []
    store = RunStore.create(tmp_path / "run", {}, NOW)
    monkeypatch.setattr(store.log, "last_visit", queried.append)
    visits = AnsweredUrls(store, earlier=lambda _: LastVisit(gave=True))
    visits.begin("http://example.org/")
    assert visits.last("http://example.org/") == LastVisit(gave=True)
    assert not queried
    visits.end("http://example.org/")
    visits.last("http://example.org/")
    assert queried == ["http://example.org/"]


@pytest.mark.parametrize("etag", ["x" * 5000, '"a b"', "", '"\x01"'])
def test_a_tag_that_cannot_be_sent_back_is_not_sent(tmp_path: Path, etag: str) -> None:
    with scripted({"/": answer(200, ETag=etag, Last_Modified="never")}) as server:
        ask(tmp_path, server, "/", "/")
        assert sent(server, "/") == [(None, None)] * 2


def test_not_modified_is_a_failure_where_nobody_asked(tmp_path: Path) -> None:
    with scripted({"/": answer(304), "/a": versions("1")}) as server:
        outcomes = ask(tmp_path, server, "/", "/", "/a")
    failure = Failure(304, 0, "status 304 without a conditional request")
    assert outcomes[:2] == [failure, failure]


def test_redirects_that_are_visited_again_are_no_chain(tmp_path: Path) -> None:
    routes = {
        "/": answer(301, Location="/a"),
        "/a": answer(301, Location="/"),
        "/b": answer(301, Location="/c"),
    }
    with scripted(routes) as server:
        again = ask(tmp_path / "again", server, *["/b"] * 15)
        loop = ask(tmp_path / "loop", server, *["/", "/a"] * 8)
    assert all(isinstance(outcome, Redirect) for outcome in again)
    assert Failure(301, 0, "too many redirects") in loop


def test_a_page_that_is_visited_again_is_no_trap(tmp_path: Path) -> None:
    same = [links("/a")] * 9
    traps = TrapSettings(max_equal_pages=2, max_chain=2)
    for etags in (True, False):
        with scripted({"/": versions(*same, links("/a", "/new"), etags=etags), "/a": page()}) as server:
            crawled = crawl_into(
                tmp_path / f"run-{etags}",
                server.start,
                new_strategy=lambda server=server: RevisitInTurn([server.start], EVERY_SECONDS, 10),
                traps=traps,
            )
        assert "/new" in server.paths
        assert not crawled.skipped


def archived(url: str, body: bytes, at: float, etag: str = '"0"') -> Record:
    headers = (("Content-Type", "text/csv"), ("ETag", etag))
    return Record(Entry(url, 200, "text/csv", len(body), fetched_at=at), headers, body)


@pytest.mark.parametrize(("etag", "size"), [('"0"', 8), ('"other"', 1)])
def test_what_only_the_archive_knows_is_answered_by_it_if_it_is_unchanged(
    tmp_path: Path, etag: str, size: int
) -> None:
    with (
        scripted({"/": versions("1", media_type="text/csv")}) as server,
        open_archive(tmp_path / "archive", server.start) as archive,
    ):
        archive.add(archived(server.start, b"archived", 1000.0, etag))
        outcomes = ask(tmp_path, server, "/", "/", archive=archive, archive_max_age_seconds=60.0)
        assert outcomes == [Target(200, size, "text/csv"), Unchanged(304, 0)]
        assert sent(server, "/") == [(etag, None), ('"0"', None)]
        # "Not modified" is not a capture.
        assert len(archive.captures(server.start)) == (1 if size == 8 else 2)


def test_a_young_capture_answers_once_and_a_visit_goes_to_the_web(tmp_path: Path) -> None:
    with (
        scripted({"/": versions("1", "2", media_type="text/csv")}) as server,
        open_archive(tmp_path / "archive", server.start) as archive,
    ):
        # It is from the future: a clock went back.
        archive.add(archived(server.start, b"archived", NOW))
        outcomes = ask(tmp_path, server, "/", "/", archive=archive, archive_max_age_seconds=60.0)
        assert [outcome.size_bytes for outcome in outcomes if isinstance(outcome, Target)] == [8]
        assert server.paths.count("/") == 1
        again = ask(tmp_path / "again", server, "/", "/", archive=archive)
        # What was fetched after it counts as newer, whatever the clock says.
        assert [outcome.size_bytes for outcome in again if isinstance(outcome, Target)] == [8, 1]
        assert archive.body(server.start) == b"2"
        assert [entry.moment for entry in archive.captures(server.start)] == [NOW, NOW]


def test_out_links_are_logged_for_those_who_need_them_only(tmp_path: Path) -> None:
    for needed in (True, False):
        folder = tmp_path / f"{needed}"
        with scripted({"/": page("/a", "/"), "/a": page()}) as server:
            crawl_into(folder, server.start, out_links=needed)
        with closing(sqlite3.connect(folder / "run.sqlite")) as run:
            logged = [blob for (blob,) in run.execute("SELECT out_links FROM pages ORDER BY request")]
        assert [None if blob is None else len(blob) for blob in logged] == (
            [4 + 16, 4] if needed else [None] * 2
        )


def test_a_strategy_that_waits_is_asked_again_when_its_time_has_come(tmp_path: Path) -> None:
    with scripted({"/": page()}) as server:
        visit_into(tmp_path / "run", server.start)
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as run:
        times = [
            (from_iso(chosen), from_iso(finished))
            for chosen, finished in run.execute("SELECT chosen_at, finished_at FROM requests ORDER BY id")
        ]
    assert len(times) == 4
    assert all(chosen >= finished + EVERY_SECONDS for (_, finished), (chosen, _) in pairwise(times))


def test_a_registry_row_says_who_needs_out_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strategy = ["--strategy", "tests.live.visiting:ROW", "--format", "json"]
    run, held, out = (str(tmp_path / name) for name in ("run", "archive", "out"))
    with scripted(changing_site()) as server:
        how = ["--delay", "0", "--quiet", "--no-stop-when-dry", "--archive", held, "--out", run]
        assert command(["crawl", server.start, *strategy, *how]) == 0
        live = decisions(Path(run), server.base)
        assert max(score for _, _, score, _ in live) > 0
    assert command(["replay", held, *strategy, "--out", out]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert results[0]["targets"] == 2
    assert results[1]["requests"] > results[1]["urls_total"]
    with (Path(out) / "tests.live.visiting-ROW.csv").open(encoding="utf-8") as file:
        assert max(float(row["score"]) for row in csv.DictReader(file)) > 0
