from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coati.assembly import DISCOVERY, LIVE_STRATEGIES, REGISTRY, SITE_STRATEGIES
from coati.cli.main import run
from coati.cli.replay import replay
from coati.cli.strategies import strategies
from coati.errors import ArchiveError, CoatiError, ConfigError, UsageError
from coati.testing.site import Response, Site
from tests.experiments.made_sites import DEGENERATE, ROOT, small_archive, write_archive
from tests.replaying import tiny_site

KEYS = (
    *("site", "strategy", "seed", "requests", "targets", "targets_total", "urls_total", "requests_to_90_pct"),
    *("volume_to_90_pct", "auc", "clairvoyant_ratio", "auc_ratio", "gap_closed", "cpu_seconds"),
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tiny_site.make(tmp_path / "tiny")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(replay, [str(argument) for argument in arguments])


def lines(*arguments: object) -> list[dict[str, Any]]:
    result = call(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def tables_of(text: str) -> list[dict[str, list[str]]]:
    """Return the rows of each table by their first words, in words."""
    tables: list[dict[str, list[str]]] = []
    for words in filter(None, map(str.split, text.splitlines())):
        if words[0] == "strategy":
            tables.append({})
        if tables:
            tables[-1].setdefault(words[0], words)
    return tables


def test_json_is_one_object_a_run_with_every_measure(archive: Path) -> None:
    rows = lines(archive, "--strategy", "sb-classifier,bfs,clairvoyant", "--seeds", 5)
    assert all(set(KEYS) <= set(row) for row in rows)
    assert [(row["strategy"], row["seed"]) for row in rows] == [
        *(("sb-classifier", seed) for seed in range(5)),
        ("bfs", None),
        ("clairvoyant", None),
    ]
    bfs, best = rows[5:]
    assert bfs["requests_to_90_pct"] == pytest.approx(80)
    assert bfs["gap_closed"] == pytest.approx(0)
    assert best["clairvoyant_ratio"] == 1
    assert all(
        row["site"] == "tiny" and row["urls_total"] == 10 and row["targets_total"] == 3 for row in rows
    )


def test_every_strategy_runs_and_the_same_seeds_give_the_same_results(archive: Path, tmp_path: Path) -> None:
    # The neural one needs PyTorch.
    names = ",".join(name for name in SITE_STRATEGIES if name != "tres")
    other_site = small_archive(tmp_path / "other")
    asked = (archive, "--strategy", names, "--examples", other_site)
    first, again = lines(*asked), lines(*asked, "--no-link-cache")
    assert [row["strategy"] for row in first] == names.split(",")
    for row, other in zip(first, again, strict=True):
        assert row.pop("cpu_seconds") >= 0
        other.pop("cpu_seconds")
        assert row == other
        assert row["targets"] == 3


def test_tres_says_what_it_lacks(archive: Path, tmp_path: Path) -> None:
    without = call(archive, "--strategy", "tres-light").exception
    assert isinstance(without, UsageError)
    assert "--examples" in str(without)
    own = call(archive, "--strategy", "tres-light", "--examples", archive).exception
    assert isinstance(own, UsageError)
    assert "the replayed site itself" in str(own)
    # A site whose pages all lead to targets, or none of them, teaches nothing.
    empty = write_archive(DEGENERATE["one-page"], tmp_path / "empty")
    useless = call(archive, "--strategy", "tres-light", "--examples", empty).exception
    assert isinstance(useless, UsageError)
    assert "with targets and without" in str(useless)


def test_names_are_taken_once_and_in_any_case(archive: Path) -> None:
    rows = lines(archive, "--strategy", " BFS, dfs,bfs,,", "--seeds", 3)
    assert [row["strategy"] for row in rows] == ["bfs", "dfs"]


def test_the_first_seed_can_be_chosen(archive: Path) -> None:
    rows = lines(archive, "--strategy", "random", "--seeds", 2, "--seed", 7)
    assert [row["seed"] for row in rows] == [7, 8]


def test_the_table_is_for_readers_and_says_what_counts(archive: Path) -> None:
    result = call(archive, "--strategy", "random,bfs,clairvoyant", "--seeds", 4)
    assert result.exit_code == 0
    assert "tiny: 10 URLs, 3 targets" in result.stdout
    rows, _ = tables_of(result.stdout)
    assert rows["bfs"][1:7] == ["-", "10", "3", "80.0", "45.0", "0.400"]
    assert rows["random"][1] == "4"
    # A narrow terminal folds the line.
    assert "tiny: starts at http://tiny.test/; targets are data" in " ".join(result.stderr.split())
    assert "{" not in result.stdout


def test_types_take_the_place_of_the_archives_definition_and_are_named(archive: Path) -> None:
    result = call(archive, "--strategy", "bfs", "--types", "text/css", "--format", "json")
    assert json.loads(result.stdout)["targets_total"] == 1
    assert "targets are text/css" in result.stderr


def test_a_strategy_is_told_what_wanted_files_end_with(tmp_path: Path) -> None:
    endings = ("px", "nc", "sav")
    files = {
        f"{ROOT}a.{ending}": Response.file("application/octet-stream", ending.encode()) for ending in endings
    }
    home = Response.page("".join(f"<p><a href=a.{ending}>It</a>" for ending in endings))
    archive = write_archive(Site(ROOT, {ROOT: home, **files}), tmp_path / "files")
    for ending in endings:
        options = ("--strategy", "scent", "--types", f".{ending}", "--max-requests", 2)
        assert [row["targets"] for row in lines(archive, *options)] == [1]


def test_a_site_without_targets_has_null_measures(archive: Path) -> None:
    (row,) = lines(archive, "--strategy", "bfs", "--types", "application/x-nothing")
    undefined = (
        "requests_to_90_pct",
        "volume_to_90_pct",
        "auc",
        "clairvoyant_ratio",
        "auc_ratio",
        "gap_closed",
    )
    assert all(row[key] is None for key in undefined)
    assert (
        call(archive, "--strategy", "bfs,random", "--seeds", 5, "--types", "application/x-nothing").exit_code
        == 0
    )


def test_what_is_never_reached_is_infinite_in_the_table(archive: Path) -> None:
    result = call(archive, "--strategy", "bfs,random", "--seeds", 5, "--max-requests", 2)
    rows, _ = tables_of(result.stdout)
    assert rows["bfs"][4:6] == ["∞", "∞"]
    assert "nan" not in result.stdout


def test_a_second_table_shows_the_requests_to_every_share(archive: Path) -> None:
    _, shares = tables_of(call(archive, "--strategy", "bfs,clairvoyant").stdout)
    assert " ".join(shares["strategy"]) == "strategy 25 % 50 % 75 % 90 % 95 % curve × best"
    measured = [lines(archive, "--strategy", name)[0] for name in ("bfs", "clairvoyant")]
    for row in measured:
        numbers = [row[f"requests_to_{share}_pct"] for share in (25, 50, 75, 90, 95)]
        expected = [*(f"{number:.1f}" for number in numbers), f"{row['curve_ratio']:.2f}"]
        assert shares[row["strategy"]][1:] == expected
    _, shares = tables_of(call(archive, "--strategy", "bfs", "--max-requests", 6).stdout)
    assert shares["bfs"][1:] == ["60.0", "∞", "∞", "∞", "∞", "-"]


def test_budgets_and_the_start_are_taken(archive: Path) -> None:
    (row,) = lines(archive, "--strategy", "bfs", "--max-targets", 1)
    assert (row["requests"], row["stop"]) == (6, "the limit of targets was reached")
    (row,) = lines(archive, "--strategy", "bfs", "--start-url", "http://tiny.test/b")
    assert row["urls_total"] == 4
    (row,) = lines(archive, "--strategy", "bfs", "--early-stop", "paper", "--max-bytes", 900)
    assert row["requests"] == 3


def test_out_holds_traces_results_and_curves(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    result = call(archive, "--strategy", "bfs,random", "--seeds", 2, "--out", out, "--format", "json")
    assert result.exit_code == 0
    assert sorted(file.name for file in out.iterdir()) == [
        *("bfs.csv", "curves.png", "curves.svg", "random-seed0.csv", "random-seed1.csv", "results.jsonl")
    ]
    assert (out / "results.jsonl").read_text(encoding="utf-8") == result.stdout
    with (out / "bfs.csv").open(newline="", encoding="utf-8") as file:
        steps = list(csv.DictReader(file))
    assert [step["url"] for step in steps][:2] == ["http://tiny.test/", "http://tiny.test/a"]
    assert steps[-1]["targets"] == "3"


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (
            ["--strategy", "bsf"],
            ConfigError,
            "unknown strategy 'bsf'; did you mean 'bfs'\\? Known: .*bfs, clairvoyant",
        ),
        (["--strategy", ","], ConfigError, "no strategy given"),
        (["--max-requests", "0"], UsageError, "max_requests is 0: it must be a whole number of at least 1"),
        (["--max-targets", "0"], UsageError, "max_targets is 0"),
        (["--types", "tabels"], ConfigError, "did you mean 'tables'"),
        (["--types", ""], ConfigError, "no target types given"),
        (["--start-url", "http://tiny.test/nowhere"], UsageError, "not in the archive"),
        (["--start-url", "tiny"], UsageError, "not a URL"),
    ],
)
def test_wrong_input_is_refused_with_the_reason(
    archive: Path, arguments: list[str], error: type[CoatiError], says: str
) -> None:
    result = call(archive, *arguments)
    assert isinstance(result.exception, error)
    with pytest.raises(error, match=says):
        raise result.exception
    assert result.stdout == ""
    assert run(["replay", str(archive), *arguments]) == 2


def test_budgets_have_units_as_those_of_a_crawl(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = lines(archive, "--strategy", "bfs", "--max-bytes", "0.001kB", "--max-time", "1h30m")
    assert row["requests"] == 1
    for option, value, says in (
        ("--max-bytes", "5 apples", "not a size"),
        ("--max-bytes", "-5", "not a size"),
        ("--max-time", "nan", "not a time"),
        ("--max-time", "0", "must be above zero"),
    ):
        assert run(["replay", str(archive), option, value]) == 2
        assert says in capsys.readouterr().err


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    result = call(tmp_path / "nothing")
    assert isinstance(result.exception, ArchiveError)
    assert str(tmp_path / "nothing") in str(result.exception)
    assert run(["replay", str(tmp_path / "nothing")]) == 2


@pytest.mark.parametrize(
    "arguments", [["--early-stop", "soon"], ["--format", "xml"], ["--seeds", "many"], ["--seeds", "0"]]
)
def test_options_that_do_not_exist_are_wrong_usage(archive: Path, arguments: list[str]) -> None:
    assert call(archive, *arguments).exit_code == 2


def test_results_need_a_place_before_the_work_begins(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    result = call(archive, "--out", tmp_path / "taken")
    assert isinstance(result.exception, UsageError)
    assert "--out" in str(result.exception)
    assert result.stdout == ""


def test_names_that_look_like_markup_are_printed_as_they_are(tmp_path: Path) -> None:
    folder = tiny_site.make(tmp_path / "odd", name="[/b] [red]tiny")
    result = call(folder, "--strategy", "bfs", "--out", tmp_path / "[/out]")
    assert result.exit_code == 0, result.exception
    assert "[/b] [red]tiny: starts" in result.stderr
    assert "[/b] [red]tiny: 10 URLs" in result.stdout


def test_the_strategies_are_listed_with_what_they_do() -> None:
    table = CliRunner().invoke(strategies, [])
    assert table.exit_code == 0
    for name in LIVE_STRATEGIES:
        assert any(line.startswith(name) and "replay only" not in line for line in table.stdout.splitlines())
    for name in set(SITE_STRATEGIES) - set(LIVE_STRATEGIES):
        assert any(
            line.startswith(name) and line.endswith("(replay only)") for line in table.stdout.splitlines()
        )
    listed = CliRunner().invoke(strategies, ["--format", "json"])
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert {row["name"]: row["replay_only"] for row in rows} == {
        name: row.replay_only for name, row in {**REGISTRY, **DISCOVERY}.items()
    }
    assert all(row["summary"] for row in rows)
