"""What a shell offers behind the Tab key."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from coati.cli.completion import SHELLS
from coati.cli.main import COMMANDS
from coati.cli.main import coati as program
from tests.cli.commands import Coati, coati
from tests.runs.synthetic import new_store

__all__ = ["coati"]


def offered(line: str) -> list[str]:
    """Return what is offered for the last word of a command line."""
    *words, last = line.split(" ")
    found = ShellComplete(program, {}, "coati", "_COATI_COMPLETE").get_completions(words[1:], last)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in found]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("coati ", ["archive", "crawl", "merge"]),
        ("coati archive ", ["export", "import"]),
        ("coati crawl --strategy sc", ["scent"]),
        ("coati crawl --types ", ["data", "tables"]),
        ("coati crawl --types data,ta", ["data,tables"]),
        ("coati crawl --scope ", ["host", "any"]),
        ("coati crawl --limits retr", ["retries="]),
        ("coati crawl --archive ", ["<file>"]),
        ("coati crawl --limit-", ["--limit-rate"]),
        ("coati discover x --search lo", ["local="]),
        ("coati harvest list.txt --folders ", ["flat", "site"]),
        ("coati watch x --scheduler arr", ["arrivals"]),
        ("coati replay a --strategy bfs,sc", ["bfs,scent"]),
        ("coati replay a --types ta", ["tables"]),
        ("coati archive import a b --types ta", ["tables"]),
        ("coati completion ", list(SHELLS)),
        ("coati export a ", ["<file>"]),
    ],
)
def test_values_are_offered(line: str, some: list[str]) -> None:
    assert set(some) <= set(offered(line))
    start = line.rpartition(" ")[2]
    assert all(value.startswith((start, "<")) for value in offered(line))


@pytest.mark.parametrize("line", ["coati crawl --delay ", "coati crawl --user "])
def test_what_nobody_can_know_is_not_guessed(line: str) -> None:
    assert offered(line) == []


def test_runs_are_offered_where_one_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "other", "sites/deep"):
        new_store(tmp_path / name).close()
    (tmp_path / "only-a-folder").mkdir()
    for command in ("crawl", "show", "report", "verify", "watch", "merge one", "sample", "explain URL --run"):
        assert offered(f"coati {command} o") == ["one", "other"]
    assert offered("coati show sites/") == ["sites/deep"]
    # On the way to one, the shell itself offers folders.
    assert offered("coati show si") == ["<dir>"]
    assert offered("coati show missing/o") == []


def test_offering_commands_imports_none_of_them() -> None:
    code = (
        "import sys; from click.shell_completion import ShellComplete; from coati.cli.main import coati;"
        "print(len(ShellComplete(coati, {}, 'coati', 'X').get_completions([], '')));"
        "print([name for name in sys.modules if name in ('numpy', 'scrapy', 'coati.cli.crawl')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(len(COMMANDS)), "[]"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_calls_the_program(coati: Coati, shell: str) -> None:
    said = coati("completion", shell)
    assert said.code == 0
    assert f"_COATI_COMPLETE={shell}_complete" in said.out


def test_the_program_answers_a_shell() -> None:
    script = "import os; os.environ.update(C); from coati.cli.main import main; main()"
    known = {"COMP_WORDS": "coati crawl --scope h", "COMP_CWORD": "3", "_COATI_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-c", f"C = {known!r}; {script}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "plain,host\n")
