"""A run is read without being changed, wherever it lies."""

import hashlib
import sqlite3
from pathlib import Path

import pytest

from coati.jobs.merging import merge
from coati.runs.errors import RunError, RunVersionError
from coati.runs.layout import Layout
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from tests.runs.synthetic import Loop, Site, new_store


def killed_run(folder: Path, copy: Path) -> int:
    """Copy a run whose last events stand beside its database, as a kill leaves it; returns its requests."""
    with new_store(folder) as store:
        Loop(store, Site(3, 60), "bfs", 3).steps(20)
        copy.mkdir()
        for name in ("run.toml", "run.sqlite", "run.sqlite-wal"):
            (copy / name).write_bytes((folder / name).read_bytes())
        with RunReader(folder) as run:
            return run.totals().requests


def content(folder: Path) -> dict[str, str]:
    files = [path for path in folder.iterdir() if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_killed_run_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    requests = killed_run(tmp_path / "run", folder)
    # SQLite cannot make the file that it needs beside the log: as on a read-only medium, also for root.
    (folder / "run.sqlite-shm").symlink_to(tmp_path / "nowhere" / "shm")
    before = content(folder)
    with RunReader(folder) as run:
        assert run.totals().requests == requests
    (merged,) = merge([folder], tmp_path / "all.sqlite").sites
    assert merged.requests == requests
    assert content(folder) == before


def test_a_finished_run_stays_as_it_is(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        Loop(store, Site(3, 60), "bfs", 3).steps()
    before = content(tmp_path)
    with RunReader(tmp_path) as run, pytest.raises(sqlite3.OperationalError, match="readonly"):
        run.connection.execute("DELETE FROM requests")
    assert content(tmp_path) == before


def test_a_log_of_another_version_is_not_read(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    with sqlite3.connect(Layout(tmp_path).database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RunVersionError, match="newer version 99"):
        RunReader(tmp_path)


def former_version(folder: Path) -> list[tuple[str | None, int]]:
    """Make a run, and its log one of version 3; returns how often each kind was observed."""
    with new_store(folder) as store:
        Loop(store, Site(3, 60), "bfs", 3).steps(40)
    counted = "SELECT kind, count(*) FROM requests GROUP BY kind ORDER BY kind"
    with sqlite3.connect(Layout(folder).database) as connection:
        kinds: list[tuple[str | None, int]] = connection.execute(counted).fetchall()
        connection.executescript("""
            UPDATE requests SET kind = 'html' WHERE kind = 'page';
            UPDATE requests SET kind = 'broken' WHERE kind = 'failure';
            ALTER TABLE groups RENAME COLUMN failures TO errors;
            UPDATE about SET value = '3' WHERE name = 'schema';
            DROP VIEW totals;
            CREATE VIEW totals AS SELECT sum(kind = 'broken') AS errors FROM requests;
            PRAGMA user_version = 3;
        """)
    connection.close()
    return kinds


@pytest.mark.parametrize("resumed", [False, True])
def test_a_log_of_the_former_version_speaks_the_words_of_this_one(tmp_path: Path, *, resumed: bool) -> None:
    kinds = former_version(tmp_path)
    before = content(tmp_path)
    if resumed:
        RunStore.open(tmp_path, 2000.0).close()
    with RunReader(tmp_path) as run:
        found = run.connection.execute("SELECT kind, count(*) FROM requests GROUP BY kind ORDER BY kind")
        assert [tuple(row) for row in found] == kinds
        assert {"page", "failure"} <= dict(kinds).keys()
        (failures,) = run.connection.execute("SELECT failures FROM totals").fetchone()
        assert failures == run.totals().failures == dict(kinds)["failure"]
        assert run.connection.execute("SELECT value FROM about WHERE name = 'schema'").fetchone()[0] == "4"
        (rows,) = run.connection.execute("SELECT count(failures) FROM groups").fetchone()
        assert rows == run.connection.execute("SELECT count(*) FROM groups").fetchone()[0]
        requests = run.totals().requests
    (merged,) = merge([tmp_path], tmp_path / "all.sqlite").sites
    assert merged.requests == requests
    (tmp_path / "all.sqlite").unlink()
    # Who reads leaves the log as it is; who resumes the run brings it up to date.
    assert (content(tmp_path) == before) != resumed


def test_a_damaged_log_says_so(tmp_path: Path) -> None:
    new_store(tmp_path).close()
    path = Layout(tmp_path).database
    path.write_bytes(path.read_bytes()[:100] + bytes(4000))
    with pytest.raises(RunError, match=r"the database in .* cannot be read"):
        RunReader(tmp_path)
