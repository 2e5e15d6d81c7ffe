"""The code that decides the result of a strategy's run: the modules that it runs through.

A result stays good as long as these, and the settings that the strategy reads, stay as they are. Both stand
in the strategy's row (`coati.assembly.REGISTRY`). A change anywhere else, such as a new strategy or another
command, voids nothing; nor does a comment, a docstring or the layout of the code. (Another version of Python
may parse the same code otherwise, and then makes its results again.) What `coati.assembly` does with settings
is left out, since they are named one by one; who changes how it builds a strategy raises the format of
results (`coati.experiments.trials`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from coati import version
from coati.assembly import strategy_row
from coati.errors import ConfigError
from coati.named_objects import ONLY_IN_MAIN

_PACKAGE = Path(version.__file__).parent
_NAME = "coati"

# What every run goes through.
_ALWAYS = (
    "coati.budget",
    "coati.replaying.driver",
    "coati.replaying.measures",
    "coati.replaying.site",
)


@cache
def strategy_digest(strategy: str) -> str:
    """Name the code that decides a run of a strategy: equal for equal code, whatever the commit says."""
    return modules_digest((*_ALWAYS, *strategy_row(strategy).modules))


@cache
def modules_digest(modules: tuple[str, ...]) -> str:
    """Name the code of some modules, and of all of our own that they import."""
    return _digest(_reached(modules))


def joint_digest(strategies: Iterable[str]) -> str:
    """Name the code of several strategies at once."""
    each = [strategy_digest(strategy) for strategy in sorted(set(strategies))]
    return each[0] if len(each) == 1 else hashlib.sha256(" ".join(each).encode()).hexdigest()[:16]


class _WithoutTexts(ast.NodeTransformer):
    """Takes out what does nothing when it runs: docstrings, and other values that stand by themselves."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def _digest(code: Mapping[Path, ast.Module]) -> str:
    total = hashlib.sha256()
    for file, tree in sorted(code.items()):
        ours = file.is_relative_to(_PACKAGE)
        name = file.relative_to(_PACKAGE).as_posix() if ours else file.name
        total.update(f"{name}\n{ast.dump(_WithoutTexts().visit(tree))}\n".encode())
    return total.hexdigest()[:16]


def _reached(modules: Iterable[str]) -> dict[Path, ast.Module]:
    """Parse the files that are imported, directly or not, when these modules are."""
    names = list(modules)
    # A user's own strategy is decided by its file, and by what that imports from here.
    waiting = [Path(spec.origin) for name in names if (spec := _foreign(name)) and spec.origin]
    waiting += filter(None, map(_file_of, names))
    found: dict[Path, ast.Module] = {}
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = ast.parse(file.read_bytes())
            waiting += filter(None, map(_file_of, _imports(found[file])))
    return found


def _foreign(module: str) -> ModuleSpec | None:
    if module == "__main__":
        raise ConfigError(ONLY_IN_MAIN)
    return None if module.partition(".")[0] == _NAME else find_spec(module)


def _file_of(module: str) -> Path | None:
    """Find the file of a module of ours; None for other packages and for names within a module."""
    package, *names = module.split(".")
    if package != _NAME:
        return None
    place = _PACKAGE.joinpath(*names)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _imports(tree: ast.Module) -> Iterator[str]:
    """Return what a file imports when it runs: what stands under ``if TYPE_CHECKING`` does nothing then."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting.extend(node.orelse)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            # What is imported from a package may be one of its modules.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            waiting.extend(ast.iter_child_nodes(node))
