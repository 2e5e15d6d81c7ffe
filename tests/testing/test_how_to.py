"""The how-to runs as it stands."""

import re
from pathlib import Path

import pytest

import coati.testing

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "test-your-strategy.md"


def test_the_examples_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own documentation
    assert re.search(r"^200 targets with \d+ requests$", capsys.readouterr().out, re.MULTILINE)


def test_every_public_name_is_there_and_listed_in_order() -> None:
    listed = coati.testing.__all__
    assert listed == sorted(listed)
    assert all(hasattr(coati.testing, name) for name in listed)
