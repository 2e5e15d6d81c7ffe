"""Why a run ended is said in the words of one module."""

from __future__ import annotations

import ast
from pathlib import Path

import coati
from coati.stop_reasons import StopReason, redirected_start, strategy_left_site

SOURCE = Path(coati.__file__).parent


def test_no_other_module_has_words_for_the_end_of_a_run() -> None:
    makers = []
    for path in SOURCE.rglob("*.py"):
        calls = [
            node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
        ]
        if any(isinstance(called, ast.Name) and called.id == "StopText" for called in calls):
            makers.append(path.relative_to(SOURCE).as_posix())
    assert makers == ["stop_reasons.py"]


def test_every_reason_has_a_sentence() -> None:
    assert all(reason.text.sentence.endswith(".") for reason in StopReason)


def test_a_start_outside_the_site_names_the_url_that_a_shell_can_take() -> None:
    assert (
        redirected_start("http://a.test/?a=1&b=2").next_step
        == "Start there: coati crawl 'http://a.test/?a=1&b=2'"
    )
    assert "http://b.test/" in strategy_left_site("http://b.test/").sentence
