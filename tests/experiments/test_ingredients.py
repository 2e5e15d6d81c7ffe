"""What voids a result and what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coati.assembly import REGISTRY, StrategySettings
from coati.experiments import ingredients
from coati.experiments.ingredients import joint_digest, modules_digest, settings_read, strategy_digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of its own, with the modules that every run goes through, and one strategy that is listed."""
    files = {
        "budget.py": "",
        "assembly.py": "from coati.strategies.baselines import x\nfrom coati.strategies.other import y\n",
        "replay/driver.py": "import time\nfrom coati.web import urls\n",
        "replay/measures.py": "",
        "replay/site.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import coati.live.wire\n",
        "strategies/baselines.py": "def late():\n    from coati.strategies.frontier import f\n",
        "strategies/frontier.py": "",
        "strategies/other.py": "",
        "live/wire.py": "",
        "web/__init__.py": "",
        "web/urls.py": "",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for name in ("archive", "bandits", "learners"):
        (tmp_path / name).mkdir()
    (tmp_path / "model.py").write_text("")
    monkeypatch.setattr(ingredients, "_PACKAGE", tmp_path)
    return tmp_path


def digest(strategy: str) -> str:
    strategy_digest.cache_clear()
    modules_digest.cache_clear()
    return strategy_digest(strategy)


@pytest.fixture(autouse=True)
def _forget() -> None:
    digest("bfs")


@pytest.mark.parametrize(
    ("file", "listed", "unlisted"),
    [
        ("strategies/baselines.py", True, True),
        ("strategies/frontier.py", True, True),
        ("replay/driver.py", True, True),
        ("web/urls.py", True, True),
        ("strategies/other.py", False, True),
        ("strategies/new.py", False, True),
        ("assembly.py", False, True),
        ("live/wire.py", False, False),
    ],
)
def test_only_what_a_run_goes_through_voids_its_result(
    package: Path, file: str, *, listed: bool, unlisted: bool
) -> None:
    before = digest("bfs"), digest("one that nobody listed")
    (package / file).write_text("# another\n")
    after = digest("bfs"), digest("one that nobody listed")
    assert (before[0] != after[0], before[1] != after[1]) == (listed, unlisted)


@pytest.mark.parametrize("strategy", list(REGISTRY))
def test_every_strategy_has_a_digest_and_settings(strategy: str) -> None:
    assert len(digest(strategy)) == 16
    assert set(settings_read(strategy, StrategySettings())) <= set(StrategySettings.__dataclass_fields__)


def test_strategies_differ_by_the_modules_that_they_are_made_of() -> None:
    assert digest("bfs") == digest("dfs")
    assert len({digest(name) for name in ("bfs", "focused", "tp-off", "sb-oracle", "tres-light")}) == 5
    assert joint_digest(["bfs", "dfs"]) == joint_digest(["dfs", "bfs", "bfs"])
    assert joint_digest(["bfs"]) == digest("bfs") != joint_digest(["bfs", "focused"])


def test_a_setting_counts_where_it_is_read() -> None:
    changed = replace(StrategySettings(), url_model="nb", warm_up=9)
    assert settings_read("bfs", changed) == settings_read("bfs", StrategySettings()) == {}
    assert settings_read("sb-classifier", changed)["url_model"] == "nb"
    assert settings_read("tp-off", changed)["warm_up"] == 9
    assert "url_model" not in settings_read("sb-oracle", changed)
    assert settings_read("one that nobody listed", changed)["batch"] == 10
