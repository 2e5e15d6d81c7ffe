import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.toml_writer import to_toml
from coati.web.rules import Scope

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8")),
)
VALUES = st.recursive(
    st.one_of(SCALARS, st.lists(SCALARS, max_size=3)),
    lambda inner: st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES, max_size=5))
def test_what_is_written_is_read_back(settings: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(settings, "a comment\nof two lines")) == settings


def test_paths_enums_sets_and_nothing() -> None:
    text = to_toml(
        {"out": Path("a/b"), "scope": Scope.HOST, "types": {"b", "a"}, "proxy": None, "at": [{"x": 1}]}
    )
    assert tomllib.loads(text) == {"out": "a/b", "scope": "host", "types": ["a", "b"], "at": [{"x": 1}]}


def test_a_value_without_a_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="no form in TOML"):
        to_toml({"x": object()})
