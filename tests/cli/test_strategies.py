"""``coati strategies``: everything that the row of a strategy says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coati
from coati.assembly import DISCOVERY, LIVE_STRATEGIES, REGISTRY, Need
from coati.cli.main import run

Captured = pytest.CaptureFixture[str]


def said(capsys: Captured, *arguments: str) -> str:
    assert run(["strategies", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_has_a_line_for_each_and_says_where_it_works(capsys: Captured) -> None:
    lines = {line.split()[0]: line for line in said(capsys).splitlines()}
    assert lines.keys() == {*REGISTRY, *DISCOVERY}
    assert lines["arrivals"].endswith("(coati watch)")
    assert lines["prospect"].endswith("(coati discover)")
    assert lines["clairvoyant"].endswith("(replay only)")


def test_only_what_a_crawl_takes_is_said_to_be_for_crawls() -> None:
    listed = coati.list_strategies()
    assert {each.name for each in listed if each.command == "crawl"} == set(LIVE_STRATEGIES)


def test_a_strategy_is_described_with_its_needs_and_settings(capsys: Captured) -> None:
    told = said(capsys, "sb-oracle", "bfs")
    assert "  works in: coati replay and coati experiment, not live\n" in told
    assert "  needs: the truth about the site\n" in told
    assert "  seed: matters\n" in told
    assert "  not shown: URLs that look like traps, by the published rule\n" in told
    assert "    tag_paths.ngram = 2\n" in told
    _, breadth_first = told.split("bfs: ")
    assert "  seed: changes nothing\n" in breadth_first
    assert "  settings: none\n" in breadth_first


def test_a_program_gets_the_same(capsys: Captured) -> None:
    told = json.loads(said(capsys, "greedy", "--format", "json"))
    assert set(told["needs"]) == {Need.HISTORY.value, Need.OUT_LINKS.value, Need.TRUTH.value}
    assert (told["command"], told["settings"]["watch"]["per_cycle"]) == ("replay", 50)
    for line in said(capsys, "--format", "json").splitlines():
        assert set(json.loads(line)["settings"]) == set(
            {**REGISTRY, **DISCOVERY}[json.loads(line)["name"]].settings
        )


def test_one_of_your_own_is_described_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "described.py").write_text(
        "from coati.assembly import Need, StrategyRow\n"
        'ROW = StrategyRow("Mine.", lambda given: None, ("described",), needs=frozenset({Need.HISTORY}))\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    told = said(capsys, "described:ROW")
    assert told.startswith("described:ROW: Mine.\n  works in: coati watch")
    assert run(["strategies", "bsf"]) == 2
    assert "did you mean 'bfs'" in capsys.readouterr().err
