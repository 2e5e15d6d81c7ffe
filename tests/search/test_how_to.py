"""The how-to runs as it stands, and its provider keeps the contract."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from coati.search.engines import Engines
from coati.search.provider import HttpProvider, LocalProvider
from coati.web.queries import Ability, Query
from coati.web.rules import Refusal

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-search-provider.md"


def test_the_provider_of_the_how_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_ENGINE_KEY", "a-secret-key")
    (block,) = re.findall(
        r"^```python\n(.*?)^```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - our own documentation
    printed = capsys.readouterr().out
    assert "q=food%20security&page=2" in printed
    assert "http://a.test/" in printed
    provider: HttpProvider = names["provider"]
    assert not isinstance(provider, LocalProvider)
    assert "secret" not in repr(provider)
    engines = Engines([provider])
    assert engines.admit(Query("mine", "rain")) is provider
    assert engines.admit(Query("mine", "http://a.test/", Ability.RELATED)) is Refusal.NO_ABILITY
