"""A search as a function: what it returns and whom it tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import coati
from tests.discovering.made_web import made_web
from tests.strategies.discovery.small_web import REPOSITORIES


def test_it_finds_repositories_and_is_resumed(tmp_path: Path) -> None:
    archive, index, model = made_web(tmp_path)
    told: list[coati.SearchProgress] = []
    first = coati.discover(
        "rain", search=[f"local={index}"], archive=archive, offline=True, start_model=model, strategy="dsdd",
        out=tmp_path / "rain", max_requests=10, on_progress=told.append,
    )  # fmt: skip
    assert (first.stop, first.exit_code) == (coati.StopReason.BUDGET_REQUESTS, 0)
    assert told[-1].crawl.requests == 10
    run = coati.discover(str(tmp_path / "rain"), max_requests=None)
    assert (run.stop, run.place.resumed) == (coati.StopReason.FINISHED, True)
    assert len(run.repositories) == len(REPOSITORIES) < len(run.sites)
    assert run.dataset_pages
    assert run.report == run.folder / "report.html"
    assert run.run.summary.requests > 10
    assert json.loads(json.dumps(run.as_json()))["repositories"] == len(REPOSITORIES)
    assert "repo0.test" in run._repr_html_()


def test_what_no_search_can_be_made_of_is_told() -> None:
    with pytest.raises(coati.CoatiError, match="nothing to search for"):
        coati.discover()
    with pytest.raises(coati.CoatiError, match="max_querys"):
        coati.discover("rain", max_querys=3)  # type: ignore[call-arg]
