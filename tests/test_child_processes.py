"""Processes of our own: a script that uses us as it stands runs once, whatever it calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coati.child_processes import ChildProcess
from coati.testing.server import SiteServer, serve
from tests.child_targets import answer_path, end_at_once
from tests.harvesting.marked_web import marked_sites
from tests.live.scripted import Route, Script, file, page, scripted

# What users write who never heard of process pools: without `if __name__ == "__main__"`.
SAMPLE = """
print("the script runs", flush=True)
import coati, sys
coati.crawl(sys.argv[1], out="run", types="data", strategy="bfs", delay=0)
print(coati.sample("run", 5).guessed.files)
"""

EXPERIMENT = """
print("the script runs", flush=True)
import coati
coati.experiment("table.toml", out="results", parquet=False, jobs=2)
print("done")
"""
TABLE = """
table = "t"
title = "T"
measures = ["auc"]
sites = [{generated = "qa", pages = 30}]
seeds = 1
strategies = ["bfs", "random"]
"""

HARVEST_PAGES = """
print("the script runs", flush=True)
import coati, sys
found = coati.harvest([sys.argv[1]], goal="structured-data", max_requests=30, out="pages", delay=0)
print(found.extraction.pages == found.totals.targets > 0)
"""

STORE = """
print("the script runs", flush=True)
import coati, sys
own = {"store": "store", "cluster": "local:1", "delay": 0}
done = coati.harvest_into_store([sys.argv[1]], types="data", strategy="bfs", **own)
cycle = coati.watch_store(**own)
print(done.sites[0].targets, cycle.sites)
"""


@pytest.fixture
def site() -> Iterator[Script]:
    routes: dict[str, Route] = {
        "/": page("/data"),
        "/data": page("/a.csv"),
        "/a.csv": file(b"year,rain\n2001,3\n2002,4\n"),
    }
    with scripted(routes) as script:
        yield script


@pytest.fixture
def marked() -> Iterator[SiteServer]:
    with serve(*marked_sites(1)) as served:
        yield served


def said_by(script: str, folder: Path, *arguments: str) -> list[str]:
    """Run a script of a user in a folder; return the lines that it and all its processes printed."""
    name = folder / "script.py"
    name.write_text(script)
    done = subprocess.run(
        [sys.executable, str(name), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_sample_runs_a_script_once(site: Script, tmp_path: Path) -> None:
    assert said_by(SAMPLE, tmp_path, site.start) == ["the script runs", "1"]


def test_an_experiment_runs_a_script_once(tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(TABLE)
    assert said_by(EXPERIMENT, tmp_path) == ["the script runs", "done"]


def test_reading_pages_in_full_runs_a_script_once(marked: SiteServer, tmp_path: Path) -> None:
    assert said_by(HARVEST_PAGES, tmp_path, marked.sites[0].start_url) == ["the script runs", "True"]


def test_workers_on_this_machine_run_a_script_once(site: Script, tmp_path: Path) -> None:
    assert said_by(STORE, tmp_path, site.start) == ["the script runs", "1 1"]


def test_a_child_finds_the_modules_that_its_parent_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "/somewhere"])
    child = ChildProcess(answer_path, "a word")
    assert child.pipe.recv() == ("a word", sys.path)
    child.kill()
    assert not child.is_alive


def test_a_child_that_ends_closes_its_pipe() -> None:
    child = ChildProcess(end_at_once)
    with pytest.raises(EOFError):
        child.pipe.recv()
    child.kill()


def test_what_a_script_defines_is_unknown_to_its_processes(tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(TABLE)
    script = """
import coati
class Mine:
    pass
try:
    coati.experiment("table.toml", parquet=False, jobs=1, strategies=["__main__:Mine"])
except coati.CoatiError as error:
    print(error)
"""
    (line,) = said_by(script, tmp_path)
    assert line.startswith("what a script or a notebook defines is unknown to other processes: put it into")
