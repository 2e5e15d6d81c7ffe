"""What decides the result of a strategy's run: the modules that it runs through, and the settings it reads.

A result stays good as long as these stay as they are. A change anywhere else, such as a new strategy or
another command, voids nothing. A strategy that is not listed depends on everything that any run could touch:
slower to reuse, and never wrong. What `coati.assembly` does with settings is left out, since they are named
one by one; who changes how it builds a strategy raises the format of results (`coati.experiments.cells`).
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coati

if TYPE_CHECKING:
    from coati.assembly import StrategySettings

_PACKAGE = Path(coati.__file__).parent
_NAME = "coati"

# What every run goes through.
_ALWAYS = ("budget", "replay.driver", "replay.measures", "replay.site")

# What a strategy that is not listed may go through.
_ANYTHING = (
    "archive", "assembly.py", "bandits", "budget.py", "learners", "model.py", "replay", "strategies", "web",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ingredients:
    """The modules that a strategy is built from, below the package, and the settings that it reads."""

    modules: tuple[str, ...]
    settings: tuple[str, ...] = ()


_PATHS = ("strategies.tag_paths", "strategies.hnsw_groups", "strategies.url_classes")

_LISTED: Mapping[str, Ingredients] = {
    "bfs": Ingredients(("strategies.baselines",)),
    "dfs": Ingredients(("strategies.baselines",)),
    "random": Ingredients(("strategies.baselines",)),
    "focused": Ingredients(("strategies.focused",)),
    "tp-off": Ingredients(("strategies.tp_off",), ("tag_paths", "warm_up")),
    "sb-oracle": Ingredients(_PATHS, ("tag_paths", "group_index")),
    "sb-classifier": Ingredients(
        _PATHS, ("tag_paths", "batch", "robust_probes", "group_index", "url_model", "url_context")
    ),
    "tres-light": Ingredients(("strategies.tres",)),
    "tres": Ingredients(("tres_neural",)),
    "omniscient": Ingredients(("strategies.clairvoyant",)),
    "clairvoyant": Ingredients(("strategies.clairvoyant",)),
}


def settings_read(strategy: str, settings: StrategySettings) -> dict[str, Any]:
    """Give the settings that a strategy reads, as plain values."""
    everything = asdict(settings)
    listed = _LISTED.get(strategy)
    return everything if listed is None else {name: everything[name] for name in listed.settings}


@cache
def strategy_digest(strategy: str) -> str:
    """Name the code that decides a run of a strategy: equal for equal code, whatever the commit says."""
    listed = _LISTED.get(strategy)
    if listed is None:
        places = [_PACKAGE / part for part in _ANYTHING]
        return _digest(
            file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
        )
    return modules_digest((*_ALWAYS, *listed.modules))


@cache
def modules_digest(modules: tuple[str, ...]) -> str:
    """Name the code of some modules, given below the package, and of all that they import."""
    return _digest(_reached(modules))


def joint_digest(strategies: Iterable[str]) -> str:
    """Name the code of several strategies at once."""
    each = [strategy_digest(strategy) for strategy in sorted(set(strategies))]
    return each[0] if len(each) == 1 else hashlib.sha256(" ".join(each).encode()).hexdigest()[:16]


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(_PACKAGE).as_posix()}\n".encode() + file.read_bytes())
    return total.hexdigest()[:16]


def _reached(modules: Iterable[str]) -> list[Path]:
    """List the files that are imported, directly or not, when these modules are."""
    waiting = [f"{_NAME}.{module}" for module in modules]
    found: set[Path] = set()
    while waiting:
        file = _file_of(waiting.pop())
        if file is not None and file not in found:
            found.add(file)
            waiting.extend(_imports(file))
    return sorted(found)


def _file_of(module: str) -> Path | None:
    """Find the file of a module of ours; None for other packages and for names within a module."""
    package, *names = module.split(".")
    if package != _NAME:
        return None
    place = _PACKAGE.joinpath(*names)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def _imports(file: Path) -> Iterator[str]:
    """Give what a file imports when it runs: what stands under ``if TYPE_CHECKING`` does nothing then."""
    waiting: list[ast.AST] = [ast.parse(file.read_bytes())]
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
