"""What voids a result and what does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import coati
from coati.assembly import REGISTRY, StrategySettings
from coati.errors import ConfigError
from coati.experiments import deciding_code
from coati.experiments.deciding_code import forget_digests, joint_digest, reached_files, strategy_digest


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
    forget_digests()
    return strategy_digest(strategy)


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    forget_digests()


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


@pytest.fixture
def users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a strategy of a user's own, and with what it imports and what it does not."""
    files = {
        "usesit.py": (
            "import json, it_helper\nfrom it_parts.far import deep\nfrom it_space import plain\n"
            "build = lambda urls, seed: None\n"
        ),
        "it_helper.py": "def later():\n    import it_late\n",
        "it_late.py": "",
        "it_unused.py": "",
        "it_parts/__init__.py": "",
        "it_parts/near.py": "",
        "it_parts/unused.py": "",
        "it_parts/far/__init__.py": "from . import deep\n",
        "it_parts/far/deep.py": "from .. import near\nfrom ..sibling import value\n",
        "it_parts/sibling.py": "value = 1\n",
        "it_space/plain.py": "",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    # Reading what every run goes through takes long, and is not what these tests are about.
    monkeypatch.setattr(deciding_code, "_ALWAYS", ())
    yield tmp_path
    for name in [each for each in sys.modules if each.startswith(("usesit", "rowed", "it_"))]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("file", "voids"),
    [
        ("usesit.py", True),
        ("it_helper.py", True),
        ("it_late.py", True),
        ("it_parts/__init__.py", True),
        ("it_parts/near.py", True),
        ("it_parts/far/__init__.py", True),
        ("it_parts/far/deep.py", True),
        ("it_parts/sibling.py", True),
        ("it_space/plain.py", True),
        ("it_unused.py", False),
        ("it_parts/unused.py", False),
        ("json.py", False),
    ],
)
def test_a_strategy_of_ones_own_is_decided_by_the_files_that_it_imports(
    users_folder: Path, file: str, *, voids: bool
) -> None:
    before = digest("usesit:build")
    changed = users_folder / file
    changed.write_text((changed.read_text() if changed.exists() else "") + "another = 1\n")
    assert (before != digest("usesit:build")) == voids


@pytest.mark.parametrize(("strategy", "voids"), [("usesit:build", False), ("it_parts.near:build", True)])
def test_an_installed_package_decides_nothing_unless_the_strategy_is_in_it(
    users_folder: Path, strategy: str, monkeypatch: pytest.MonkeyPatch, *, voids: bool
) -> None:
    (users_folder / "it_parts/near.py").write_text("import it_late\nbuild = print\n")
    monkeypatch.setattr(deciding_code, "is_installed", lambda _file: True)
    before = digest(strategy)
    (users_folder / "it_late.py").write_text("another = 1\n")
    assert before == digest(strategy)
    (users_folder / "it_parts/__init__.py").write_text("another = 1\n")
    assert (before != digest(strategy)) == voids


def test_a_row_of_ones_own_is_decided_by_its_file_and_by_the_modules_that_it_names(
    users_folder: Path,
) -> None:
    row = "from coati.assembly import StrategyRow\nROW = StrategyRow('mine', print, ('it_unused',))\n"
    (users_folder / "rowed.py").write_text(row)
    digests = [digest("rowed:ROW")]
    for name in ("rowed.py", "it_unused.py"):
        with (users_folder / name).open("a") as opened:
            opened.write("another = 1\n")
        digests.append(digest("rowed:ROW"))
    assert len(set(digests)) == 3


@pytest.mark.parametrize(("name", "follows"), [("StrategyRow", False), ("build_strategy", True)])
def test_a_row_of_ones_own_does_not_depend_on_every_other_row(
    users_folder: Path, name: str, *, follows: bool
) -> None:
    code = f"from coati.assembly import Need, {name} as named\nbuild = lambda urls, seed: None\n"
    (users_folder / "rowed.py").write_text(code)
    package = Path(coati.__file__).parent
    reached = reached_files(["rowed"])
    found = {file.relative_to(package).as_posix() for file in reached if file.is_relative_to(package)}
    assert "assembly/rows.py" in found
    assert ({"assembly/registry.py", "strategies/scent/scent.py"} <= found) == follows
    assert follows or not [file for file in found if file.startswith("strategies/scent/")]


def test_a_row_that_names_a_module_which_is_not_there_is_refused(users_folder: Path) -> None:
    row = "from coati.assembly import StrategyRow\nROW = StrategyRow('mine', print, ('it_parts.typo',))\n"
    (users_folder / "rowed.py").write_text(row)
    with pytest.raises(ConfigError, match=r"it_parts\.typo"):
        digest("rowed:ROW")


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
