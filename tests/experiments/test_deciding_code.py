"""What voids a result and what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coati.assembly import REGISTRY, StrategySettings
from coati.experiments import deciding_code
from coati.experiments.deciding_code import joint_digest, modules_digest, strategy_digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of its own, with the modules that every run goes through, and one strategy that is listed."""
    files = {
        "budget.py": "",
        "assembly.py": "import coati.strategies.baselines.simple_orders\nimport coati.strategies.other\n",
        "replaying/driver.py": "import time\nfrom coati.web import urls\n",
        "replaying/measures.py": "",
        "replaying/site.py": (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import coati.live.wire\n"
        ),
        "strategies/baselines/simple_orders.py": "def late():\n    from coati.strategies.frontier import f\n",
        "strategies/frontier.py": "",
        "strategies/other.py": "",
        "live/wire.py": "",
        "web/__init__.py": "",
        "web/urls.py": "",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in ("archive", "bandits", "learners"):
        (tmp_path / name).mkdir()
    (tmp_path / "model.py").write_text("")
    monkeypatch.setattr(deciding_code, "_PACKAGE", tmp_path)
    return tmp_path


def digest(strategy: str) -> str:
    strategy_digest.cache_clear()
    modules_digest.cache_clear()
    return strategy_digest(strategy)


@pytest.fixture(autouse=True)
def _forget() -> None:
    digest("bfs")


@pytest.mark.parametrize(
    ("file", "voids"),
    [
        ("strategies/baselines/simple_orders.py", True),
        ("strategies/frontier.py", True),
        ("replaying/driver.py", True),
        ("web/urls.py", True),
        ("strategies/other.py", False),
        ("strategies/new.py", False),
        ("assembly.py", False),
        ("live/wire.py", False),
    ],
)
def test_only_what_a_run_goes_through_voids_its_result(package: Path, file: str, *, voids: bool) -> None:
    before = digest("bfs")
    (package / file).write_text("another = 1\n")
    assert (before != digest("bfs")) == voids


_CODE = '''"""A module."""

ROUNDS = 3
"""How often."""


def turn(number: int) -> str:
    """Turn once."""
    return "again" if number < ROUNDS else ""  # no more
'''


@pytest.mark.parametrize(
    ("before", "after", "voids"),
    [
        ("  # no more", "", False),
        ('"""A module."""\n', "# A module of ours.\n", False),
        ("How often", "How many times", False),
        ('    """Turn once."""\n', "", False),
        ("def turn(number: int) -> str:", "def turn(\n    number: int,\n) -> str:", False),
        ('"again"', '"once more"', True),
        ("ROUNDS = 3", "ROUNDS = 4", True),
        ("<", "<=", True),
        ("turn(number", "turn_once(number", True),
    ],
)
def test_only_what_runs_voids_a_result(package: Path, before: str, after: str, *, voids: bool) -> None:
    file = package / "strategies/frontier.py"
    file.write_text(_CODE)
    first = digest("bfs")
    assert before in _CODE
    file.write_text(_CODE.replace(before, after))
    assert (first != digest("bfs")) == voids


def test_a_strategy_of_ones_own_is_decided_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "own_crawler.py"
    file.write_text("from coati.strategies.baselines import breadth_first\nbuild = lambda urls, seed: None\n")
    before = digest("own_crawler:build")
    file.write_text(file.read_text() + "another = 1\n")
    assert before != digest("own_crawler:build")


@pytest.mark.parametrize("strategy", list(REGISTRY))
def test_every_strategy_has_a_digest_and_settings(strategy: str) -> None:
    assert len(digest(strategy)) == 16
    assert REGISTRY[strategy].settings_read(StrategySettings()).keys() <= set(
        StrategySettings.__dataclass_fields__
    )


def test_strategies_differ_by_the_modules_that_they_are_made_of() -> None:
    assert digest("bfs") == digest("dfs")
    assert len({digest(name) for name in ("bfs", "focused", "tp-off", "sb-oracle", "tres-light")}) == 5
    assert joint_digest(["bfs", "dfs"]) == joint_digest(["dfs", "bfs", "bfs"])
    assert joint_digest(["bfs"]) == digest("bfs") != joint_digest(["bfs", "focused"])


def test_a_setting_counts_where_it_is_read() -> None:
    changed = replace(StrategySettings(), url_model="nb", warm_up=9)
    read = {name: row.settings_read(changed) for name, row in REGISTRY.items()}
    assert read["bfs"] == {}
    assert read["sb-classifier"]["url_model"] == "nb"
    assert read["tp-off"]["warm_up"] == 9
    assert "url_model" not in read["sb-oracle"]
    assert read["scent"] == REGISTRY["scent"].settings_read(StrategySettings())
