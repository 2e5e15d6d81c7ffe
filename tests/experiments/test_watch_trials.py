"""Experiments over histories that are watched, from the file to the numbers and figures."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from coati.cli.experiment import experiment
from coati.errors import CoatiError, ConfigError
from coati.experiments.site_specs import WatchedHistory
from coati.experiments.spec import parse_experiment, read_experiment
from coati.strategies.revisits.arrivals import ArrivalsSettings
from coati.toml_writer import to_toml
from tests.replaying.test_watch_replay import archived
from tests.strategies.revisits.histories import Made

FOLDER = Path(__file__).parents[2] / "experiments" / "wsdm2018"

FILE = """
table = "small"
title = "Small"
measures = ["coverage", "watch_gap_closed", "within_1h"]
figures = ["watches"]
seeds = 1
bounds = false
sites = [{ history = "made", per_cycle = 2 }, { history = "made", per_cycle = 3 }]
strategies = ["rr", "od-win", "arrivals", "greedy"]
"""


def call(folder: Path, *options: str, file: str = FILE) -> list[dict[str, object]]:
    (folder / "small.toml").write_text(file, encoding="utf-8")
    places = ["--archives", str(folder / "archives"), "--out", str(folder / "out")]
    arguments = [str(folder / "small.toml"), *places, "--jobs", "0", "--format", "json", *options]
    result = CliRunner().invoke(experiment, arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    (tmp_path / "archives").mkdir()
    archived(Made(7, sites=2, pages=8, cycles=30), tmp_path / "archives" / "made").close()
    return tmp_path


def test_each_strategy_watches_each_history(histories: Path) -> None:
    found = call(histories)
    runs = [each for each in found if each["kind"] == "run"]
    coverage = {
        (run["site"], run["strategy"]): float(str(run["value"]))
        for run in runs
        if run["measure"] == "coverage"
    }
    sites = ["made all links k=2", "made all links k=3"]
    assert {site for site, _ in coverage} == set(sites)
    assert all(0 < value <= 1 for value in coverage.values())
    assert all(coverage[site, "greedy"] >= coverage[site, "rr"] for site in sites)
    closed = {
        (run["site"], run["strategy"]): run["value"] for run in runs if run["measure"] == "watch_gap_closed"
    }
    best = max(coverage[sites[0], "rr"], coverage[sites[0], "od-win"])
    own = (coverage[sites[0], "arrivals"] - best) / (coverage[sites[0], "greedy"] - best)
    assert closed[sites[0], "arrivals"] == pytest.approx(own)
    assert closed[sites[0], "greedy"] == pytest.approx(1)
    figure = histories / "out" / "small-made-all-links.png"
    assert figure.stat().st_size > 10_000


VARIANTS = """halves = true

[[variants]]
strategy = "arrivals"
name = "short"
settings.arrivals = { half_life_hours = 1.0, prior_links = 9.0 }

[[variants]]
strategy = "arrivals"
name = "as it is"
"""


def test_parameters_are_chosen_on_one_half_of_the_settings_among_the_rows_that_have_some(
    histories: Path,
) -> None:
    found = call(histories, file=FILE + VARIANTS)
    closed = {
        str(run["variant"] or run["strategy"]): float(str(run["value"]))
        for run in found
        if run["kind"] == "run" and run["measure"] == "watch_gap_closed" and "k=2" in str(run["site"])
    }
    assert closed["as it is"] == closed["arrivals"] != closed["short"]
    page = (histories / "out" / "small.md").read_text(encoding="utf-8")
    best = max("short", "as it is", key=closed.__getitem__)
    # The bound closes all of the gap, and is no choice.
    assert f"| made all links k=2 | {best} | {closed[best]:.3f} |" in page


def test_a_part_of_them_can_be_run(histories: Path) -> None:
    found = call(histories, "--sites", "made all links k=2", "--strategies", "rr")
    assert {run["site"] for run in found if run["kind"] == "run"} == {"made all links k=2"}


def test_runs_are_kept_and_found_again(histories: Path) -> None:
    first = call(histories)
    cells = {path: path.stat().st_mtime_ns for path in (histories / "out" / "cells").iterdir()}
    assert call(histories) == first
    assert {path: path.stat().st_mtime_ns for path in (histories / "out" / "cells").iterdir()} == cells


@pytest.mark.parametrize("name", ["against_k", "feeds", "generated", "news"])
def test_the_files_of_the_paper_run_on_a_small_history(histories: Path, name: str) -> None:
    study = read_experiment(FOLDER / f"{name}.toml")
    assert all(isinstance(site, WatchedHistory) for site in study.sites)
    strategies = [variant.strategy for variant in study.variants]
    made = {
        **tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")),
        "sites": [{"history": "made", "per_cycle": 2}],
        "strategies": strategies,
    }
    made.pop("published", None)
    found = call(histories, file=to_toml(made, "Small."))
    runs = [each for each in found if each["kind"] == "run"]
    assert {each["strategy"] for each in runs} == set(strategies)
    assert {each["measure"] for each in runs} == set(study.measures)


def test_there_is_a_file_for_each_figure_of_the_paper() -> None:
    assert {file.stem for file in FOLDER.glob("*.toml")} == {
        "against_k",
        "both_ways",
        "feeds",
        "generated",
        "news",
    }


@pytest.mark.parametrize(
    ("site", "words"),
    [
        ({"history": "made"}, "needs per_cycle"),
        ({"history": "made", "per_cycle": 2, "relevant": "nonsense"}, "it must be types, keywords"),
        ({"history": "../x", "per_cycle": 2}, "should be the name of a folder"),
    ],
)
def test_what_makes_no_sense_is_refused(site: dict[str, object], words: str) -> None:
    table = {"table": "t", "title": "t", "measures": ["coverage"], "strategies": ["rr"], "sites": [site]}
    with pytest.raises(ConfigError, match=words):
        parse_experiment(table, Path())


@pytest.mark.parametrize("name", ["half_life_hours", "prior_links"])
def test_parameters_that_make_no_rate_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is 0.0: it must be above 0"):
        ArrivalsSettings(**{name: 0.0})


def test_a_history_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "archives").mkdir()
    (tmp_path / "small.toml").write_text(FILE, encoding="utf-8")
    arguments = [str(tmp_path / "small.toml"), "--archives", str(tmp_path / "archives"), "--jobs", "0"]
    result = CliRunner().invoke(experiment, [*arguments, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, CoatiError)
    assert "there is no archive" in str(result.exception)
