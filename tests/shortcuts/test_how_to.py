"""The profile of the how-to works as it stands, and by its path."""

import re
from pathlib import Path

import pytest

from coati.assembly import build_shortcuts
from coati.errors import ConfigError
from coati.shortcuts.registry import PROFILES
from tests.shortcuts.pages import SITE

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "use-shortcuts.md"


@pytest.fixture
def text() -> str:
    return HOW_TO.read_text(encoding="utf-8")


def test_the_profile_of_the_how_to_by_its_path(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "shortcut_of_mine.py").write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    shortcuts = build_shortcuts("auto", "bfs", ["shortcut_of_mine:MyCms"])
    assert shortcuts is not None
    page = b"<meta name=generator content='MyCMS 3'>"
    (offered,) = shortcuts.offers(SITE, (), page, is_start=True)
    assert offered.reference == SITE + "files.json"
    body = b'{"files": [{"address": "/a.csv", "title": "A", "licence": "CC0"}]}'
    (found,) = shortcuts.read(offered.reference, body, "application/json", ()).listed
    assert (found.reference, found.anchor, found.licence) == ("/a.csv", "A", "CC0")


def test_the_how_to_lists_every_profile_with_what_it_was_written_from(text: str) -> None:
    for profile in PROFILES:
        assert f"| {profile.title} |" in text
        assert profile.written_from in text


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:Mine", "cannot be imported"),
        ("coati.errors:Nothing", "has no 'Nothing'"),
        ("coati.errors:CoatiError", "has no name"),
    ],
)
def test_what_is_not_a_profile_is_refused_in_words(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_shortcuts("auto", "scent", [path])


def test_the_published_strategies_get_no_shortcuts_unless_asked_for() -> None:
    assert build_shortcuts("auto", "sb-classifier") is None
    assert build_shortcuts("off", "scent") is None
    assert build_shortcuts("only", "bfs") is not None
    assert build_shortcuts("auto", "scent") is not None
    with pytest.raises(ConfigError, match="way to use shortcuts"):
        build_shortcuts("on", "scent")
