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
from coati.testing.server import serve

ROOT = Path(__file__).parents[2]
# What asks search engines cannot be tried here.
ON_THE_WEB = "coati.discover("


def blocks(page: str) -> list[str]:
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


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
        program = "\n".join(block for block in blocks("use-from-python.md") if ON_THE_WEB not in block)
        told = said(program.replace('"https://www.example.org/"', f'"{server.url}", delay=0'), folder)
    assert "example/files/" in told
    assert (folder / "results" / "results.jsonl").is_file()
    assert (folder / "example.watch" / "watch.toml").is_file()


def test_a_strategy_is_checked_as_its_how_to_says(folder: Path) -> None:
    said("\n".join(blocks("write-a-strategy.md")), folder)
