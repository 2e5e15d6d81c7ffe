"""A disk that is full ends a crawl with a line that names what could not be written, and nothing is lost."""

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.archive.index import Index
from coati.archive.volumes import Volumes
from tests.cli.commands import Coati, coati
from tests.live.scripted import Script, file, page, scripted

__all__ = ["coati"]


@pytest.fixture
def site() -> Iterator[Script]:
    routes = {"/": page(*(f"/{n}.csv" for n in range(5))), **{f"/{n}.csv": file(b"%d" % n) for n in range(5)}}
    with scripted(routes) as server:
        yield server


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_events_on_a_full_disk(coati: Coati, site: Script) -> None:
    crawl = ("crawl", site.start, "--delay", "0", "--out", "run", "--format", "json")
    said = coati(*crawl, "--events", "/dev/full")
    assert said.code == 5
    assert "coati: the events could not be written to /dev/full" in said.err
    assert "Traceback" not in said.err
    assert coati(*crawl, "--events", "events").json["targets"] == 5


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_log_of_a_harvest_on_a_full_disk(coati: Coati, site: Script) -> None:
    Path("sites.txt").write_text(site.start)
    harvest = ("harvest", "sites.txt", "--goal", "structured-data", "--no-extract", "--delay", "0")
    said = coati(*harvest, "--out", "run", "--log-file", "/dev/full")
    assert (said.code, "could not be written to /dev/full" in said.err) == (5, True)
    assert "Traceback" not in said.err


@pytest.mark.parametrize("at", [1, 3])
def test_an_archive_on_a_full_disk(
    coati: Coati, site: Script, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    written, room = 0, at - 1
    append = Volumes.append

    def full(volumes: Volumes, member: bytes, before: bytes = b"") -> object:
        nonlocal written
        written += 1
        if written > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return append(volumes, member, before)

    monkeypatch.setattr(Volumes, "append", full)
    crawl = ("crawl", site.start, "--delay", "0", "--out", "run", "--archive", "kept", "--format", "json")
    said = coati(*crawl)
    assert said.code == 5
    kept = Path("kept").absolute()
    assert f"coati: the archive {kept} could not be written: [Errno 28] No space left" in said.err
    assert "Traceback" not in said.err
    room = 1000
    assert coati(*crawl).json["targets"] == 5


def full_database(*_: object) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


def test_an_archive_that_cannot_begin_for_a_full_disk(
    coati: Coati, site: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = ("crawl", site.start, "--delay", "0", "--out", "run", "--archive", "kept", "--format", "json")
    with monkeypatch.context() as patched:
        patched.setattr(Index, "create", full_database)
        said = coati(*crawl)
    assert said.code == 5
    assert f"coati: {Path('kept').absolute()}: the disk is full" in said.err
    assert coati(*crawl).json["targets"] == 5


def test_an_archive_of_a_search_that_cannot_begin_for_a_full_disk(
    coati: Coati, site: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Index, "create", full_database)
    said = coati(
        "discover",
        "rain",
        "--search",
        f"searxng={site.start}",
        "--archive",
        "kept",
        "--out",
        "run",
        "--quiet",
    )
    assert (said.code, f"{Path('kept').absolute()}: the disk is full" in said.err) == (5, True)
