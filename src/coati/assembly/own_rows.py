"""A row that a user wrote, checked: whatever is wrong with it is told before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from coati.assembly.rows import Need, StrategyInputs, StrategyRow
from coati.assembly.strategy_settings import StrategySettings
from coati.errors import ConfigError, unknown_name
from coati.named_objects import made_by, require_members
from coati.web.facts import EXTRACTORS
from coati.web.rules import TrapRule

if TYPE_CHECKING:
    from coati.strategies.strategy import Strategy

_METHODS = ("choose", "observe", "redo", "save", "load", "arm_label")


def _is_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(each, str) for each in value)


def _is_needs(value: object) -> bool:
    return isinstance(value, frozenset | set) and all(isinstance(each, Need) for each in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


_TEXTS = (_is_texts, 'a tuple of texts, such as ("one",)')
_TEXT = (_is_text, "a text")
_FLAG = (_is_flag, "True or False")
FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "summary": _TEXT,
    "build": (callable, "a function that takes a StrategyInputs"),
    "modules": _TEXTS,
    "settings": _TEXTS,
    "needs": (_is_needs, f"a frozenset of {', '.join(f'Need.{need.name}' for need in Need)}"),
    "seeded": _FLAG,
    "extractors": _TEXTS,
    "shortcuts": _FLAG,
    "traps": (lambda value: isinstance(value, TrapRule), "a TrapRule"),
    "predicts": _FLAG,
    "bound": _FLAG,
    "note": _TEXT,
    "changeable": _TEXTS,
}


def checked_row(row: StrategyRow, path: str) -> StrategyRow:
    """Return the row with a ``build`` that tells what is wrong; raises `ConfigError` for a wrong field."""
    what = f"strategy {path!r}"
    for name, (fits, words) in FIELDS.items():
        if not fits(value := getattr(row, name)):
            raise ConfigError(f"{what}: its row's {name} is {value!r}, and should be {words}")
    known: dict[str, Collection[str]] = {
        "settings": [field.name for field in fields(StrategySettings)],
        "extractors": EXTRACTORS,
        "changeable": row.settings,
    }
    for name, names in known.items():
        for each in getattr(row, name):
            if each not in names:
                raise unknown_name(f"name in the {name} of {path},", each, names)

    def build(given: StrategyInputs) -> Strategy:
        return checked_strategy(made_by(row.build, "strategy", path, given, takes="a StrategyInputs"), path)

    return replace(row, build=build)


def checked_strategy(made: Strategy, path: str) -> Strategy:
    """Return what a user's code made; raises `ConfigError` where it is no strategy."""
    require_members(made, "strategy", path, _METHODS)
    return made
