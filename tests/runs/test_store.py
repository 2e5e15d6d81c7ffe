"""What a store writes down, one request at a time."""

import errno
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coati.errors import UsageError
from coati.model import (
    Failure,
    Hosts,
    Link,
    LinkList,
    Method,
    Other,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Settlement,
    Target,
)
from coati.runs.errors import NoRunError, RunError, RunLockedError, RunVersionError, RunWriteError
from coati.runs.fetched import Fetched
from coati.runs.last_answers import last_answers
from coati.runs.layout import Layout, holds_run, is_free
from coati.runs.skip_reasons import REASONS, SkipReason
from coati.runs.snapshots import SnapshotForm
from coati.runs.store import Recorded, RunStore
from coati.strategies.state import State, pack, unpack
from coati.web.rules import Refusal
from tests.runs.synthetic import CSV, HTML, START, Loop, Site, abandon, check_files, dump, new_store, rows

MENU = ("html", "body", "ul.menu", "li", "a")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with new_store(tmp_path / "run") as store:
        yield store


def fetch(
    store: RunStore,
    number: int,
    url: str,
    outcome: Outcome,
    *,
    arm: int | None = None,
    **parts: Any,  # noqa: ANN401 - those of Fetched
) -> Recorded:
    request = Request(number, parts.pop("method", Method.GET), url, arm, None if arm is None else 0.5)
    store.chosen(request, 1000.0 + number)
    if (
        isinstance(outcome, Target)
        and not parts.keys() & {"body", "body_file"}
        and request.method is Method.GET
    ):
        parts |= {"body": f"body of {url}".encode(), "headers": CSV}
    return store.record(Fetched(request, outcome, 1000.0 + number, 1000.5 + number, **parts))


def page(*urls: str) -> Page:
    return Page(200, 100, LinkList([Link(url, MENU, f"to {url[-1]}", "around") for url in urls]))


CSV_TARGET = Target(200, 33, "text/csv")


def test_a_page_waits_for_no_disk_and_a_target_does(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: set[int] = set()
    sync = os.fsync

    def noted(descriptor: int) -> None:
        waiting.add(threading.get_ident())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    for number in range(5):
        fetch(store, number, f"{START}{number}", page(), body=b"<p>", headers=HTML)
    assert threading.get_ident() not in waiting
    fetch(store, 5, START + "a.csv", CSV_TARGET)
    assert threading.get_ident() in waiting


def test_a_disk_that_fails_behind_our_back_ends_the_run(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("coati.runs.page_warc.PageWarc.sync", fail)

    def go_on() -> None:
        for number in range(100_000):
            fetch(store, number, f"{START}{number}", page(), body=b"<p>", headers=HTML)

    # At the next page that is written after the other thread has met it.
    with pytest.raises(RunWriteError, match="Input/output error"):
        go_on()


def test_only_links_that_are_new_to_the_run_are_kept_and_given_back(store: RunStore) -> None:
    a, b, c = START + "a", START + "b", START + "c"
    recorded = fetch(store, 0, START, page(a, b, START, a), body=b"<p>", headers=HTML)
    assert isinstance(recorded.outcome, Page)
    assert recorded.outcome.links.urls == [a, b]
    assert recorded.outcome.links.link(1) == Link(b, MENU, "to b", "around")
    again = fetch(store, 1, a, page(a, START, c, b), body=b"<p>").outcome
    assert isinstance(again, Page)
    assert again.links.urls == [c]
    assert rows(store, "SELECT url, page FROM links") == [(a, 0), (b, 0), (c, 1)]
    assert rows(store, "SELECT url, links, new_links FROM pages") == [(START, 4, 2), (a, 4, 1)]


def test_a_relevant_page_is_a_target_of_the_run_once_and_comes_back_as_relevant(tmp_path: Path) -> None:
    relevant = replace(page(START + "a"), relevant=True)
    with new_store(tmp_path / "relevant") as store:
        assert fetch(store, 0, START, relevant, body=b"<p>", headers=HTML).new_target
        assert not fetch(store, 1, START, relevant, body=b"<p>", headers=HTML).new_target
        assert not fetch(store, 2, START + "a", page(), body=b"<p>", headers=HTML).new_target
        totals = store.totals
        assert (totals.targets, totals.relevant_pages, totals.pages) == (1, 1, 3)
        assert totals.target_bytes == 100
        assert rows(store, "SELECT targets FROM progress") == [(1,), (1,), (1,)]
        assert [past.is_target for past in last_answers(store.log)] == [True, False]
    with RunStore.open(tmp_path / "relevant", 2000.0) as again:
        assert again.totals == totals
        seen: list[Outcome] = []
        again.restore(lambda: Listening(seen), FORM)
        assert [isinstance(outcome, Page) and outcome.relevant for outcome in seen] == [True, True, False]


class Listening:
    """Follows a log, and keeps the outcomes that it is told."""

    def __init__(self, seen: list[Outcome]) -> None:
        self._seen = seen

    def choose(self, _now: float, _hosts: Hosts) -> None:
        return None

    def redo(self, _request: Request, _now: float) -> None:
        pass

    def observe(self, _request_id: int, outcome: Outcome, _now: float) -> Sequence[Settlement]:
        self._seen.append(outcome)
        return ()

    def save(self) -> State:
        return {}

    def load(self, _state: State) -> None:
        pass

    def arm_label(self, arm: int) -> str:
        return str(arm)


FORM = SnapshotForm("listening", {}, pack, unpack)


def test_a_target_has_its_whole_provenance(store: RunStore) -> None:
    menu, hop, end = START + "menu", START + "hop", START + "get"
    fetch(store, 0, START, page(menu))
    fetch(store, 1, menu, page(hop), arm=4)
    store.settled([Settlement(1, 3.0)])
    fetch(store, 2, hop, Redirect(301, 0, START + "hop2"), arm=7)
    fetch(store, 3, START + "hop2", Redirect(302, 0, end), arm=7)
    recorded = fetch(store, 4, end, CSV_TARGET, arm=7, body=b"1,2\n", headers=CSV)
    assert recorded == Recorded(CSV_TARGET, "files/table.csv", new_target=True)
    assert (store.folder / "files" / "table.csv").read_bytes() == b"1,2\n"
    cursor = store.log.connection.execute("SELECT * FROM targets_with_provenance")
    (row,) = [dict(zip([name for name, *_ in cursor.description], values, strict=True)) for values in cursor]
    assert json.loads(row.pop("redirects")) == [hop, START + "hop2"]
    assert json.loads(row.pop("headers")) == [list(pair) for pair in CSV]
    assert row == {
        "file": "table.csv",
        "title": "to p",
        "anchor": "to p",
        "row_text": "around",
        "heading": None,
        "page_title": None,
        "file_title": None,
        "licence": None,
        "modified": None,
        "url": end,
        "version": 1,
        "found_on": menu,
        "tag_path": "html > body > ul.menu > li > a",
        "media_type": "text/csv",
        "size_bytes": 4,
        "fetched_at": "1970-01-01T00:16:44.500Z",
        "status": 200,
        "arm": 7,
        "score": 0.5,
        "group_label": None,
        "page_arm": 4,
        "page_score": 0.5,
        "page_reward": 3.0,
        "sha256": hashlib.sha256(b"1,2\n").hexdigest(),
        "request": 4,
    }


def test_a_link_that_was_known_before_a_redirect_to_it_is_the_origin(store: RunStore) -> None:
    a, file = START + "a", START + "file.csv"
    fetch(store, 0, START, page(a, file))
    fetch(store, 1, a, Redirect(302, 0, file))
    fetch(store, 2, file, CSV_TARGET)
    assert rows(store, "SELECT found_on, redirects FROM targets") == [(START, "[]")]


def test_equal_bodies_are_stored_once_and_recorded_twice(store: RunStore) -> None:
    first = fetch(store, 0, START + "a.csv", CSV_TARGET, body=b"same", headers=())
    second = fetch(store, 1, START + "b.csv", CSV_TARGET, body=b"same", headers=())
    assert (first.file, first.duplicate) == ("files/a.csv", False)
    assert (second.file, second.duplicate) == ("files/a.csv", True)
    assert [path.name for path in (store.folder / "files").iterdir()] == ["a.csv"]
    assert rows(store, "SELECT url, file FROM targets") == [
        (START + "a.csv", "a.csv"),
        (START + "b.csv", "a.csv"),
    ]
    assert store.totals.targets == 2


def test_a_file_that_somebody_deleted_comes_back_with_the_same_bytes(store: RunStore) -> None:
    fetch(store, 0, START + "a.csv", CSV_TARGET, body=b"same", headers=())
    (store.folder / "files" / "a.csv").unlink()
    fetch(store, 1, START + "b.csv", CSV_TARGET, body=b"same", headers=())
    assert check_files(store) == 2


def test_names_never_clash_not_even_by_case_nor_after_reopening(tmp_path: Path) -> None:
    urls = [f"{START}{n}/{name}" for n, name in enumerate(["t.csv", "T.CSV", "t.csv", "t-2.csv", "t.csv"])]
    store = new_store(tmp_path)
    (tmp_path / "files" / "mine.csv").write_text("a user's own file")
    for number, url in enumerate(urls):
        fetch(store, number, url, CSV_TARGET, body=url.encode())
    store.close()
    with RunStore.open(tmp_path, 2000.0) as store:
        for number in range(10, 30):
            fetch(store, number, f"{START}{number}/t.csv", CSV_TARGET, body=b"%d" % number)
        fetch(store, 40, START + "mine.csv", CSV_TARGET, body=b"other")
        names = [name for (name,) in rows(store, "SELECT name FROM files")]
        assert len({name.casefold() for name in names}) == len(names) == 26
        assert check_files(store) == 26
    assert "mine-2.csv" in names
    assert (tmp_path / "files" / "mine.csv").read_text() == "a user's own file"


def test_a_streamed_body_is_moved_into_place(store: RunStore, tmp_path: Path) -> None:
    inside, outside = store.incoming / "big", tmp_path / "big"
    for number, path in enumerate([inside, outside]):
        path.write_bytes(b"x" * 3_000_000 + b"%d" % number)
        fetch(store, number, f"{START}{number}.csv", CSV_TARGET, body_file=path)
        assert not path.exists()
    duplicate = store.incoming / "again"
    duplicate.write_bytes(b"x" * 3_000_000 + b"0")
    assert fetch(store, 2, START + "2.csv", CSV_TARGET, body_file=duplicate).duplicate
    assert not duplicate.exists()
    assert check_files(store) == 3


def test_a_streamed_body_on_another_file_system_is_copied(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "big"
    source.write_bytes(b"x" * 3_000_000)
    rename = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if self == source:
            raise OSError(errno.EXDEV, "another device")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    fetch(store, 0, START + "a.csv", CSV_TARGET, body_file=source)
    assert check_files(store) == 1
    assert not source.exists()


def test_every_outcome_is_counted(store: RunStore) -> None:
    outcomes: list[Outcome] = [
        page(),
        CSV_TARGET,
        Redirect(302, 5, START + "x"),
        Other(200, 7, "image/png"),
        Failure(0, 0, "timed out"),
        Refused(SkipReason.ROBOTS),
    ]
    for number, outcome in enumerate(outcomes):
        charged = 0 if isinstance(outcome, Refused) else 2
        recorded = fetch(store, number, f"{START}{number}", outcome, charged=charged)
        assert recorded.outcome == outcome or isinstance(outcome, Page)
    totals = store.totals
    assert (totals.requests, totals.targets, totals.bytes, totals.target_bytes) == (10, 1, 145, 33)
    assert totals.failures == 1
    assert totals.by_kind == dict.fromkeys(["page", "target", "redirect", "other", "failure", "refused"], 1)
    assert rows(store, "SELECT * FROM totals") == [(10, 1, 145, 33, 1)]
    assert rows(store, "SELECT requests, targets FROM progress")[-1] == (10, 1)
    assert rows(store, "SELECT url, reason FROM skipped") == [(START + "5", "robots.txt")]


def test_a_head_announces_and_brings_nothing(store: RunStore) -> None:
    fetch(store, 0, START + "a.csv", CSV_TARGET, method=Method.HEAD)
    fetch(store, 1, START + "b", Page(200, 0, LinkList()), method=Method.HEAD)
    assert (store.totals.requests, store.totals.targets) == (2, 0)
    assert rows(store, "SELECT * FROM targets") == rows(store, "SELECT * FROM pages") == []


def test_what_is_skipped_is_listed_once_with_its_reason(store: RunStore) -> None:
    elsewhere = "http://elsewhere.example/"
    private = ((START + "private", SkipReason.PRIVATE_ADDRESS),)
    fetch(store, 0, START, page(), refused=((elsewhere, Refusal.SCOPE),) * 2, skipped=private)
    fetch(store, 2, START + "big.zip", Refused(SkipReason.TOO_LARGE), charged=0)
    fetch(store, 1, START + "a", page(), refused=((elsewhere, Refusal.SCOPE),))
    assert rows(store, "SELECT url, reason, found_on FROM skipped_with_source ORDER BY url") == [
        (elsewhere, "out of scope", START),
        (START + "big.zip", "too large", None),
        (START + "private", "private address", START),
    ]
    assert dict(rows(store, "SELECT * FROM skip_counts")) == {
        "out of scope": 1,
        "private address": 1,
        "too large": 1,
    }


def test_reasons_are_a_closed_set(store: RunStore) -> None:
    assert len(REASONS) == len(Refusal) + len(SkipReason)
    store.chosen(Request(0, Method.GET, START), 1.0)
    with pytest.raises(UsageError, match="not a reason"):
        store.record(Fetched(Request(0, Method.GET, START), Refused("no mood"), 1.0, 1.0))


def test_after_many_of_one_reason_they_are_only_counted(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coati.runs.skips.MAX_LISTED", 3)
    skipped = tuple((f"{START}{number}", SkipReason.NOFOLLOW) for number in range(5))
    fetch(store, 0, START, page(), skipped=skipped)
    assert rows(store, "SELECT count(*) FROM skipped") == [(3,)]
    assert rows(store, "SELECT * FROM skip_counts") == [("nofollow", 5)]


def test_a_request_is_chosen_once_and_recorded_once(store: RunStore) -> None:
    fetch(store, 0, START, page())
    with pytest.raises(UsageError, match="chosen before"):
        fetch(store, 0, START, page())
    with pytest.raises(UsageError, match="not chosen, or recorded before"):
        store.record(Fetched(Request(0, Method.GET, START), page(), 1.0, 1.0))
    with pytest.raises(UsageError, match="not chosen, or recorded before"):
        store.record(Fetched(Request(5, Method.GET, START), page(), 1.0, 1.0))
    assert store.totals.requests == 1
    fetch(store, 1, START + "a", page())  # a mistake of the caller's breaks nothing


def test_text_that_no_database_can_hold_does_not_stop_a_run(store: RunStore) -> None:
    odd = "\ud800 \0 x"
    link = Link(START + "a", ("html", odd), odd, odd)
    recorded = fetch(
        store, 0, START, Page(200, 1, LinkList([link])), headers=((odd, odd),), body=b"x"
    ).outcome
    assert isinstance(recorded, Page)
    clean = recorded.links.link(0)
    assert clean.anchor == "? \0 x"
    assert rows(store, "SELECT anchor FROM links") == [("? \0 x",)]
    fetch(store, 1, START + "a", Failure(500, 1, odd))
    fetch(store, 2, START + "b", Target(200, 1, odd), body=b"x", headers=((odd, odd),))


def test_one_writer_at_a_time(store: RunStore) -> None:
    with pytest.raises(RunLockedError, match="is in use by process"):
        RunStore.open(store.folder, 1.0)
    store.close()
    RunStore.open(store.folder, 1.0).close()


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    assert not holds_run(tmp_path)
    with pytest.raises(NoRunError, match="no run in"):
        RunStore.open(tmp_path, 1.0)
    new_store(tmp_path).close()
    assert holds_run(tmp_path)
    with pytest.raises(UsageError, match="holds a run already"):
        new_store(tmp_path)
    RunStore.open(tmp_path, 1.0).close()  # the lock was let go


def test_a_creation_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    Layout(tmp_path).database.write_bytes(b"")
    assert not holds_run(tmp_path)
    new_store(tmp_path).close()


def test_a_run_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_file = Path.replace

    def killed(draft: Path, path: Path) -> Path:
        if path.name == "run.sqlite":
            raise KeyboardInterrupt
        return replace_file(draft, path)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        new_store(tmp_path)
    monkeypatch.undo()
    assert {path.name for path in tmp_path.iterdir()} == {"run.toml", "run.sqlite.new", "state"}
    assert is_free(tmp_path)
    new_store(tmp_path).close()


DIES_WITHIN_A_TRANSACTION = """
import os, sqlite3, sys
run = sqlite3.connect(sys.argv[1], isolation_level=None)
run.execute("PRAGMA cache_size = 1")
run.execute("CREATE TABLE a AS SELECT randomblob(100000)")
run.execute("BEGIN")
run.execute("DELETE FROM a")
run.execute("CREATE TABLE b AS SELECT randomblob(100000)")
os._exit(0)
"""


def test_what_a_killed_creation_left_does_not_touch_the_next(tmp_path: Path) -> None:
    """Earlier versions wrote into the database itself: a kill left a journal that would undo what follows."""
    database = Layout(tmp_path).database
    subprocess.run([sys.executable, "-c", DIES_WITHIN_A_TRANSACTION, database], check=True)
    assert (tmp_path / "run.sqlite-journal").stat().st_size
    with new_store(tmp_path) as store:
        Loop(store, Site(3, 60), "bfs", 3).steps()
        expected = dump(store)
    with RunStore.open(tmp_path, 2000.0) as again:
        assert dump(again) == expected


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    # As on a read-only medium, also for root.
    Layout(tmp_path).lock.unlink()
    Layout(tmp_path).lock.mkdir()
    with pytest.raises(RunWriteError, match="writing failed"):
        RunStore.open(tmp_path, 2.0)


def test_a_log_of_another_version_says_why_not(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    connection = sqlite3.connect(Layout(tmp_path).database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RunVersionError, match="newer version 99; this is Coati"):
        RunStore.open(tmp_path, 1.0)


def test_a_damaged_database_says_so_and_lets_go(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        Loop(store, Site(3, 60), "bfs", 3).steps()
    path = Layout(tmp_path).database
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    for _ in range(2):  # the second time would find the lock if the first had kept it
        with pytest.raises(RunError, match="cannot be used: database disk image is malformed"):
            RunStore.open(tmp_path, 2000.0)


def test_an_interrupted_write_is_the_last_one(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    fetch(store, 0, START, page(START + "a"))
    with monkeypatch.context() as patch:
        patch.setattr("coati.runs.log.RunLog.add_page", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch(store, 1, START + "a", page(START + "b"))
    with pytest.raises(RunWriteError, match="interrupted"):
        store.chosen(Request(2, Method.GET, START + "b"), 1.0)
    store.close()
    with RunStore.open(store.folder, 2000.0) as again:
        assert rows(again, "SELECT id FROM in_flight") == [(1,)]
        assert again.totals.requests == 1


def test_settings_are_kept_and_may_change(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, {"budget": {"requests": 5}, "proxy": None}, 1.0) as store:
        assert store.settings == {"budget": {"requests": 5}}
        store.change_settings({"budget": {"requests": 9}})
    with RunStore.open(tmp_path, 1.0) as store:
        assert store.settings == {"budget": {"requests": 9}}


def test_sessions_add_up(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        fetch(store, 0, START, page())
        store.finish(1030.0, "budget")
    store = RunStore.open(tmp_path, 5000.0)
    assert store.seconds_spent == 30.0
    store.chosen(Request(1, Method.GET, START + "a"), 5001.0)
    store.record(Fetched(Request(1, Method.GET, START + "a"), page(), 5001.0, 5007.0))
    abandon(store)
    with RunStore.open(tmp_path, 9000.0) as store:
        assert store.seconds_spent == 37.0
        assert rows(store, "SELECT stop_reason FROM sessions") == [("budget",), ("it was killed",), (None,)]


@pytest.mark.parametrize(
    "place",
    [
        "coati.runs.target_files.write_synced",
        "coati.runs.target_files.sync_folder",
        "coati.runs.log.RunLog.add_target",
    ],
)
def test_a_full_disk_loses_nothing_that_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    site = Site(3, 60)
    with new_store(tmp_path / "whole") as whole:
        Loop(whole, site, "bfs", 3).steps()
        expected = dump(whole)
    store = new_store(tmp_path / "run")
    loop = Loop(store, site, "bfs", 3)
    loop.steps(20)
    counted = store.totals.targets
    with monkeypatch.context() as patch:
        patch.setattr(place, full)
        with pytest.raises(
            RunWriteError, match=r"the disk is full .* make room and run the same command again"
        ):
            loop.steps()
        with pytest.raises(RunWriteError):
            loop.store.chosen(Request(999, Method.GET, START), 1.0)
        store.close()
    with RunStore.open(tmp_path / "run", 2000.0) as store:
        assert check_files(store) >= counted
        assert len(list((tmp_path / "run" / "files").iterdir())) == len(rows(store, "SELECT * FROM files"))
        assert list(store.incoming.iterdir()) == []
        Loop(store, site, "bfs", 3).steps()
        assert dump(store) == expected


def test_a_database_that_cannot_grow_is_a_full_disk(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    store.log.connection.execute("PRAGMA max_page_count = 60")
    loop = Loop(store, Site(3, 3000), "bfs", 3)
    with pytest.raises(RunWriteError, match="the disk is full"):
        loop.steps()
    counted = store.totals
    store.close()
    with RunStore.open(tmp_path, 2000.0) as store:
        assert store.totals == counted
        assert check_files(store) == counted.targets
        assert Loop(store, Site(3, 3000), "bfs", 3).steps(50) == 50
