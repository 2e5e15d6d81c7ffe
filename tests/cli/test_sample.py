import csv
import json
from pathlib import Path

import pytest

from coati.cli.main import run
from coati.experiments.yield_sheet import draw_sample, read_sheet, write_sheet
from coati.runs.reader import RunReader
from coati.testing import Response, Site
from coati.testing.office_files import SheetTable, write_csv
from tests.reporting.made_runs import MadeRun
from tests.runs.synthetic import abandon

Captured = pytest.CaptureFixture[str]
ROOT = "http://office.test/"


def office(files: int) -> Site:
    """A site with CSV files, every third of them without numbers."""
    pages = {ROOT: Response.page("".join(f"<a href=/f{n}.csv>{n}</a>" for n in range(files)))}
    for number in range(files):
        rows = [(f"area {n}", "words" if number % 3 == 0 else n + number) for n in range(5)]
        table = SheetTable("t", ("area", "value"), tuple(rows))
        pages[f"{ROOT}f{number}.csv"] = Response.file("text/csv", write_csv(table) + str(number).encode())
    return Site(ROOT, pages)


@pytest.fixture
def made_run(tmp_path: Path) -> Path:
    made = MadeRun(tmp_path / "run", office(12), "bfs")
    made.steps()
    abandon(made.store)
    return tmp_path / "run"


def test_a_run_without_files_has_no_sample_until_it_has_some(tmp_path: Path, capsys: Captured) -> None:
    folder, arguments = tmp_path / "run", ["sample", str(tmp_path / "run"), "--no-guess"]
    made = MadeRun(folder, office(1), "bfs")
    made.steps(1)
    assert run(arguments) == 0
    assert f"The run in {folder} has no files yet" in capsys.readouterr().err
    assert not list(folder.glob("sample-*"))
    # As an earlier version wrote it.
    write_sheet([], folder / "sample-40-seed0.csv")
    made.steps()
    abandon(made.store)
    assert run(arguments) == 0
    assert "1 file drawn" in capsys.readouterr().out
    assert run(arguments) == 0
    assert "was drawn before" in capsys.readouterr().err


def test_a_sample_is_drawn_guessed_labelled_and_summed_up(made_run: Path, capsys: Captured) -> None:
    pytest.importorskip("python_calamine")
    pytest.importorskip("pdfplumber")
    assert run(["sample", str(made_run), "--n", "12", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["drawn"] == 12
    assert facts["guessed"]["files"] == 12
    assert facts["guessed"]["yield_pct"] == pytest.approx(100 * 8 / 12)
    assert facts["labelled"] == {
        "files": 0, "yield_pct": None, "tables_per_file": None, "tables_per_file_with_any": None
    }  # fmt: skip
    sheet = Path(facts["sheet"])
    with sheet.open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    for row in rows[:4]:
        row["labelled_tables"] = "2"
    with sheet.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert run(["sample", str(made_run), "--n", "12", "--format", "json"]) == 0
    labelled = json.loads(capsys.readouterr().out)["labelled"]
    assert (labelled["files"], labelled["yield_pct"], labelled["tables_per_file"]) == (4, 100.0, 2.0)
    assert run(["sample", str(made_run), "--n", "12"]) == 0
    text = capsys.readouterr().out
    assert "100 % of 4 files" in text
    assert "agree on" in text


def test_the_same_seed_draws_the_same_files(made_run: Path) -> None:
    with RunReader(made_run) as reader:
        first, again, other = (draw_sample(reader, 5, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({each.url for each in first}) == 5
    assert all((made_run / "files" / each.file).is_file() for each in first)


def test_labels_are_never_overwritten(made_run: Path, capsys: Captured) -> None:
    sheet = made_run.parent / "mine.csv"
    command = ["sample", str(made_run), "--no-guess", "--sheet", str(sheet)]
    assert run([*command, "--n", "3"]) == 0
    files = read_sheet(sheet)
    assert [each.guessed_tables for each in files] == [None] * 3
    write_sheet(files[:2], sheet)
    assert run([*command, "--n", "5"]) == 0
    assert read_sheet(sheet) == files[:2]
    assert "not defined: no file is labelled" in capsys.readouterr().out


def test_what_is_no_run_or_no_sample_is_said_in_a_line(made_run: Path, capsys: Captured) -> None:
    assert run(["sample", str(made_run.parent)]) == 2
    assert run(["sample", str(made_run), "--n", "0", "--no-guess"]) == 2
    (made_run / "bad.csv").write_text("x\n")
    assert run(["sample", str(made_run), "--sheet", str(made_run / "bad.csv")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_a_run_without_targets_has_no_yield(tmp_path: Path, capsys: Captured) -> None:
    made = MadeRun(tmp_path / "run", office(0), "bfs")
    made.steps()
    abandon(made.store)
    assert run(["sample", str(tmp_path / "run"), "--no-guess"]) == 0
    assert capsys.readouterr().out.startswith("0 files drawn")
