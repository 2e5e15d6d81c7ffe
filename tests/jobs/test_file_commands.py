"""A command for each file: at least once, also after a kill, and never at the cost of a file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Coati, coati, said_by, start_coati
from tests.live.scripted import Script, file, page, scripted

__all__ = ["coati"]

PLAIN = ("--delay", "0", "--strategy", "bfs", "--format", "json")


@pytest.fixture
def site() -> Iterator[Script]:
    files = {f"/{name}.csv": file(name.encode() * 10) for name in "abcd"}
    routes = {"/": page("/a.csv", "/b.csv", "/more"), "/more": page("/c.csv", "/d.csv", "/copy.csv")}
    with scripted({**routes, **files, "/copy.csv": files["/a.csv"]}) as server:
        yield server


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """Make a command that appends what it is given to a file, and fails for names in another."""
    script = tmp_path / "note.sh"
    script.write_text(
        'here=$(dirname "$0"); name=$(basename "$1")\n'
        'test -s "$1" || exit 3\n'
        'if grep -qs "$name" "$here/bad"; then echo "not this one" >&2; exit 1; fi\n'
        'echo "$name $2" >> "$here/noted"\n',
        encoding="utf-8",
    )
    return script


def run_for(note: Path) -> tuple[str, str]:
    return "--exec", f"sh {note} {{file}} {{url}}"


def noted(note: Path) -> list[str]:
    path = note.with_name("noted")
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


def test_it_runs_once_for_each_file(coati: Coati, site: Script, note: Path, tmp_path: Path) -> None:
    said = coati("crawl", site.start, "--out", "run", *PLAIN, *run_for(note))
    assert said.code == 0, said.err
    # One that has the same bytes as another is the same file.
    assert sorted(noted(note)) == ["a.csv", "b.csv", "c.csv", "d.csv"]
    assert said.json["commands"] == {"done": 4, "failed": 0, "left": 0, "troubles": []}
    assert f"a.csv {site.base}/a.csv" in note.with_name("noted").read_text()
    again = coati("crawl", "run", "--format", "json", *run_for(note))
    assert (again.json["commands"]["done"], len(noted(note))) == (0, 4)
    # Somebody else's folder brings no command along.
    assert "note.sh" not in (tmp_path / "run" / "run.toml").read_text()
    assert coati("crawl", "run", "--format", "json").json["commands"] is None


def test_failures_are_counted_told_and_made_up_for(
    coati: Coati, site: Script, note: Path, tmp_path: Path
) -> None:
    note.with_name("bad").write_text("a.csv c.csv")
    said = coati("crawl", site.start, "--out", "run", *PLAIN, *run_for(note))
    assert said.code == 0
    counts = said.json["commands"]
    assert (counts["done"], counts["failed"]) == (2, 2)
    assert "Note: the command failed for a.csv: it ended with exit code 1 (not this one)" in said.err
    assert "failed for 2 and was not run for 0" in said.err
    assert {path.name for path in (tmp_path / "run" / "files").iterdir()} >= {"a.csv", "c.csv"}
    note.with_name("bad").unlink()
    assert coati("crawl", "run", "--format", "json", *run_for(note)).json["commands"]["done"] == 2
    assert sorted(noted(note)) == ["a.csv", "b.csv", "c.csv", "d.csv"]


def test_a_run_that_had_no_command_gets_it_later(coati: Coati, site: Script, note: Path) -> None:
    assert coati("crawl", site.start, "--out", "run", *PLAIN).code == 0
    assert coati("crawl", "run", "--format", "json", *run_for(note)).json["commands"]["done"] == 4


def test_after_a_kill_no_file_is_left_out(coati: Coati, site: Script, note: Path, tmp_path: Path) -> None:
    # The first command kills the crawl that started it.
    kills = ("--exec", "sh -c 'kill -9 $PPID' sh {file}")
    process = start_coati("crawl", site.start, "--out", "run", *PLAIN, *kills, cwd=tmp_path)
    assert said_by(process).code == -9
    said = coati("crawl", site.start, "--out", "run", *PLAIN, *run_for(note))
    assert said.code == 0, said.err
    assert sorted(noted(note)) == ["a.csv", "b.csv", "c.csv", "d.csv"]
    assert said.json["targets"] == 5


def test_half_a_line_that_a_power_cut_left_notes_nothing(coati: Coati, site: Script, note: Path) -> None:
    assert coati("crawl", site.start, "--out", "run", *PLAIN, *run_for(note)).code == 0
    notes = Path("run") / "commands.jsonl"
    lines = notes.read_text(encoding="utf-8").splitlines(keepends=True)
    assert {json.loads(line)["file"] for line in lines} == {"a.csv", "b.csv", "c.csv", "d.csv"}
    notes.write_text("".join(lines[:-1]) + lines[-1][:7], encoding="utf-8")
    assert coati("crawl", "run", "--format", "json", *run_for(note)).json["commands"]["done"] == 1
    assert coati("crawl", "run", "--format", "json", *run_for(note)).json["commands"]["done"] == 0


def test_a_file_that_is_gone_is_told(coati: Coati, site: Script, note: Path) -> None:
    assert coati("crawl", site.start, "--out", "run", *PLAIN).code == 0
    (Path("run") / "files" / "b.csv").unlink()
    said = coati("crawl", "run", "--format", "json", *run_for(note))
    assert said.json["commands"]["troubles"] == ["b.csv: the file is no longer there"]


def test_one_that_hangs_is_ended(coati: Coati, site: Script) -> None:
    hangs = ("--exec", f"{sys.executable} -c 'import signal; signal.pause()'", "--exec-timeout", "1s")
    said = coati("crawl", site.start, "--out", "run", "--max-targets", 1, *PLAIN, *hangs)
    assert said.code == 0
    assert said.json["commands"]["troubles"] == ["a.csv: it took longer than 1 s"]


def test_a_harvest_runs_it_for_every_site(coati: Coati, site: Script, note: Path, tmp_path: Path) -> None:
    with scripted({"/": page("/z.csv"), "/z.csv": file(b"z")}) as other:
        (tmp_path / "list.txt").write_text(f"{site.start}\n{other.start}\n", encoding="utf-8")
        options = ("--types", "data", "--out", "all", "--delay", "0", "--format", "json")
        said = coati("harvest", "list.txt", *options, "--max-requests", 4, *run_for(note))
        first = json.loads(said.out.splitlines()[-1])["commands"]
        assert first["done"] == len(noted(note)) > 0
        said = coati("harvest", "all", "--max-requests", "none", "--format", "json", *run_for(note))
    assert json.loads(said.out.splitlines()[-1])["commands"]["failed"] == 0
    assert sorted(noted(note)) == ["a.csv", "b.csv", "c.csv", "d.csv", "z.csv"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("crawl", "http://site.test/"), "there is no command 'no-such-command'"),
        (("harvest", "list.txt", "--types", "data"), "there is no command 'no-such-command'"),
        (("harvest", "list.txt", "--goal", "structured-data", "--no-extract"), "takes pages and no files"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_asked(
    coati: Coati, tmp_path: Path, command: tuple[str, ...], said: str
) -> None:
    (tmp_path / "list.txt").write_text("http://site.test/\n", encoding="utf-8")
    told = coati(*command, "--out", "run", "--exec", "no-such-command {file}")
    assert (told.code, said in told.err) == (2, True), told.err
    assert not (tmp_path / "run").exists()
