"""Experiments over a generated web of many hosts, from the file to the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from coati.cli.experiment import experiment
from coati.errors import CoatiError, ConfigError
from coati.experiments.site_specs import GeneratedWeb
from coati.experiments.spec import parse_experiment
from coati.testing.host_web import HostWeb
from coati.testing.web_parameters import WebParameters

FOLDER = Path(__file__).parents[2] / "experiments" / "cikm2014"

FILE = """
table = "small"
title = "Small"
measures = ["relevant_share", "choice_ms"]
published = "published.csv"
figures = ["shares"]
seeds = 2
bounds = false
budget = { max_requests = 100 }
sites = [{ web = "cikm2014", scale = 0.001 }]
strategies = ["random-host", "anthelion", "label-oracle"]

[[variants]]
strategy = "anthelion-static"
name = "static"
settings = { hosts = { training_pages = 50 } }
"""

PUBLISHED = """strategy,variant,site,measure,value
anthelion,,cikm2014,relevant_share,0.673
"""


def call(folder: Path, text: str, *options: str) -> tuple[int, list[dict[str, object]], str]:
    file = folder / "small.toml"
    file.write_text(text, encoding="utf-8")
    (folder / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    arguments = [str(file), "--out", str(folder / "out"), "--jobs", "0", "--format", "json", *options]
    result = CliRunner().invoke(experiment, arguments)
    if isinstance(result.exception, CoatiError):
        return 2, [], str(result.exception)
    assert result.exit_code == 0, result.output
    return 0, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def test_the_relevant_pages_of_a_web_are_counted(tmp_path: Path) -> None:
    call(tmp_path, FILE)
    web = HostWeb(WebParameters.at_scale(0.001), seed=0)
    row = f"| {web.pages:,} | {web.pages:,} | {web.relevant_pages():,} |"
    assert row in (tmp_path / "out" / "small.md").read_text(encoding="utf-8")


def test_each_cell_is_an_object(tmp_path: Path) -> None:
    _, found, _ = call(tmp_path, FILE)
    runs = [each for each in found if each["kind"] == "run" and each["measure"] == "relevant_share"]
    assert {(run["strategy"], run["variant"], run["seed"]) for run in runs} == {
        (strategy, variant, seed)
        for strategy, variant in (
            ("random-host", None),
            ("anthelion", None),
            ("label-oracle", None),
            ("anthelion-static", "static"),
        )
        for seed in (0, 1)
    }
    assert all(run["table"] == "small" and run["relevant_share"] == run["value"] for run in runs)
    assert {run["published"] for run in runs} == {None, 0.673}
    shares = {run["strategy"]: run["relevant_share"] for run in runs if run["seed"] == 0}
    assert isinstance(shares["label-oracle"], float)
    assert 0 < float(str(shares["random-host"])) < shares["label-oracle"] <= 1
    assert (tmp_path / "out" / "small-cikm2014-like.png").stat().st_size > 10_000


def test_runs_are_found_again(tmp_path: Path) -> None:
    _, first, _ = call(tmp_path, FILE)
    _, again, messages = call(tmp_path, FILE)
    assert again == first
    assert "8 of them from before" in messages


def test_classifiers_are_judged_without_a_crawl(tmp_path: Path) -> None:
    text = FILE.replace('"relevant_share", "choice_ms"', '"accuracy"').replace(
        'figures = ["shares"]', "classify = 300"
    )
    text = text.replace('"random-host", "anthelion", "label-oracle"', '"anthelion"').partition(
        "[[variants]]"
    )[0]
    _, found, _ = call(tmp_path, text)
    values = [float(str(each["value"])) for each in found if each["kind"] == "run"]
    assert len(values) == 2
    assert all(0.5 < value <= 1 for value in values)


@pytest.mark.parametrize(
    ("site", "complaint"),
    [
        ({"web": "cikm2014"}, "scale"),
        ({"web": "cikm2014", "scale": 2}, "at most 1"),
        ({"web": "cikm2014", "scale": 0.1, "gaol": "classic"}, "did you mean 'goal'"),
    ],
)
def test_a_web_that_makes_no_sense_is_refused(site: dict[str, object], complaint: str) -> None:
    table = {
        "table": "t",
        "title": "T",
        "measures": ["relevant_share"],
        "sites": [site],
        "strategies": ["random-host"],
    }
    with pytest.raises(ConfigError, match=complaint):
        parse_experiment({**table, "sites": [site]}, Path())


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('web = "cikm2014"', 'web = "cikm2041"', "did you mean 'cikm2014'"),
        ("scale = 0.001", 'scale = 0.001, goal = "clasic"', "did you mean 'classic'"),
    ],
)
def test_what_cannot_be_generated_is_said(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    code, _, message = call(tmp_path, FILE.replace(old, new))
    assert code == 2
    assert complaint in message


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_every_file_of_the_paper_has_its_web_and_its_numbers(file: Path) -> None:
    from coati.experiments.spec import read_experiment

    described = read_experiment(file)
    assert all(isinstance(site, GeneratedWeb) for site in described.sites)
    labels = {(variant.strategy, variant.name) for variant in described.variants}
    if described.table == "table2":
        assert {key[:2] for key in described.published.numbers} <= labels
