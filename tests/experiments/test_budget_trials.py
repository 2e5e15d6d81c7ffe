"""Experiments with one budget over many sites, from the file to the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from coati.cli.experiment import experiment
from coati.errors import CoatiError, ConfigError
from coati.experiments.outputs import write_outputs
from coati.experiments.runner import run_experiment
from coati.experiments.site_specs import SitesTogether
from coati.experiments.sites import Places
from coati.experiments.spec import parse_experiment, read_experiment
from coati.experiments.spending import Spending
from coati.experiments.tables import objects
from coati.jobs.generated_sites import GENERATORS
from tests.experiments.made_sites import small_archive

FOLDER = Path(__file__).parents[2] / "experiments" / "many_sites"

FILE = """
table = "small"
title = "Small"
measures = ["targets", "targets_to_knowing", "targets_to_equal_split", "requests"]
seeds = 2
bounds = false
sites = [
    { together = ["one", "two"], budget_pct = 30 },
    { together = ["one", "two"], budget_pct = 60 },
    { together = "generated", sites = 3, rich = 1, budget_pct = 10, most = 100 },
]
strategies = ["scent"]

[[variants]]
strategy = "scent"
name = "knowing"
spending = { way = "knowing" }

[[variants]]
strategy = "scent"
name = "equal"
spending = { way = "equal-split" }

[[variants]]
strategy = "bfs"
name = "in turns"
spending = { way = "round-robin" }
"""
SITES = ("2 archives at 30 %", "2 archives at 60 %", "3 generated at 10 %")


def call(folder: Path, text: str = FILE, *options: str) -> tuple[list[dict[str, object]], str]:
    (folder / "small.toml").write_text(text, encoding="utf-8")
    places = ["--archives", str(folder / "archives"), "--out", str(folder / "out"), "--no-parquet"]
    arguments = [str(folder / "small.toml"), *places, "--jobs", "0", "--format", "json", *options]
    result = CliRunner().invoke(experiment, arguments)
    if isinstance(result.exception, CoatiError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def by_run(found: list[dict[str, object]], measure: str) -> dict[tuple[str, str, int], float]:
    return {
        (str(each["site"]), str(each["variant"] or each["strategy"]), int(str(each["seed"]))): float(
            str(each["value"])
        )
        for each in found
        if each["kind"] == "run" and each["measure"] == measure
    }


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, object]], Path]:
    folder = tmp_path_factory.mktemp("budgets")
    for seed, name in enumerate(("one", "two")):
        small_archive(folder / "archives" / name, pages=40, seed=seed)
    return call(folder)[0], folder


def test_each_way_spends_each_budget(played: tuple[list[dict[str, object]], Path]) -> None:
    targets, requests = by_run(played[0], "targets"), by_run(played[0], "requests")
    rows = ("scent", "knowing", "equal", "in turns")
    assert set(targets) == {(site, row, seed) for site in SITES for row in rows for seed in (0, 1)}
    assert all(requests[SITES[0], row, 0] < requests[SITES[1], row, 0] for row in rows)
    # Which requests a breadth-first crawl makes depends on no seed.
    assert targets[SITES[0], "in turns", 0] == targets[SITES[0], "in turns", 1]


def test_nobody_finds_more_than_who_knows_the_curves(played: tuple[list[dict[str, object]], Path]) -> None:
    shares, targets = by_run(played[0], "targets_to_knowing"), by_run(played[0], "targets")
    assert all(value == 1 for (_, row, _), value in shares.items() if row == "knowing")
    assert all(value <= 1 for (_, row, _), value in shares.items() if row in {"scent", "equal"})
    for site in SITES:
        ratio = targets[site, "scent", 1] / targets[site, "equal", 1]
        assert by_run(played[0], "targets_to_equal_split")[site, "scent", 1] == pytest.approx(ratio)


def test_records_and_runs_are_found_again(played: tuple[list[dict[str, object]], Path]) -> None:
    # Two sites with two seeds and once breadth-first, three generated ones with two strategies and two seeds.
    records = sorted((played[1] / "out" / "records").iterdir())
    assert len(records) == 2 * 3 + 3 * 2 * 2
    written = [file.stat().st_mtime_ns for file in records]
    again, messages = call(played[1])
    assert again == played[0]
    assert "24 of them from before" in messages
    assert [file.stat().st_mtime_ns for file in records] == written


def test_a_smaller_budget_can_be_asked_for(played: tuple[list[dict[str, object]], Path]) -> None:
    found, _ = call(played[1], FILE, "--max-requests", "7", "--seeds", "1", "--sites", "generated")
    assert set(by_run(found, "requests")) == {
        (SITES[2], row, 0) for row in ("scent", "knowing", "equal", "in turns")
    }
    assert by_run(found, "requests")[SITES[2], "scent", 0] == 7


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_every_shipped_file_runs(file: Path, tmp_path: Path) -> None:
    described = read_experiment(file).narrowed(frozenset(), 1, 40)
    first = described.sites[0]
    assert isinstance(first, SitesTogether)
    # The first row is what the command does.
    assert described.variants[0].spending == Spending()
    small = replace(
        first, folders=first.folders[:2], made=min(2, first.made), rich=min(1, first.rich), most=50
    )
    for number, name in enumerate(small.folders):
        small_archive(tmp_path / "archives" / name, pages=30, seed=number)
    places = Places(tmp_path / "archives", tmp_path, GENERATORS)
    study = run_experiment(replace(described, sites=(small,)), places, tmp_path, 0, lambda *_: None)
    assert {each["measure"] for each in objects(study)} == set(described.measures)
    assert write_outputs(study, tmp_path, parquet=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("budget_pct = 30", "budget_pct = 0"), "budget_pct is 0"),
        (("budget_pct = 30", "budget_pc = 30"), "did you mean 'budget_pct'"),
        (("budget_pct = 30", "budget_pct = 30, rich = 1"), "rich"),
        (('["one", "two"]', "[]"), "names no archive"),
        (("sites = 3, rich = 1", "sites = 3, rich = 4"), "how many of them are rich"),
        (("sites = 3, rich = 1, ", ""), "how many sites"),
        (('way = "knowing"', 'way = "knowng"'), "did you mean 'knowing'"),
        (('way = "knowing"', "doubt = true"), "doubt is True"),
        (("bounds = false", ""), "bounds = false"),
        (('"two"]', '"three"]'), "there is no archive three"),
    ],
)
def test_what_makes_no_sense_is_said(
    change: tuple[str, str], message: str, played: tuple[list[dict[str, object]], Path]
) -> None:
    with pytest.raises(CoatiError, match=message):
        call(played[1], FILE.replace(*change))


def test_sites_that_share_a_budget_are_a_table() -> None:
    table = {"table": "t", "title": "t", "measures": ["targets"], "strategies": ["scent"], "bounds": False}
    with pytest.raises(ConfigError, match="together"):
        parse_experiment({**table, "sites": [["one", "two"]]}, Path())
    site = {"together": ["one"], "budget_pct": 5}
    assert parse_experiment({**table, "sites": [site]}, Path()).sites == (SitesTogether(("one",), 5.0),)
