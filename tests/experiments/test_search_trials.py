"""Experiments with searches for repositories, from the file to the numbers and figures."""

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
from coati.experiments.site_specs import SearchedTopic
from coati.experiments.sites import Places
from coati.experiments.spec import parse_experiment, read_experiment
from coati.experiments.tables import objects
from coati.jobs.generated_sites import GENERATORS

FOLDER = Path(__file__).parents[2] / "experiments" / "cikm2021"
METHODS = ["search-engine", "ache", "disco", "dsdd-fw", "dsdd-kw", "bd", "dsdd", "prospect"]

FILE = f"""
table = "small"
title = "Small"
measures = ["repositories", "on_topic", "intersection", "complement", "dataset_pages_to_kw", "requests"]
published = "published.csv"
figures = ["repositories"]
seeds = 2
bounds = false
budget = {{ max_requests = 150 }}
sites = [{{ topic = "ethiopia", scale = 0.1, batch = 2 }}, {{ topic = "conflict", scale = 0.1, batch = 2 }}]
strategies = {json.dumps(METHODS)}
"""

PUBLISHED = """strategy,variant,site,measure,value
dsdd,,ethiopia,dataset_pages_to_kw,1.2
"""


def call(folder: Path, text: str = FILE, *options: str) -> tuple[list[dict[str, object]], str]:
    (folder / "small.toml").write_text(text, encoding="utf-8")
    (folder / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    places = ["--out", str(folder / "out"), "--jobs", "0", "--no-parquet"]
    result = CliRunner().invoke(
        experiment, [str(folder / "small.toml"), *places, "--format", "json", *options]
    )
    if isinstance(result.exception, CoatiError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def by_run(found: list[dict[str, object]], measure: str) -> dict[tuple[object, ...], float]:
    return {
        (each["site"], each["strategy"], each["seed"]): float(str(each["value"]))
        for each in found
        if each["kind"] == "run" and each["measure"] == measure and each["value"] is not None
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, object]], Path]:
    folder = tmp_path_factory.mktemp("searches")
    return call(folder)[0], folder


def test_each_method_searches_each_topic(found: tuple[list[dict[str, object]], Path]) -> None:
    pages = by_run(found[0], "requests")
    sites = ("ethiopia-like", "conflict-like")
    assert set(pages) == {(site, name, seed) for site in sites for name in METHODS for seed in (0, 1)}
    assert all(count > 0 for count in pages.values())
    # Only those that are charged for the check of their last find spend more than they may.
    assert all(count <= 150 for (_, name, _), count in pages.items() if name not in {"ache", "disco"})
    repositories, on_topic = by_run(found[0], "repositories"), by_run(found[0], "on_topic")
    assert all(on_topic[run] <= repositories[run] for run in repositories)
    assert sum(repositories.values()) > 0


def test_topics_of_one_size_are_different_webs(found: tuple[list[dict[str, object]], Path]) -> None:
    repositories = by_run(found[0], "repositories")
    one, other = (
        [repositories[site, name, 0] for name in METHODS] for site in ("ethiopia-like", "conflict-like")
    )
    assert one != other


def test_coverage_is_shared_or_alone(found: tuple[list[dict[str, object]], Path]) -> None:
    shared, alone = by_run(found[0], "intersection"), by_run(found[0], "complement")
    assert all(0 <= shared[run] + alone[run] <= 1 for run in shared)
    assert max(shared.values()) > 0
    for site in ("ethiopia-like", "conflict-like"):
        assert sum(alone[site, name, 0] for name in METHODS) <= 1


def test_published_numbers_stand_beside_ours(found: tuple[list[dict[str, object]], Path]) -> None:
    published = [each for each in found[0] if each["published"] is not None]
    assert {(each["site"], each["strategy"], each["published"]) for each in published} == {
        ("ethiopia-like", "dsdd", 1.2)
    }
    ratios = by_run(found[0], "dataset_pages_to_kw")
    assert ratios["ethiopia-like", "dsdd-kw", 0] == 1
    assert (found[1] / "out" / "small-repositories.png").stat().st_size > 10_000


def test_runs_are_found_again(found: tuple[list[dict[str, object]], Path]) -> None:
    again, messages = call(found[1])
    assert again == found[0]
    assert "32 of them from before" in messages


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_every_shipped_file_runs(file: Path, tmp_path: Path) -> None:
    described = read_experiment(file).narrowed(frozenset(), 1, 60)
    assert {site.model for site in described.sites} == {
        "covid", "ethiopia", "conflict", "climate", "education", "economics",
    }  # fmt: skip
    topics = [site for site in described.sites if isinstance(site, SearchedTopic)]
    small = replace(described, sites=(replace(topics[1], scale=0.1, batch=2),))
    places = Places(None, tmp_path, GENERATORS)
    study = run_experiment(small, places, tmp_path, 0, lambda *_: None)
    assert {each["measure"] for each in objects(study)} == set(described.measures)
    assert write_outputs(study, tmp_path, parquet=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("scale = 0.1", "scale = 2.0"), "scale is 2.0"),
        (("batch = 2", "batch = 0"), "batch is 0"),
        (("batch = 2", "pages = 2"), "pages"),
        (('topic = "ethiopia"', 'topic = "moon"'), "moon"),
        (("budget = { max_requests = 150 }", ""), "needs a budget"),
        (('"search-engine"', '"bfs"'), "does not search for repositories"),
    ],
)
def test_what_makes_no_sense_is_said(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(CoatiError, match=message):
        call(tmp_path, FILE.replace(*change))


def test_a_topic_is_a_table() -> None:
    table = {"table": "t", "title": "t", "measures": ["repositories"], "strategies": ["dsdd"], "sites": [{}]}
    with pytest.raises(ConfigError):
        parse_experiment(table, Path())
    described = parse_experiment({**table, "sites": [{"topic": "covid", "scale": 0.5}]}, Path())
    assert described.sites == (SearchedTopic("covid", 0.5, 20),)
