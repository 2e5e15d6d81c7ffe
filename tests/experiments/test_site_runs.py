from __future__ import annotations

from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.budget import Budget
from coati.experiments.site_runs import SiteRunOptions, compare_on_site
from coati.replaying.charts import draw_curves
from coati.replaying.comparison import MeasuredRun
from coati.replaying.site import ReplaySite
from tests.replaying import tiny_site

NO_LIMITS = Budget()


def results(
    folder: Path, wanted: list[tuple[str, int | None]], budget: Budget = NO_LIMITS
) -> list[MeasuredRun]:
    with Archive.open(tiny_site.make(folder / "tiny")) as archive:
        return list(compare_on_site(ReplaySite(archive), wanted, SiteRunOptions(budget=budget)))


def test_the_tiny_site_by_hand(tmp_path: Path) -> None:
    bfs, best = results(tmp_path, [("bfs", None), ("clairvoyant", None)])
    row = bfs.row()
    assert row.pop("cpu_seconds") == pytest.approx(0, abs=5)
    # All three targets are needed for 90 %; the third comes with request 8 of 10, after 900 of 2,000 bytes.
    assert row == {
        "site": "tiny",
        "strategy": "bfs",
        "seed": None,
        "requests": 10,
        "targets": 3,
        "targets_total": 3,
        "urls_total": 10,
        "requests_to_25_pct": pytest.approx(60),
        "requests_to_50_pct": pytest.approx(70),
        "requests_to_75_pct": pytest.approx(80),
        "requests_to_90_pct": pytest.approx(80),
        "requests_to_95_pct": pytest.approx(80),
        "volume_to_90_pct": pytest.approx(100 * 900 / tiny_site.OTHER_BYTES),
        "auc": pytest.approx((1 + 2 + 3 + 3 + 3) / 30),
        "clairvoyant_ratio": pytest.approx(80 / 60),
        "curve_ratio": pytest.approx((60 / 30 * 70 / 40 * 80 / 60 * 80 / 60) ** 0.25),
        "auc_ratio": pytest.approx(12 / 20),
        "gap_closed": pytest.approx(0),
        "stop": "nothing was left to request",
    }
    # The start, /a with its two targets, /b with its one, and nothing else.
    assert [step.url.removeprefix(tiny_site.START) for step in best.run.trace.steps()] == [
        *("", "a", "a1.csv", "a2.csv", "b", "b1.csv")
    ]
    row = best.row()
    assert row["requests_to_90_pct"] == pytest.approx(60)
    assert row["auc"] == pytest.approx((1 + 2 + 2 + 3 * 5) / 30)
    assert (row["clairvoyant_ratio"], row["auc_ratio"], row["gap_closed"]) == (1, 1, 1)


def test_a_budget_is_the_runs_and_not_the_references(tmp_path: Path) -> None:
    (bfs,) = results(tmp_path, [("bfs", None)], Budget(max_requests=7))
    row = bfs.row()
    assert row["requests_to_90_pct"] is None
    assert row["clairvoyant_ratio"] is None
    assert row["curve_ratio"] is None
    assert row["gap_closed"] is None
    assert row["auc_ratio"] == pytest.approx((1 + 2 * 4) / 20)
    assert row["stop"] == "the limit of requests was reached"


def test_seeds_are_told_apart(tmp_path: Path) -> None:
    found = results(tmp_path, [("random", seed) for seed in range(8)])
    assert [result.seed for result in found] == list(range(8))
    orders = {tuple(step.url for step in result.run.trace.steps()) for result in found}
    assert len(orders) > 1


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_curves_are_drawn(tmp_path: Path, ending: str) -> None:
    found = results(tmp_path, [("bfs", None), ("clairvoyant", None), ("random", 0), ("random", 1)])
    draw_curves(found, tmp_path / f"curves.{ending}")
    drawn = (tmp_path / f"curves.{ending}").read_bytes()
    assert drawn.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
