"""Wrong arguments of every public function raise a `CoatiError` that names the argument."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import coati
from coati.errors import UsageError

FUNCTIONS: dict[str, Callable[..., object]] = {
    **{name: each for name in coati.__all__ if inspect.isfunction(each := getattr(coati, name))},
    # What asks further of a result.
    "SearchIndex": coati.SearchIndex,
    "SearchIndex.search": coati.SearchIndex("index").search,
    "Run.details": coati.Run(Path("run")).details,
    "Run.explain": coati.Run(Path("run")).explain,
    "Run.query": coati.Run(Path("run")).query,
    "Run.report": coati.Run(Path("run")).report,
    "Run.verify": coati.Run(Path("run")).verify,
    "ReplayResults.spread": coati.ReplayResults("site", "", (), ()).spread,
    "ReplayResults.write": coati.ReplayResults("site", "", (), ()).write,
    "WatchReplayResults.spread": coati.WatchReplayResults("site", ()).spread,
    "WatchReplayResults.write": coati.WatchReplayResults("site", ()).write,
}


class Wrong:
    """A value that means nothing to anybody."""

    def __repr__(self) -> str:
        return "<wrong>"


def keywords_of(function: Callable[..., object], parameter: inspect.Parameter) -> list[str]:
    """Name what stands behind a function's typed keywords."""
    name = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
    return list(getattr(sys.modules[function.__module__], name).__annotations__)


def arguments() -> Iterator[tuple[str, str]]:
    for name, function in FUNCTIONS.items():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                yield from ((name, keyword) for keyword in keywords_of(function, parameter))
            else:
                yield name, parameter.name


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "argument"), list(arguments()), ids=str)
def test_a_wrong_argument_is_named_and_leaves_nothing_behind(
    name: str, argument: str, tmp_path: Path
) -> None:
    function = FUNCTIONS[name]
    needed = {
        each.name: ["none"] if name == "crawl_each" else "none"
        for each in inspect.signature(function).parameters.values()
        if each.default is inspect.Parameter.empty and each.kind is not inspect.Parameter.VAR_KEYWORD
    }
    with pytest.raises(UsageError, match=rf"\b{argument}\b"):
        function(**{**needed, argument: Wrong()})
    assert list(tmp_path.iterdir()) == []
