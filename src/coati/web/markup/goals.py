"""What makes a page relevant: predicates over its facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coati.errors import ConfigError, unknown_name
from coati.model import Facts
from coati.web.markup.detector import SYNTAXES

Predicate = Callable[[Facts], bool]

GOALS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "structured-data": (
        ("microdata", "rdfa", "json-ld", "microformats"),
        "any structured data but Open Graph, which nearly every page has",
    ),
    "classic": (("microdata", "rdfa", "microformats"), "what the CIKM 2014 paper looks for: no JSON-LD"),
    **{syntax: ((syntax,), f"statements in {syntax}") for syntax in SYNTAXES},
}
"""The names of goals: the syntaxes whose statements count, and what that means in words."""

_COUNTED = re.compile(r"([a-z][a-z\-]*)\s*(?:>=\s*(\d{1,9}))?\Z")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9]{0,63}\Z")
_HOW = f"write one of {', '.join(GOALS)}, with >=N if you like, type=Dataset,Product, or module:function"


@dataclass(frozen=True, slots=True)
class Goal:
    """One condition that a relevant page meets; ``extractors`` name the facts that it reads."""

    text: str
    holds: Predicate
    extractors: tuple[str, ...] = ("markup",)


def parse_goal(text: str) -> Goal:
    """Read a goal about structured data; raise `ConfigError` that says how goals are written.

    >>> goal = parse_goal("microdata>=2")
    >>> goal.holds({"markup": {"statements": {"microdata": 2}}})
    True
    """
    wanted = text.strip()
    if wanted.lower().startswith("type="):
        return _goal_of_types(wanted)
    found = _COUNTED.match(wanted.lower())
    if found is None:
        raise ConfigError(f"{text!r} is not a goal: {_HOW}")
    name, least = found[1], int(found[2] or 1)
    if name not in GOALS:
        raise unknown_name("goal", name, GOALS)
    if least < 1:
        raise ConfigError(f"{text!r} is met by every page: require at least 1 statement")
    syntaxes, _ = GOALS[name]

    def holds(facts: Facts) -> bool:
        statements = _part(facts, "statements")
        counts = statements if isinstance(statements, Mapping) else {}
        return bool(sum(counts.get(syntax, 0) for syntax in syntaxes) >= least)

    return Goal(wanted, holds)


def all_of(goals: tuple[Goal, ...]) -> Predicate:
    """Return the predicate of pages that meet every one of some goals."""

    def holds(facts: Facts) -> bool:
        return all(goal.holds(facts) for goal in goals)

    return holds


def _goal_of_types(text: str) -> Goal:
    names = [name.strip() for name in text.partition("=")[2].split(",") if name.strip()]
    for name in names:
        if not _TYPE.match(name):
            raise ConfigError(
                f"{text!r}: {name!r} is not a type of schema.org; they look like Dataset or Product"
            )
    if not names:
        raise ConfigError(f"{text!r} names no type: {_HOW}")
    wanted = frozenset(names)

    def holds(facts: Facts) -> bool:
        types = _part(facts, "types")
        return isinstance(types, list) and not wanted.isdisjoint(types)

    return Goal(text, holds)


def _part(facts: Facts, name: str) -> object:
    markup = facts.get("markup")
    return markup.get(name) if isinstance(markup, Mapping) else None
