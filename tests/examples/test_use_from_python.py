"""What the how-tos say about the library works as it is written there, in the folder of a reader."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coati
from coati.testing.sample_site import sample_site
from coati.testing.server import SiteServer, serve
from tests.cli.test_discover_and_harvest import engine, sites
from tests.live.scripted import Script, file, page, scripted

__all__ = ["engine", "sites"]

ROOT = Path(__file__).parents[2]
# What asks search engines is tried with one of ours.
ON_THE_WEB = "coati.discover("


def blocks(path: str) -> list[str]:
    """Return what a page says in Python, but for what shows its results."""
    text = (ROOT / "docs" / path).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [block for block in found if ">>> " not in block]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder where the reader works, with a strategy of their own in it."""
    shutil.copy(ROOT / "examples" / "shallow_first.py", tmp_path)
    (tmp_path / "my_module.py").write_text("from shallow_first import ShallowFirst as MyStrategy\n")
    return tmp_path


def said(program: str, folder: Path) -> str:
    """Run a program as a reader does, and return what it prints."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library_does_what_its_how_to_says(folder: Path) -> None:
    with serve(sample_site) as server:
        archive = folder / "archives" / "example"
        coati.crawl(server.url, archive=archive, out=folder / "first", delay=0, max_requests=60)
        parts = (block for block in blocks("how-to/use-from-python.md") if ON_THE_WEB not in block)
        program = "\n".join(parts)
        told = said(program.replace('"https://www.example.org/"', f'"{server.url}", delay=0'), folder)
    assert "example/files/" in told
    assert (folder / "results" / "results.jsonl").is_file()
    assert (folder / "example.watch" / "watch.toml").is_file()


def test_a_search_finds_repositories_and_their_files_as_the_how_to_says(
    sites: SiteServer, engine: Script, folder: Path
) -> None:
    (block,) = (block for block in blocks("how-to/use-from-python.md") if ON_THE_WEB in block)
    here = 'delay=0, limits=["allow_private=true"]'
    # The sites of the engine are about rain.
    program = block.replace("air quality", "rain data").replace(
        '["duckduckgo"]', f'["searxng={engine.base}"], max_queries=1, {here}'
    )
    told = said(f"import coati\n{program.replace('harvest(', f'harvest({here}, ')}", folder)
    assert [line.split()[0] for line in told.splitlines()] == ["1", "2"]
    assert (folder / "air-files" / "sites.csv").is_file()
    assert any(seen.url.endswith(".csv") for seen in sites.requests)


def test_the_reference_crawls_and_reads_a_run_as_it_says(folder: Path) -> None:
    routes = {"/": page("/data/"), "/data/": page("/data/a.csv"), "/data/a.csv": file()}
    live, existing = blocks("reference/python-api.md")
    with scripted(routes) as site:
        program = live.replace("https://www.example.org/", site.start)
        told = said(program.replace("LiveSettings(", "LiveSettings(delay_seconds=0.0, "), folder)
        coati.crawl(site.start, out=folder / "first", delay=0)
    assert told.splitlines()[-1] == "nothing was left to request 1"
    *_, file_line, because, report = said(existing, folder).splitlines()
    assert file_line == f"a.csv {site.start}data/"
    assert because
    assert report == "first/report.html"


@pytest.mark.parametrize("reference", ["archive-format", "run-folder"])
def test_the_references_of_folders_read_them_as_they_say(reference: str, folder: Path) -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": file()}) as site:
        coati.crawl(site.start, out=folder / "run-folder", archive=folder / "archive-format", delay=0)
    (folder / reference).rename(folder / "example")
    assert "a.csv" in said("\n".join(blocks(f"reference/{reference}.md")), folder)
