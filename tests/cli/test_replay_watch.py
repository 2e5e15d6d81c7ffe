"""``coati replay`` of watches over an imported history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coati.cli.archive import archive as archive_command
from coati.cli.replay import replay
from coati.errors import CoatiError, ConfigError, UsageError
from tests.archive.snapshots import PAGE, write_news
from tests.replaying import tiny_site

KEYS = (
    *("strategy", "seed", "per_cycle", "relevant", "coverage", "mean_age_hours", "within_1h", "within_4h"),
    "cpu_seconds",
)


@pytest.fixture
def news(tmp_path: Path) -> Path:
    source, made = write_news(tmp_path / "tables"), tmp_path / "news"
    result = CliRunner().invoke(archive_command, ["import", str(source), str(made)])
    assert result.exit_code == 0, result.output
    assert "read as   snapshots" in result.stdout
    return made


def call(*arguments: object) -> Result:
    return CliRunner().invoke(replay, [str(argument) for argument in arguments])


def test_each_run_is_an_object(news: Path) -> None:
    result = call(news, "--strategy", "rr,od-win,greedy", "--per-cycle", 1, "--format", "json")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["strategy"] for row in rows] == ["rr", "od-win", "greedy"]
    assert all(set(KEYS) <= set(row) for row in rows)
    assert [row["new_links_total"] for row in rows] == [3, 3, 3]
    assert rows[2]["coverage"] == 1.0
    assert "2 pages, 4 cycles" in result.stderr


def test_relevant_links_alone(news: Path) -> None:
    chosen = ("--strategy", "greedy", "--per-cycle", 1, "--relevant", "label=politics")
    result = call(news, *chosen, "--format", "json")
    row = json.loads(result.stdout)
    assert (row["new_links_total"], row["relevant"]) == (1, "label=politics")


def test_a_table_a_picture_and_another_cycle(news: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = call(news, "--strategy", "rr", "--every", "30m", "--start-url", PAGE, "--cold", "--out", out)
    assert result.exit_code == 0, result.output
    assert "1 pages, 7 cycles" in result.stderr
    assert "coverage" in result.stdout
    assert {path.name for path in out.iterdir()} == {"results.jsonl", "coverage.png", "coverage.svg"}


@pytest.mark.parametrize(
    ("arguments", "error", "complaint"),
    [
        (["--strategy", "rr,bfs"], ConfigError, "cannot be replayed together"),
        (["--strategy", "bfs", "--per-cycle", "3"], ConfigError, "--per-cycle is for strategies that watch"),
        (["--strategy", "rr", "--relevant", "colour=red"], ConfigError, "relevant is 'colour=red'"),
        (["--strategy", "rr", "--every", "100ms"], ConfigError, "too short"),
        (["--strategy", "rr", "--start-url", "http://other.test/"], UsageError, "is not in the archive"),
    ],
)
def test_what_makes_no_sense_is_said(
    news: Path, arguments: list[str], error: type[CoatiError], complaint: str
) -> None:
    result = call(news, *arguments)
    assert isinstance(result.exception, error)
    assert complaint in str(result.exception)


def test_an_archive_of_one_moment_is_no_history(tmp_path: Path) -> None:
    result = call(tiny_site.make(tmp_path / "tiny"), "--strategy", "rr")
    assert isinstance(result.exception, UsageError)
    assert "not a history" in str(result.exception)
