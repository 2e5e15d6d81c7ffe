"""One row for each strategy: whoever asks anything about one reads its row."""

from __future__ import annotations

import ast
import json
from dataclasses import fields
from pathlib import Path
from typing import cast

import pytest

import coati
from coati.assembly import (
    DISCOVERY,
    REGISTRY,
    SHORTCUTS,
    Need,
    StrategyInputs,
    StrategyRow,
    StrategySettings,
    build_shortcuts,
    own_rows,
)
from coati.experiments.deciding_code import reached_files
from coati.strategies.discovery.prospect_settings import OffTopic, ProspectSettings
from coati.strategies.discovery.settings import DiscoverySettings, UserJudgements
from coati.strategies.discovery.start_model import StartModel
from coati.strategies.tres.tres import TresExamples
from coati.testing.generator import generate_site
from coati.testing.site_parameters import SiteParameters
from tests.strategies.truths import truth_of

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


class RecordedSettings:
    """Settings that note which of their fields were read."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self._settings = StrategySettings(discovery=DiscoverySettings(topic="rain"))

    def __getattr__(self, name: str) -> object:
        self.read.add(name)
        return getattr(self._settings, name)


# Without its libraries it cannot be built, and it reads no settings.
@pytest.mark.parametrize("name", [name for name in ROWS if name != "tres"])
def test_a_row_names_the_settings_that_its_strategy_reads(name: str) -> None:
    recorded = RecordedSettings()
    site = generate_site(SiteParameters(pages=20), 1)
    inputs = StrategyInputs(
        (site.start_url,),
        1,
        cast("StrategySettings", recorded),
        truth_of(site),
        TresExamples(["rain " * 9], ["sun " * 9]),
        NothingNew(),
    )
    ROWS[name].build(inputs)
    assert recorded.read == set(ROWS[name].settings)
    assert set(ROWS[name].changeable) <= set(ROWS[name].settings)


class NothingNew:
    def links(self, page: int, now: float) -> list[int]:
        return [page]


def test_settings_are_plain_values_whatever_the_order_of_sets() -> None:
    model = StartModel(stop_words=frozenset({"the", "a", "of"}))
    read = DISCOVERY["dsdd"].settings_read(StrategySettings(start_model=model))
    assert read["start_model"]["stop_words"] == ["a", "of", "the"]
    assert json.dumps(read)


def test_a_search_with_another_start_model_needs_other_snapshots() -> None:
    # A snapshot holds what was learnt, and not what the model knew before.
    before, after = StrategySettings(), StrategySettings(start_model=StartModel(bias=1.0))
    assert DISCOVERY["dsdd"].settings_kept(before) != DISCOVERY["dsdd"].settings_kept(after)


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
    before = StrategySettings()
    for after in (StrategySettings(patience=9), StrategySettings(wishes=UserJudgements(max_queries=3))):
        assert row.settings_read(before) != row.settings_read(after)
        assert row.settings_kept(before) == row.settings_kept(after)


def test_every_field_of_a_row_of_ones_own_is_checked() -> None:
    assert list(own_rows.FIELDS) == [field.name for field in fields(StrategyRow)]
