"""From runs to numbers: summaries, early stops, predictions, tables, Parquet and figures."""

import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.archive.archive import Archive
from coati.budget import Budget
from coati.experiments.early_stops import EarlyStopRule
from coati.experiments.errors import MissingExtraError
from coati.experiments.outputs import write_outputs
from coati.experiments.parquet import require_duckdb, write_numbers
from coati.experiments.published import Published, PublishedNumber
from coati.experiments.recording import CLASSES, RecordingStrategy
from coati.experiments.summaries import Spread
from coati.experiments.tables import group_table, objects, result_table, site_table
from coati.model import Kind, Link, Outcome
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite
from coati.strategies.sb.tag_paths import TagPathStrategy
from coati.strategies.sb.url_classes import LearntClasses, UrlClass
from tests.experiments.made_sites import small_archive
from tests.experiments.test_runner import run, small


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20))
def test_the_spread_of_finite_values_is_ordered(values: list[float]) -> None:
    spread = Spread.of(values)
    assert spread.low is not None
    assert spread.median is not None
    assert spread.high is not None
    assert min(values) <= spread.low <= spread.median <= spread.high <= max(values)
    assert spread.median == pytest.approx(float(np.median(values)))


def test_a_run_that_never_got_there_is_infinitely_late() -> None:
    assert Spread.of([1.0, 2.0, math.inf]).median == 2.0
    assert Spread.of([1.0, math.inf, math.inf]).median == math.inf
    assert Spread.of([1.0, math.inf]).mean == math.inf
    assert Spread.of([1.0, 2.0, 3.0, math.inf]).median == 2.5
    assert Spread.of([1.0, 2.0, math.inf, math.inf]).median == math.inf
    assert Spread.of([]).median is None


def test_an_early_stop_is_found_in_the_whole_run() -> None:
    found = np.arange(1, 101)
    rule = EarlyStopRule.checked("x", "paper", {"interval": 10, "patience": 2, "smoothing": 1.0})
    # The yield of requests 101 to 110 is 0, and so is that of the next ten: two low checks.
    assert rule.stop(found, 1000) == (120, 100)
    assert rule.stop(found, 50) == (50, 50)
    assert rule.stop(np.array([], np.int64), 0) == (0, 0)


class NotedClasses(LearntClasses):
    """Notes every prediction."""

    def __init__(self) -> None:
        super().__init__(10)
        self.taken: dict[str, UrlClass] = {}

    def classify(self, url: str, link: Link | None = None) -> tuple[UrlClass, float]:
        found = super().classify(url, link)
        self.taken[url] = found[0]
        return found

    def probed(self, url: str, outcome: Outcome) -> UrlClass:
        del self.taken[url]
        return super().probed(url, outcome)


def test_predictions_are_read_off_the_order_of_requests(tmp_path: Path) -> None:
    with Archive.open(small_archive(tmp_path / "a", pages=200)) as archive:
        site = ReplaySite(archive)
        classes = NotedClasses()
        watched = RecordingStrategy(TagPathStrategy([site.start_url], classes, seed=1), site.truth)
        replay(site, watched, Budget())
    expected = dict.fromkeys(watched.confusion, 0)
    for url, taken in classes.taken.items():
        kind = site.truth.kind(url)
        if kind in CLASSES and taken in {UrlClass.PAGE, UrlClass.TARGET}:
            expected[f"{CLASSES[kind]}_as_{'target' if taken is UrlClass.TARGET else 'html'}"] += 1
    assert watched.confusion == expected
    assert expected["html_as_target"]
    assert expected["target_as_html"]
    assert sum(kind is Kind.PAGE for kind in site.truth.kinds) > expected["html_as_html"]


def test_the_table_has_the_papers_shape_and_its_numbers(tmp_path: Path) -> None:
    for name in ("a", "b"):
        small_archive(tmp_path / "archives" / name, seed=ord(name))
    measures = ["requests_to_90_pct", "misclassification_pct"]
    published = Published(
        {
            ("bfs", "", "a", "requests_to_90_pct"): PublishedNumber(42.0),
            ("random", "", "a", "requests_to_90_pct"): PublishedNumber(18.0, 21.0),
            ("random", "", "b", "requests_to_90_pct"): PublishedNumber(math.inf),
        }
    )
    experiment = replace(small(sites=["a", "b"], measures=measures, joined=True), published=published)
    study = run(experiment, tmp_path)
    by_simulation = result_table(replace(study, experiment=replace(experiment, published_by="simulation")))
    assert "(simulation 42.0)" in by_simulation.rows[0][1]
    assert "simulation: published." in by_simulation.notes
    table = result_table(study)
    assert table.header == ("", "a", "b", "mean of archives")
    rows = {row[0]: row[1:] for row in table.rows}
    assert list(rows) == ["bfs", "random", "sb-classifier", "sb-oracle", "clairvoyant", "omniscient"]
    assert "(paper 42.0)" in rows["bfs"][0]
    assert "(paper ∞)" in rows["random"][1]
    assert "(paper 18.0–21.0)" in rows["random"][0]
    assert rows["bfs"][1].endswith("not defined")
    found = {
        (each["site"], each["strategy"], each["measure"]): each
        for each in objects(study)
        if each["kind"] == "summary"
    }
    value = {
        site: found[site, "bfs", "requests_to_90_pct"]["value"] for site in ("a", "b", "mean of archives")
    }
    assert value["mean of archives"] == pytest.approx((value["a"] + value["b"]) / 2)
    assert found["a", "bfs", "requests_to_90_pct"]["published"] == 42.0
    ranged = found["a", "random", "requests_to_90_pct"]
    assert (ranged["published"], ranged["published_high"]) == (18.0, 21.0)
    never = found["b", "random", "requests_to_90_pct"]
    said = (never["published"], never["published_high"], never["published_state"])
    assert said == (None, None, "not reached")
    order = [
        found["a", name, measures[0]]["value"] for name in ("omniscient", "clairvoyant", "sb-oracle", "bfs")
    ]
    assert order == sorted(order)
    assert found["a", "sb-classifier", "misclassification_pct"]["value"] > 0
    facts = site_table(study.sites)
    assert facts.rows[0][-1] == study.sites[0].digest[:16]
    groups = group_table(study)
    assert any("html > body" in row[4] or "…" in row[4] for row in groups.rows)
    assert any("http://" in row[5] for row in groups.rows)


def test_the_outputs_can_be_read_by_others(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    small_archive(tmp_path / "archives" / "it's")
    study = run(small(sites=["it's"], strategies=["bfs", "sb-classifier"]), tmp_path)
    out = tmp_path / "it's out"
    out.mkdir()
    files = write_outputs(study, out, parquet=True)
    found = objects(study)
    lines = [json.loads(line) for line in (out / "t.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines == json.loads(json.dumps(found))
    with duckdb.connect() as connection:
        relation = connection.execute("SELECT * FROM read_parquet(?)", [str(out / "t.parquet")])
        names = [column[0] for column in relation.description]
        rows = [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    assert set(names) == set(found[0])
    key = ("table", "site", "strategy", "variant", "measure", "kind", "value", "state", "published")
    assert [[row[k] for k in key] for row in rows] == [[row[k] for k in key] for row in found]
    page = (out / "t.md").read_text(encoding="utf-8")
    assert study.sites[0].digest[:16] in page
    assert "seeds 0 to 1" in page
    assert "Commit " in page
    heads = {file.suffix: file.read_bytes()[:5] for file in files}
    assert heads[".png"].startswith(b"\x89PNG")
    assert heads[".svg"] == b"<?xml"


def test_without_duckdb_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"duckdb.*extra `experiments`"):
        require_duckdb()
    with pytest.raises(MissingExtraError):
        write_numbers([], tmp_path / "x.parquet")
