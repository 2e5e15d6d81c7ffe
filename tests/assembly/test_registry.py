"""One row for each strategy: whoever asks anything about one reads its row."""

from __future__ import annotations

import ast
from pathlib import Path

import coati
from coati.assembly import DISCOVERY, REGISTRY, SHORTCUTS, Need, StrategySettings, build_shortcuts
from coati.experiments.deciding_code import reached_files
from coati.strategies.discovery.prospect_settings import OffTopic, ProspectSettings

ROWS = {**REGISTRY, **DISCOVERY}

_PACKAGE = Path(coati.__file__).parent
_WITH_ROWS = {"assembly/registry.py", "assembly/discovery.py", "strategies/revisits/schedulers.py"}

# Where a strategy is chosen, or where a measure is defined by one. What holds for a strategy is in its row.
_NAMED_ELSEWHERE = {
    "experiments/between_rows.py": {"dsdd", "dsdd-kw", "greedy", "od-win", "rr"},
    "experiments/site_runs.py": {"bfs", "clairvoyant"},
    "experiments/spec.py": {"omniscient"},
    "harvesting/pages_harvest.py": {"host-yield"},
    "jobs/replaying.py": {"bfs", "clairvoyant", "sb-classifier", "scent"},
    "settings/discovery.py": {"prospect"},
    "settings/run_settings.py": {"scent"},
    "testing/demo.py": {"bfs"},
    "watching/watch_options.py": {"arrivals"},
    # Names of its state and of a function.
    "strategies/discovery/disco.py": {"disco"},
    "strategies/tres/neural/__init__.py": {"tres"},
}


def test_nothing_but_its_row_knows_a_strategy_by_its_name() -> None:
    found: dict[str, set[str]] = {}
    for file in _PACKAGE.rglob("*.py"):
        name = file.relative_to(_PACKAGE).as_posix()
        nodes = ast.walk(ast.parse(file.read_bytes()))
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and node.value in ROWS}
        if texts and name not in _WITH_ROWS:
            found[name] = texts
    assert found == _NAMED_ELSEWHERE


def test_a_bound_knows_what_no_crawler_knows() -> None:
    assert {name for name, row in ROWS.items() if row.bound} == {"clairvoyant", "omniscient", "greedy"}
    assert all(row.replay_only for row in ROWS.values() if row.bound)


def test_who_learns_from_examples_says_how_it_differs() -> None:
    assert all(row.note for row in ROWS.values() if Need.EXAMPLES in row.needs)


def test_the_words_on_shortcuts_name_every_strategy_that_supports_them() -> None:
    supporting = {name for name, row in ROWS.items() if row.shortcuts}
    assert "prospect" in supporting
    named = SHORTCUTS["auto"].partition(": ")[2].removesuffix(" do").replace(" and ", ", ")
    assert set(named.split(", ")) == supporting


def test_shortcuts_without_a_strategy_are_for_whichever_supports_them() -> None:
    assert build_shortcuts("auto") is not None
    assert build_shortcuts("off") is None


def test_what_prospect_alone_is_given_voids_nothing_of_the_other_searches() -> None:
    def read(settings: StrategySettings) -> dict[str, object]:
        return {name: row.settings_read(settings) for name, row in ROWS.items()}

    before = read(StrategySettings())
    after = read(StrategySettings(prospect=ProspectSettings(OffTopic.NEVER)))
    assert [name for name in ROWS if before[name] != after[name]] == ["prospect"]
    # The class stands in a file of its own, so that a new field is no new code of the others.
    reached = {name for name, row in DISCOVERY.items() if _reaches(row.modules, "prospect_settings.py")}
    assert reached == {"prospect"}


def _reaches(modules: tuple[str, ...], file: str) -> bool:
    return any(each.name == file for each in reached_files(modules))


def test_what_may_change_when_a_run_is_resumed_voids_results_and_no_snapshots() -> None:
    row = DISCOVERY["prospect"]
    before, after = StrategySettings(), StrategySettings(patience=9)
    assert row.settings_read(before) != row.settings_read(after)
    assert row.settings_kept(before) == row.settings_kept(after)
