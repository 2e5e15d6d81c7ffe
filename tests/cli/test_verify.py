"""``coati verify``: files that are missing or changed are named."""

import json
from pathlib import Path

import pytest

from coati import verify
from coati.runs.layout import Layout
from coati.runs.lock import lock_run
from tests.cli.commands import Coati, coati
from tests.live.scripted import file, page, scripted

__all__ = ["coati"]


@pytest.fixture
def run(coati: Coati, tmp_path: Path) -> Path:
    routes = {"/": page(*(f"/{n}.csv" for n in range(5))), **{f"/{n}.csv": file(b"%d" % n) for n in range(5)}}
    with scripted(routes) as site:
        assert coati("crawl", site.start, "--delay", "0", "--out", "run", "--archive", "kept").code == 0
    return tmp_path / "run"


def test_a_fresh_run_is_whole(coati: Coati, run: Path) -> None:
    said = coati("verify", run)
    assert (said.code, said.out) == (0, "5 files, 0 damaged\n")


def test_what_is_missing_or_changed_is_named(coati: Coati, run: Path) -> None:
    (run / "files" / "1.csv").unlink()
    (run / "files" / "2.csv").write_bytes(b"3")
    (run / "files" / "3.csv").write_bytes(b"longer")
    (run / "files" / "4.csv").unlink()
    (run / "files" / "4.csv").mkdir()
    said = coati("verify", run)
    assert said.code == 2
    assert [line.split(",")[0].split(": ")[0] for line in said.out.splitlines()] == [
        *("missing", "changed", "changed", "missing", "5 files")
    ]
    assert f"changed: {run / 'files' / '2.csv'}, from http://127.0.0.1:" in said.out
    told = coati("verify", run, "--format", "json").json
    assert told["files"] == 5
    assert {(one["file"], one["state"]) for one in told["damaged"]} == {
        *(("1.csv", "missing"), ("2.csv", "changed"), ("3.csv", "changed"), ("4.csv", "missing"))
    }
    assert all(one["url"].endswith(one["file"]) for one in told["damaged"])


def test_where_there_is_no_run_that_is_said(coati: Coati) -> None:
    said = coati("verify", ".")
    assert said.code == 2
    assert "there is no run" in said.err


def test_a_fresh_archive_is_whole(coati: Coati, run: Path) -> None:
    said = coati("archive", "verify", run.parent / "kept", "--format", "json")
    assert (said.code, json.loads(said.out)["damaged"]) == (0, [])


def test_the_list_of_files_has_their_hashes(run: Path) -> None:
    header, first, *_ = (run / "files.csv").read_text("utf-8-sig").splitlines()
    assert header.endswith(",sha256")
    assert len(first.rpartition(",")[2]) == 64


def test_what_can_be_fetched_again_is_put_back(coati: Coati) -> None:
    files = {f"/{n}.csv": file(b"%d" % n * (n + 1) ** 9) for n in range(5)}
    with scripted({"/": page(*files), **files}) as site:
        assert coati("crawl", site.start, "--delay", "0", "--out", "run").code == 0
        kept = {path.name: path.read_bytes() for path in Path("run/files").iterdir()}
        Path("run/files/1.csv").unlink()
        Path("run/files/2.csv").write_bytes(b"changed")
        Path("run/files/3.csv").unlink()
        # Streamed to a file by the live driver, as large ones are.
        Path("run/files/4.csv").unlink()
        site.routes["/3.csv"] = file(b"another edition")
        site.asked.clear()
        said = coati("verify", "run", "--repair", "--format", "json")
    assert {"/1.csv", "/2.csv", "/3.csv", "/4.csv"} == set(site.paths) - {"/robots.txt"}
    assert said.code == 2
    told = {one["file"]: one["repaired"] for one in said.json["damaged"]}
    assert told == {"1.csv": True, "2.csv": True, "3.csv": False, "4.csv": True}
    del kept["3.csv"]
    assert {path.name: path.read_bytes() for path in Path("run/files").iterdir()} == kept
    again = coati("verify", "run")
    assert (again.code, again.out.splitlines()[-1]) == (2, "5 files, 1 damaged")


def test_a_folder_in_the_place_of_a_file_does_not_stop_a_repair(coati: Coati) -> None:
    files = {f"/{n}.csv": file(b"%d" % n) for n in range(3)}
    with scripted({"/": page(*files), **files}) as site:
        assert coati("crawl", site.start, "--delay", "0", "--out", "run").code == 0
        for name in ("0.csv", "1.csv", "2.csv"):
            Path("run/files", name).unlink()
        Path("run/files/0.csv").mkdir()
        said = coati("verify", "run", "--repair", "--format", "json")
    told = {one["file"]: one["repaired"] for one in said.json["damaged"]}
    assert told == {"0.csv": False, "1.csv": True, "2.csv": True}
    assert {path.name for path in Path("run/files").iterdir()} == {"0.csv", "1.csv", "2.csv"}


def test_a_run_that_somebody_writes_is_not_repaired(coati: Coati, run: Path) -> None:
    (run / "files" / "1.csv").unlink()
    lock = lock_run(Layout(run))
    said = coati("verify", run, "--repair")
    lock.release()
    assert said.code == 6
    assert "is in use" in said.err


def test_all_runs_of_a_harvest_are_read(coati: Coati, tmp_path: Path) -> None:
    with (
        scripted({"/": page("/1.csv"), "/1.csv": file()}) as one,
        scripted({"/": page()}, "127.0.0.2") as two,
    ):
        (tmp_path / "list.txt").write_text(f"{one.start}\n{two.start}\n")
        assert coati("harvest", "list.txt", "--types", "data", "--delay", "0", "--out", "all").code == 0
        assert coati("verify", "all").code == 0
        (lost,) = (tmp_path / "all" / "sites").glob("*/files/1.csv")
        lost.unlink()
        said = coati("verify", "all")
        assert said.code == 2
        assert f"missing: {lost.relative_to(tmp_path)}, from {one.base}/1.csv" in said.out
        assert [line.rpartition(": ")[2] for line in said.out.splitlines()[1:]] == [
            *("1 file, 1 damaged", "0 files, 0 damaged")
        ]
        found = verify("all")
        assert (found.whole, found.files, [run.files for run in found.runs]) == (False, 1, [1, 0])
        assert [file.name for file in found.damaged] == ["1.csv"]
        assert lost.parents[1].name in found._repr_html_()
        assert [run["folder"] for run in found.as_json()["runs"]] == [str(run.folder) for run in found.runs]  # type: ignore[attr-defined]
        told = coati("verify", "all", "--repair", "--format", "json")
    assert verify("all").whole
    assert [json.loads(line)["files"] for line in told.out.splitlines()] == [1, 0]
    assert (told.code, lost.read_bytes()) == (0, b"a,b\n1,2\n")
