import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from coati.cli.main import run
from tests.experiments.made_sites import DEGENERATE, small_archive, write_archive

Captured = pytest.CaptureFixture[str]

SPEC = """
table = "mine"
title = "Mine"
measures = ["requests_to_90_pct"]
published = "published.csv"
seeds = 2
sites = ["a", "empty", { generated = "qa", pages = 50 }]
strategies = ["sb-oracle", "bfs"]

[[variants]]
strategy = "sb-oracle"
name = "bold"
settings = { tag_paths = { exploration = 30.0 } }
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    small_archive(tmp_path / "archives" / "a")
    write_archive(DEGENERATE["no-targets"], tmp_path / "archives" / "empty")
    (tmp_path / "published.csv").write_text(
        "# made up\nstrategy,variant,site,measure,value\nsb-oracle,bold,qa,requests_to_90_pct,12.5\n"
    )
    file = tmp_path / "mine.toml"
    file.write_text(SPEC)
    return file


def command(spec: Path, *more: str) -> list[str]:
    folder = spec.parent
    return ["experiment", str(spec), "--archives", str(folder / "archives"), "--out", str(folder / "out"),
            "--jobs", "0", *more]  # fmt: skip


def test_every_cell_is_an_object(spec: Path, capsys: Captured) -> None:
    assert run(command(spec, "--format", "json")) == 0
    captured = capsys.readouterr()
    found: list[dict[str, Any]] = [json.loads(line) for line in captured.out.splitlines()]
    for each in found:
        assert each["table"] == "mine"
        assert {"site", "strategy", "variant", "seed", "mean", "sd", "value", "published"} <= each.keys()
    runs = [each for each in found if each["kind"] == "run"]
    # Two rows with two seeds, three without, on three sites.
    assert len(runs) == 3 * (2 * 2 + 3)
    bold = [e for e in found if e["variant"] == "bold" and e["site"] == "qa-like"]
    assert {each["published"] for each in bold} == {12.5}
    assert sorted(each["seed"] for each in bold if each["kind"] == "run") == [0, 1]
    (summary,) = [each for each in bold if each["kind"] == "summary"]
    values = [each["value"] for each in bold if each["kind"] == "run"]
    assert summary["mean"] == pytest.approx(sum(values) / 2)
    empty = [each for each in found if each["site"] == "empty"]
    assert {(each["value"], each["state"]) for each in empty} == {(None, "not defined")}
    assert "21 runs" in captured.err


def test_the_table_names_digests_seeds_and_commit(spec: Path, capsys: Captured) -> None:
    assert run(command(spec)) == 0
    text = capsys.readouterr().out
    for part in ("not defined", "(paper 12.5)", "clairvoyant", "archive digest", "seeds 0 to 1", "Commit"):
        assert part in text
    assert run(command(spec)) == 0
    assert "21 of them from before" in capsys.readouterr().err


def test_a_part_can_be_run(spec: Path, capsys: Captured) -> None:
    options = ("--sites", "a", "--seeds", "1", "--max-requests", "9", "--format", "json", "--no-parquet")
    assert run(command(spec, *options)) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["site"] for each in found} == {"a"}
    assert {each["state"] for each in found if each["strategy"] == "bfs"} == {"not reached"}
    assert not (spec.parent / "out" / "mine.parquet").exists()


def test_a_part_does_not_replace_the_results_of_the_whole(spec: Path, capsys: Captured) -> None:
    out = spec.parent / "out"
    assert run(command(spec, "--max-requests", "9", "--seeds", "1", "--strategies", "bfs,dfs")) == 0
    told = capsys.readouterr().out
    assert "1 of 3 rows and 1 other row, 1 of 2 seeds, at most 9 requests per run" in " ".join(told.split())
    assert {file.name for file in out.glob("mine*")} == {
        "mine-part.md", "mine-part.jsonl", "mine-part.parquet",
    }  # fmt: skip
    # All rows of the file are no part of it, nor is it with more seeds.
    assert run(command(spec, "--strategies", "bfs,bold,sb-oracle", "--seeds", "3")) == 0
    assert "A part of" not in (out / "mine.md").read_text()


def test_a_part_needs_no_published_numbers(spec: Path, capsys: Captured) -> None:
    (spec.parent / "published.csv").unlink()
    assert run(command(spec)) == 2
    assert "published.csv cannot be read" in capsys.readouterr().err
    assert run(command(spec, "--sites", "a", "--strategies", "bfs")) == 0
    part = (spec.parent / "out" / "mine-part.md").read_text()
    assert "published.csv cannot be read" in part
    assert "- paper: " not in part


def test_no_paper_is_named_where_no_number_of_it_is_shown(spec: Path) -> None:
    out = spec.parent / "out"
    assert run(command(spec, "--sites", "a", "--strategies", "bfs")) == 0
    assert "- paper: " not in (out / "mine-part.md").read_text()
    assert run(command(spec, "--sites", "qa-like", "--strategies", "bold")) == 0
    assert "- paper: " in (out / "mine-part.md").read_text()


def test_a_part_takes_the_example_pages_that_are_there(spec: Path, capsys: Captured) -> None:
    archives = spec.parent / "archives"
    text = SPEC.replace('"a", "empty",', '"a", "b", "far",').replace('"bfs"]', '"bfs", "tres-light"]')
    spec.write_text(text)
    part = ("--sites", "a", "--strategies", "tres-light", "--seeds", "1")
    assert run(command(spec, *part)) == 2
    told = capsys.readouterr().err
    assert "tres-light needs example pages of other archives, and these are not there: b, far" in told
    small_archive(archives / "b", seed=1)
    assert run(command(spec, *part)) == 0
    table = (spec.parent / "out" / "mine-part.md").read_text()
    assert "example pages of 2 of 3 archives" in table
    assert "of each other archive among a, b." in table


def test_the_generated_part_needs_no_archive(spec: Path, capsys: Captured) -> None:
    spec.write_text(SPEC.replace('"bfs"]', '"bfs", "tres-light"]'))
    here = ["experiment", str(spec), "--out", str(spec.parent / "out"), "--jobs", "0", "--format", "json"]
    assert run([*here, "--sites", "generated", "--seeds", "1", "--max-requests", "9"]) == 0
    captured = capsys.readouterr()
    found = [json.loads(line) for line in captured.out.splitlines()]
    assert {each["site"] for each in found} == {"qa-like"}
    assert "tres-light" not in {each["strategy"] for each in found}
    assert "tres-light is left out" in captured.err
    # Asked for by name, it is not left out silently.
    assert run([*here, "--sites", "qa-like", "--strategies", "tres-light"]) == 2
    assert "--archives" in capsys.readouterr().err


def test_notes_of_a_narrow_table_are_as_wide_as_the_output(spec: Path, capsys: Captured) -> None:
    assert run(command(spec, "--sites", "a", "--strategies", "bfs", "--seeds", "1")) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    page = (spec.parent / "out" / "mine-part.md").read_text(encoding="utf-8").splitlines()
    notes = [line.removeprefix("- ") for line in page if line.startswith("- ")]
    titles = [line.removeprefix("## ") for line in page if line.startswith("## ")]
    assert titles[0] in lines
    assert notes
    assert all(note in lines for note in notes if len(note) < 200)


def test_rows_can_be_chosen(spec: Path, capsys: Captured) -> None:
    options = (
        "--sites",
        "a",
        "--strategies",
        "bold",
        "--seeds",
        "1",
        "--max-requests",
        "9",
        "--format",
        "json",
    )
    assert run(command(spec, *options)) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["variant"] or each["strategy"] for each in found if each["strategy"] == "sb-oracle"} == {
        "bold"
    }
    assert run(command(spec, "--strategies", "blod")) == 2
    assert "did you mean 'bold'" in capsys.readouterr().err


def test_a_reader_without_archives_gets_the_generated_part_of_table_2(
    tmp_path: Path, capsys: Captured
) -> None:
    table = Path(__file__).parents[2] / "experiments" / "edbt2026" / "table2.toml"
    part = ("--sites", "be-like", "--strategies", "", "--seeds", "1", "--max-requests", "20")
    out = ("--out", str(tmp_path / "out"), "--jobs", "0", "--no-parquet")
    assert run(["experiment", str(table), *part, *out]) == 0
    assert "be-like" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds = 2", "sedes = 2"), "did you mean 'seeds'"),
        (('"a"', '"b"'), "there is no archive b"),
        (('generated = "qa"', 'generated = "qq"'), "unknown site of the paper"),
        (("exploration", "explorations"), "did you mean 'exploration'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    spec: Path, change: tuple[str, str], message: str, capsys: Captured
) -> None:
    spec.write_text(SPEC.replace(*change))
    assert run(command(spec)) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_wrong_options_are_refused_before_anything_is_run(
    spec: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(command(spec, "--sites", "zz")) == 2
    assert run(command(spec, "--seeds", "0")) == 2
    assert run([*command(spec), "--jobs", "-1"]) == 2
    assert run(["experiment", str(spec.parent / "none.toml")]) == 2
    (spec.parent / "file").touch()
    assert run([*command(spec), "--out", str(spec.parent / "file" / "x")]) == 2
    capsys.readouterr()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert run(command(spec)) == 2
    assert "extra `experiments`" in capsys.readouterr().err
    assert not (spec.parent / "out").exists()
