"""The watch of the how-to is replayed over a history by its path, and compared in an experiment."""

from __future__ import annotations

from pathlib import Path

import pytest

import coati
from coati import WatchReplayResults
from coati.errors import UsageError
from tests.archive.snapshots import write_news

PATH = "pages_in_turn:ROW"

EXPERIMENT = """
table = "watches"
title = "Watches"
measures = ["coverage"]
bounds = false
seeds = 1
sites = [{ history = "news", per_cycle = 1 }]
strategies = ["pages_in_turn:ROW", "rr"]
"""


@pytest.fixture
def news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(Path(__file__).parents[2] / "examples")
    place = tmp_path / "archives" / "news"
    coati.import_archive(write_news(tmp_path / "tables"), place)
    return place


def test_it_is_replayed_by_its_path(news: Path) -> None:
    replayed = coati.replay(news, [PATH, "rr"], per_cycle=1)
    assert isinstance(replayed, WatchReplayResults)
    own, in_order = replayed.runs
    assert (own.strategy, own.requests) == (PATH, in_order.requests)
    assert own.coverage == in_order.coverage


def test_it_is_compared_in_an_experiment(news: Path, tmp_path: Path) -> None:
    file = tmp_path / "watches.toml"
    file.write_text(EXPERIMENT)
    results = coati.experiment(file, archives=news.parent, out=tmp_path / "out", jobs=0, parquet=False)
    found = {row["strategy"]: row["value"] for row in results.rows() if row["kind"] == "summary"}
    assert found.keys() == {PATH, "rr"}
    assert found[PATH] is not None


def test_what_watches_nothing_is_told_how_to(news: Path, tmp_path: Path) -> None:
    file = tmp_path / "watches.toml"
    file.write_text(EXPERIMENT.replace(PATH, "shallow_first:ShallowFirst"))
    with pytest.raises(UsageError, match=r"does not watch pages.*StrategyRow.*Need\.HISTORY"):
        coati.experiment(file, archives=news.parent, out=tmp_path / "out", jobs=0, parquet=False)
