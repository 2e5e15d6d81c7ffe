"""A disk that is full ends a crawl with a line that names what could not be written, and nothing is lost."""

import errno
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def room_for(size_bytes: int) -> Iterator[None]:
    """Let no file become larger than this: the system's own errors, in what is started here too."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


@pytest.fixture
def crawled(coati: Coati, site: Script) -> None:
    """A run and an archive, in `run` and `kept`."""
    done = coati("crawl", site.start, "--delay", "0", "--out", "run", "--archive", "kept", "--format", "json")
    assert done.json["targets"] == 5


EXPERIMENT = """
table = "small"
title = "Small"
measures = ["auc_ratio"]
seeds = 1
bounds = false
strategies = ["bfs", "dfs"]
sites = ["kept"]
"""
# What each command writes, and what of it may be there after the disk was full.
COMMANDS = [
    (("archive", "reindex", "kept"), "kept", ["kept/archive.toml", "kept/index.sqlite", "kept/warc"]),
    (("replay", "kept", "--strategy", "bfs", "--out", "out"), "out", []),
    (("experiment", "small.toml", "--archives", ".", "--jobs", "1", "--out", "out"), "out", ["out/cells"]),
    (("sample", "run", "--no-guess", "--sheet", "sheet.csv"), "sheet.csv", []),
    (("merge", "run", "--out", "all.sqlite"), "all.sqlite", []),
    (("search", "index", "kept", "--out", "index"), "index", []),
    (("man", "pages"), "pages", ["pages/coati.1"]),
]


@pytest.mark.usefixtures("crawled")
@pytest.mark.parametrize(("command", "place", "left"), COMMANDS, ids=[each[0][0] for each in COMMANDS])
def test_whatever_is_written_to_a_full_disk(
    coati: Coati, command: tuple[str, ...], place: str, left: list[str]
) -> None:
    Path("small.toml").write_text(EXPERIMENT)
    with room_for(100):
        said = coati(*command)
    assert said.code == 5
    assert said.err.splitlines()[-1].startswith(f"coati: {place}: ")
    assert "Traceback" not in said.err
    found = sorted(str(each) for each in Path(place).iterdir()) if Path(place).is_dir() else []
    assert [each for each in found if not each.endswith("/links.npz")] == left
    assert coati(*command).code == 0


@pytest.mark.usefixtures("crawled")
def test_a_disk_that_is_full_in_the_middle_of_a_merge(coati: Coati) -> None:
    assert coati("merge", "run", "--out", "all.sqlite").code == 0
    with room_for(Path("all.sqlite").stat().st_size // 2):
        said = coati("merge", "run", "--out", "all.sqlite", "--overwrite")
    assert (said.code, "coati: all.sqlite: it cannot be written" in said.err) == (5, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_the_output_on_a_full_disk() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "coati", "types"]
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 5
    assert done.stderr == "coati: the output: the disk is full ([Errno 28] No space left on device)\n"


@pytest.mark.usefixtures("crawled")
def test_an_index_that_a_kill_left_unfinished_is_written_again(coati: Coati) -> None:
    Path("index").mkdir()
    Path("index/index.sqlite.unfinished").write_bytes(b"half")
    assert coati("search", "index", "kept", "--out", "index").code == 0
    assert [each.name for each in Path("index").iterdir()] == ["index.sqlite"]
