from __future__ import annotations

import inspect
import re

import pytest

from coati import errors
from coati.errors import CoatiError, ConfigError, unknown_name


def test_the_tree_in_the_docstring_is_the_tree_of_classes() -> None:
    lines = re.findall(r"^    ([ │├└─]*)(\w+Error)\b", errors.__doc__ or "", re.MULTILINE)
    drawn: dict[str, str | None] = {}
    branch: list[str] = []
    for lead, name in lines:
        depth = len(lead) // 4
        branch[depth:] = [name]
        drawn[name] = branch[depth - 1] if depth else None
    classes = {
        name: item
        for name, item in vars(errors).items()
        if inspect.isclass(item) and item.__module__ == errors.__name__
    }
    assert drawn.keys() == classes.keys()
    for name, parent in drawn.items():
        assert [base.__name__ for base in classes[name].__bases__] == [parent or "Exception"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bsf", "unknown strategy 'bsf'; did you mean 'bfs'? Known: bfs, dfs, random"),
        ("zzz", "unknown strategy 'zzz'. Known: bfs, dfs, random"),
        ("", "unknown strategy ''. Known: bfs, dfs, random"),
    ],
)
def test_a_misspelt_name_gets_the_nearest_and_all_others(name: str, message: str) -> None:
    error = unknown_name("strategy", name, ["random", "dfs", "bfs"])
    assert isinstance(error, ConfigError)
    assert isinstance(error, CoatiError)
    assert str(error) == message
