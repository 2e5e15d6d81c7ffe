"""Which pages are relevant, by what their facts say."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from coati.assembly import build_goal
from coati.errors import ConfigError
from coati.web.markup.goals import all_of, parse_goal


def facts(types: tuple[str, ...] = (), **statements: int) -> Mapping[str, object]:
    counts = {name.replace("_", "-"): count for name, count in statements.items()}
    return {"markup": {"statements": counts, "types": list(types), "broken": 0}}


@pytest.mark.parametrize(
    ("goal", "page", "relevant"),
    [
        ("structured-data", facts(json_ld=1), True),
        ("structured-data", facts(opengraph=50), False),
        ("structured-data", facts(), False),
        ("structured-data", {}, False),
        ("structured-data>=5", facts(json_ld=2, microdata=3), True),
        ("structured-data>=5", facts(json_ld=2, opengraph=9), False),
        ("classic", facts(json_ld=9), False),
        ("classic", facts(microformats=1), True),
        ("classic >= 5", facts(rdfa=4), False),
        ("Microdata>=5", facts(microdata=5), True),
        ("microdata>=5", facts(microdata=4, rdfa=9), False),
        ("opengraph", facts(opengraph=1), True),
        ("type=Dataset,Product", facts(("Offer", "Product"), json_ld=2), True),
        ("type=Dataset", facts(("Offer", "Product"), json_ld=2), False),
        ("type=Dataset", {}, False),
    ],
)
def test_a_goal_holds_for_some_pages(goal: str, page: Mapping[str, object], relevant: bool) -> None:  # noqa: FBT001
    assert parse_goal(goal).holds(page) is relevant


def test_several_goals_must_all_hold() -> None:
    both = all_of((parse_goal("microdata>=2"), parse_goal("type=Product")))
    assert both(facts(("Product",), microdata=2))
    assert not both(facts(("Product",), microdata=1))
    assert not both(facts((), microdata=2))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not a goal"),
        ("microdata>5", "is not a goal"),
        ("microdata>=0", "met by every page"),
        ("micordata", "did you mean 'microdata'"),
        ("type=", "names no type"),
        ("type=data set", "is not a type of schema.org"),
        ("no_such_module:goal", "cannot be imported"),
        ("json:no_such_function", "json has no 'no_such_function'"),
        ("json:__doc__", "must be a function"),
    ],
)
def test_a_goal_that_is_none_says_what_to_write(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        build_goal(text)


def test_a_goal_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_goals.py").write_text(
        "def long_text(facts):\n    return len(facts['text']) > 3\nlong_text.extractors = ('text',)\n"
        "def odd(facts):\n    return 1\nodd.extractors = ('colour',)\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    goal = build_goal("own_goals:long_text")
    assert goal.extractors == ("markup", "text")
    assert goal.holds({"text": "long"})
    assert not goal.holds({"text": "no"})
    with pytest.raises(ConfigError, match="unknown extractor of the goal 'own_goals:odd', 'colour'"):
        build_goal("own_goals:odd")
