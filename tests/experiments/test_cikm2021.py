from __future__ import annotations

import argparse

import pytest

from experiments.cikm2021.study import METHODS, run, tables


@pytest.mark.parametrize("method", METHODS)
def test_each_method_runs_on_a_small_web(method: str) -> None:
    found = run("ethiopia", method, 0, budget=120, scale=0.1)
    assert 0 < found.requests <= 120
    assert found.repositories >= found.on_topic


def test_the_tables_have_the_published_numbers_beside_ours() -> None:
    outcomes = [run("ethiopia", method, 0, budget=60, scale=0.1) for method in ("dsdd", "dsdd-kw")]
    text = tables(outcomes, argparse.Namespace(seeds=1, budget=60, scale=0.1, topics="ethiopia"))
    assert "13565" in text
    assert "11091" in text
