"""The tables of experiments/scent: what is told of runs that are known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from experiments.scent.curves import draw_curves
from experiments.scent.results_file import made_sections, replica_sections, write_files
from experiments.scent.summary import Results, Row, best_of

CHOICES = ["bold", "shy"]
# Requests to 90 %, by site: what scent needs over three seeds, and what the others need.
SCENT: dict[str, list[float | None]] = {"a": [20, 24, 22], "b": [50, 50, 50], "c": [30, 90, None]}
OTHERS = {
    "a": {"bfs": 100, "dfs": 60, "sb-classifier": 44, "clairvoyant": 20, "bold": 20, "shy": 100},
    "b": {"bfs": 90, "dfs": 40, "sb-classifier": 60, "clairvoyant": 40, "bold": 90, "shy": 40},
    "c": {"bfs": 95, "dfs": 90, "sb-classifier": 90, "clairvoyant": 30, "bold": 30, "shy": 95},
}


def measures(needed: float | None) -> dict[str, Any]:
    return {
        "urls": 200,
        "targets_total": 50,
        "requests": 200,
        "targets": 50,
        "requests_to_90_pct": needed,
        "bytes_to_90_pct": needed,
        "volume_to_90_pct": needed,
        "auc": 0.5,
        "cpu_us_a_request": 100.0,
        "curve": [50, [0, 20, 40, 50]],
    }


def rows() -> list[Row]:
    found = [
        Row(site, "scent", seed, measures(n)) for site, all_ in SCENT.items() for seed, n in enumerate(all_)
    ]
    return found + [
        Row(site, name, 0, measures(n)) for site, others in OTHERS.items() for name, n in others.items()
    ]


@pytest.fixture
def results() -> Results:
    return Results(rows())


def test_medians_and_what_was_never_reached(results: Results) -> None:
    assert results.median("a", "scent") == 22
    assert results.quartiles("a", "scent") == (21, 23)
    assert results.quartiles("c", "scent") == (30, math.inf)
    assert math.isnan(results.median("a", "nobody"))
    assert results.gap_closed("a", "scent") == pytest.approx(78 / 80)
    assert best_of(results, "b", ("bfs", "dfs", "sb-classifier")) == "dfs"


def test_wins_losses_and_the_worst_case_are_named(results: Results) -> None:
    text = "\n".join(line for section in replica_sections(results, [], CHOICES) for line in section)
    assert "| dfs | 1 | 1 | 1 (b) |" in text
    assert "1.25 (b)" in text
    assert "| b | 40.0 (dfs) | 50.0 | **1.250** | 0.00 |" in text
    spread = "90.0 (30.0 to never)"
    assert f"| c | 95.0 | 90.0 | 90.0 | {spread} | 30.0 |" in text
    assert "The least of the gap is closed on c (0.08)" in text


def test_each_half_is_reported_with_what_the_other_half_chose(results: Results) -> None:
    text = "\n".join(line for section in replica_sections(results, [], CHOICES) for line in section)
    assert "- chosen on a, c: bold (mean gap closed there 1.000); on b: 0.000" in text
    assert "- chosen on b: shy (mean gap closed there 1.000); on a, c: 0.000" in text
    assert "from the other half: **0.000**" in text


def test_files_and_pictures_are_written(results: Results, tmp_path: Path) -> None:
    facts = {"commit": "c0ffee", "python": "3.11", "machine": "one core"}
    write_files(
        tmp_path, rows(), facts, [*replica_sections(results, [], CHOICES), *made_sections(Results([]))]
    )
    draw_curves(results, tmp_path / "curves")
    draw_curves(Results([]), tmp_path / "nothing")
    assert {path.name for path in tmp_path.iterdir()} == {
        "cells.csv", "curves.png", "curves.svg", "facts.json", "results.md",
    }  # fmt: skip
    assert len((tmp_path / "cells.csv").read_text().splitlines()) == 1 + len(rows())
    assert "c0ffee" in (tmp_path / "results.md").read_text()
