"""What the how-to says can be run, and it says everything that can be set."""

import ast
import re
from pathlib import Path

import pytest

from tests.live.scripted import file, page, scripted

ROOT = Path(__file__).parents[2]
HOW_TO = (ROOT / "docs" / "how-to" / "use-in-scrapy.md").read_text(encoding="utf-8")
MODULES = sorted((ROOT / "src" / "coati" / "live").glob("*.py"))


def test_the_example_in_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = re.findall(r"```python\n(import time\n.*?)```", HOW_TO, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with scripted({"/": page("/a.csv"), "/a.csv": file()}) as server:
        exec(compile(program.replace("https://www.example.org/", server.start, 1), "how-to", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "nothing was left to request 1\n"
    assert (tmp_path / "example" / "run.toml").exists()


def test_every_setting_is_documented() -> None:
    read = set()
    explained = HOW_TO
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        explained += ast.get_docstring(ast.parse(source)) or ""
        read |= set(re.findall(r'(?:get\w*|settings)\(?\[?\(?"(COATI_\w+)"', source))
    assert len(read) > 10
    assert {name for name in read if name not in explained} == set()


def test_every_component_that_is_named_exists() -> None:
    named = set(re.findall(r'"coati\.live\.(\w+)\.(\w+)"', HOW_TO))
    assert len(named) >= 6
    for module, name in named:
        assert hasattr(__import__(f"coati.live.{module}", fromlist=[name]), name)
