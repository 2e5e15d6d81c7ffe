"""A strategy that can explain itself is asked, brought to where the run is, and the run is not touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from coati.model import Link
from coati.reporting import Verdict, explain_url, restored_strategy
from coati.runs.layout import Layout
from coati.settings import RunSettings, crawl_plan
from coati.strategies.strategy import ScoreExplanation, ScoreReason, Strategy
from coati.testing import Response, Site
from tests.reporting.made_runs import MadeRun

START = "http://a.test/"
SITE = Site(
    START,
    {
        START: Response.page("".join(f"<p><a href=/{n}>Page {n}</a>" for n in range(9))),
        **{f"{START}{n}": Response.page("Nothing here") for n in range(9)},
    },
)


class Telling:
    """A strategy, and the words that it has for a link: how many choices it has made."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def __getattr__(self, name: str) -> object:
        return getattr(self._strategy, name)

    def explain(self, link: str | Link, source_url: str = "") -> ScoreExplanation:
        assert isinstance(link, Link)
        return ScoreExplanation(
            0.5, [ScoreReason(f"{link.anchor} on {source_url}", self._strategy.save()["turn"])]
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run = MadeRun(tmp_path / "run", SITE, "bfs")
    run.steps(4)
    return run.finish("interrupted")


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str = "/8") -> tuple[ScoreReason, ...]:
    original = crawl_plan.new_strategy
    monkeypatch.setattr(crawl_plan, "new_strategy", lambda settings: Telling(original(settings)))
    explanation = explain_url(folder, url)
    assert explanation.verdict is (Verdict.WAITING if url == "/8" else Verdict.PAGE)
    assert explanation.score == (0.5 if explanation.reasons else None)
    return explanation.reasons


def test_it_is_brought_to_where_the_run_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert told(folder, monkeypatch) == (ScoreReason(f"Page 8 on {START}", 4),)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_for_what_was_asked_it_is_brought_to_where_it_chose(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(folder, monkeypatch, "/1") == (ScoreReason(f"Page 1 on {START}", 2),)
    monkeypatch.setattr(restored_strategy, "_MOST_REDONE", 2)
    explanation = explain_url(folder, "/1")
    assert explanation.reasons == ()
    assert explanation.missing is not None
    assert "to repeat 5 events of the log, and more than 2 take too long" in explanation.missing
    assert explain_url(folder, "/8").reasons == (ScoreReason(f"Page 8 on {START}", 4),)


def test_nothing_speaks_for_the_start_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(folder, monkeypatch, "/") == ()


def test_a_run_without_snapshots_gives_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_them = told(folder, monkeypatch)
    monkeypatch.undo()
    for path in Layout(folder).snapshots.iterdir():
        path.unlink()
    Layout(folder).snapshots.rmdir()
    assert told(folder, monkeypatch) == with_them
    assert not Layout(folder).snapshots.exists()


def test_a_log_of_another_strategy_is_explained_from_its_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in Layout(folder).snapshots.iterdir():
        path.unlink()
    original = crawl_plan.new_strategy
    other = RunSettings(urls=("http://b.test/",), strategy="dfs")
    monkeypatch.setattr(crawl_plan, "new_strategy", lambda _: Telling(original(other)))
    explanation = explain_url(folder, "/8")
    assert explanation.verdict is Verdict.WAITING
    assert explanation.siblings is not None
    assert explanation.siblings.followed == 3
    assert explanation.missing is not None
    assert "Was the run made with another strategy" in explanation.missing
    assert explanation.because.endswith("its turn had not come.")
