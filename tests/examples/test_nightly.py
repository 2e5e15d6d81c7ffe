"""The job of `examples/nightly`, night after night, and what other tools make of its outcome."""

import configparser
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb

from tests.live.scripted import file, page, scripted
from tests.runs.test_other_tools import ask_datasette
from tests.test_docs import DOCS, fenced

NIGHTLY = Path(__file__).parents[2] / "examples" / "nightly"
A_FILE = ("files/a.csv",)


def night(folder: Path) -> subprocess.CompletedProcess[str]:
    # As at the end of an installation: `coati` is in the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    known = {**os.environ, "PATH": path, "COATI_DELAY": "0", "WATCH_EVERY": "1ms"}
    job = ["sh", str(NIGHTLY / "nightly.sh"), str(folder)]
    return subprocess.run(job, env=known, capture_output=True, text=True, check=False)


def told(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_first_night_takes_what_is_there_and_the_next_what_is_new(tmp_path: Path) -> None:
    routes = {"/": page("/data"), "/data": page("/a.csv"), "/a.csv": file(b"a\n")}
    with scripted(routes) as site, scripted({"/": page("/about"), "/about": page("/")}) as without:
        (tmp_path / "sites.txt").write_text(f"{site.start}\n{without.start}\n", encoding="utf-8")
        first = night(tmp_path)
        assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
        _ask_duckdb(tmp_path, changes=[])
        assert [told["targets"] for told in told(tmp_path / "harvest.json")] == [1, 0, 1]
        asked = len(without.asked)
        site.routes["/data"] = page("/a.csv", "/b.csv")
        site.routes["/b.csv"] = file(b"b\n")
        second = night(tmp_path)
        assert second.returncode == 0, second.stderr
        assert len(without.asked) == asked
    assert told(tmp_path / "watch.jsonl")[-1]["new"] == 1
    _ask_duckdb(tmp_path, changes=[("new",)])
    (rows,) = ask_datasette(tmp_path / "all.sqlite", "/all/targets.json?_shape=objects")
    assert {row["file"] for row in rows["rows"]} == {"a.csv", "b.csv"}


def test_a_night_in_which_no_site_had_a_file_is_loaded(tmp_path: Path) -> None:
    with scripted({"/": page("/about"), "/about": page("/")}) as without:
        (tmp_path / "sites.txt").write_text(f"{without.start}\n", encoding="utf-8")
        assert night(tmp_path).returncode == 0
    _ask_duckdb(tmp_path, files=[], changes=[])


def _ask_duckdb(folder: Path, changes: list[tuple[str]], files: Sequence[tuple[str]] = (A_FILE,)) -> None:
    """Load the night as the page says, in the folder of the job."""
    code = "import sys, duckdb; duckdb.connect('nightly.duckdb').execute(sys.stdin.read())"
    script = (NIGHTLY / "load.sql").read_text(encoding="utf-8")
    subprocess.run([sys.executable, "-c", code], cwd=folder, input=script, text=True, check=True)
    with duckdb.connect(str(folder / "nightly.duckdb"), read_only=True) as database:
        assert database.execute("SELECT file FROM files").fetchall() == list(files)
        assert database.execute("SELECT what FROM changes").fetchall() == changes


def test_a_folder_without_a_list_is_reported(tmp_path: Path) -> None:
    done = night(tmp_path)
    assert done.returncode == 2
    assert "sites.txt" in done.stderr


def test_the_units_start_the_job() -> None:
    units = {}
    for name in ("coati-nightly.service", "coati-nightly.timer"):
        units[name] = configparser.ConfigParser(strict=True)
        units[name].optionxform = str  # type: ignore[assignment,method-assign]
        units[name].read(NIGHTLY / name, encoding="utf-8")
    service = units["coati-nightly.service"]["Service"]
    assert service["ExecStart"] == f"{service['ReadWritePaths']}/nightly.sh {service['ReadWritePaths']}"
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d", units["coati-nightly.timer"]["Timer"]["OnCalendar"])


def test_the_page_shows_what_the_files_hold() -> None:
    (_, load) = fenced(DOCS / "how-to" / "run-every-night.md", "sql")
    assert load.strip() in (NIGHTLY / "load.sql").read_text(encoding="utf-8")
