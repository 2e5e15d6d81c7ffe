"""The how-to writes a strategy step by step; each step works, and the last one is the example."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import coati
from tests.examples.test_use_from_python import blocks, said
from tests.replaying import tiny_site

EXAMPLE = Path(__file__).parents[2] / "examples" / "shallow_first.py"
BLOCKS = blocks("how-to/write-a-strategy.md")

# What a reader types into `shallow_first.py`, in the order of the page.
(FIRST,) = (block for block in BLOCKS if "def __init__" in block)
IMPORTS = [block for block in BLOCKS if all(line.startswith("from ") for line in block.splitlines())]
LINES = [block for block in BLOCKS if block.startswith(" " * 8)]
METHODS = [block for block in BLOCKS if block.startswith("class ") and block != FIRST]
(ROW,) = (block for block in BLOCKS if "StrategyRow" in block)

# What runs beside it.
(BY_HAND,) = (block for block in BLOCKS if "Responder" in block)
(CHECK,) = (block for block in BLOCKS if "check_strategy" in block)


def without(method: str, source: str) -> str:
    """Leave a method out, as a reader does who writes it again."""
    return re.sub(rf"^    def {method}\(.*?(?=^    def |\Z)", "", source, flags=re.DOTALL | re.MULTILINE)


def written() -> str:
    """Return the file as it is when a reader has followed the page to its end."""
    source = FIRST
    for line in LINES:
        source = source.replace("        self._turn = 0\n", f"        self._turn = 0\n{line}", 1)
    for block in METHODS:
        for method in re.findall(r"^    def (\w+)", block, re.MULTILINE):
            source = without(method, source)
        _, _, methods = block.partition("\n")
        source = f"{source.rstrip()}\n\n{methods}"
    return "".join(IMPORTS) + source


class Bare(ast.NodeTransformer):
    """Takes types and docstrings out of a file."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        node.body = [
            ast.Assign([each.target], each.value, lineno=0)
            if isinstance(each, ast.AnnAssign) and each.value is not None
            else each
            for each in node.body
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        ]
        return node


def functions(source: str) -> dict[str, list[str]]:
    """Return the lines of each function of a file; those of `__init__` in any order."""
    found = {
        node.name: ast.unparse(node).splitlines()
        for node in ast.walk(Bare().visit(ast.parse(source)))
        if isinstance(node, ast.FunctionDef)
    }
    return {name: sorted(lines) if name == "__init__" else lines for name, lines in found.items()}


def test_every_block_of_the_page_is_tried() -> None:
    assert set(BLOCKS) == {FIRST, *IMPORTS, *LINES, *METHODS, ROW, BY_HAND, CHECK}


def test_the_first_step_crawls_by_hand(tmp_path: Path) -> None:
    told = said(FIRST + BY_HAND, tmp_path)
    assert re.match(r"\d+ files, the first at http", told)


def test_the_last_step_is_the_example_without_types() -> None:
    assert functions(written()) == functions(EXAMPLE.read_text(encoding="utf-8"))


def test_the_last_step_keeps_the_contract_as_the_page_checks_it(tmp_path: Path) -> None:
    (tmp_path / "shallow_first.py").write_text(written(), encoding="utf-8")
    said(CHECK, tmp_path)


def test_its_row_is_run_once_whatever_the_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shallow_row.py").write_text(f"{written()}\n\n{ROW}".replace("shallow_first", "shallow_row"))
    monkeypatch.syspath_prepend(tmp_path)
    found = coati.replay(tiny_site.make(tmp_path / "tiny"), "shallow_row:ROW,bfs", seeds=3)
    assert isinstance(found, coati.ReplayResults)
    assert [(run.strategy, run.seed) for run in found.runs] == [("shallow_row:ROW", None), ("bfs", None)]
