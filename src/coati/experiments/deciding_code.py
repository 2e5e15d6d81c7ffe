"""The code that decides the result of a strategy's run: the modules that it runs through.

A result stays good as long as these, and the settings that the strategy reads, stay as they are. Both stand
in the strategy's row (`coati.assembly.REGISTRY`). A change anywhere else, such as a new strategy or another
command, voids nothing; nor does a comment, a docstring or the layout of the code. (Another version of Python
may parse the same code otherwise, and then makes its results again.) What `coati.assembly` does with settings
is left out, since they are named one by one; who changes how it builds a strategy raises the format of
results (`coati.experiments.trials`).

Modules count whole, also those that mostly hold words (`coati.errors`, `coati.stop_reasons`): following names
instead would miss what decides. A replay survives some errors of an archive and not others by their place in
the tree, and functions such as `coati.web.media.parse_types` are called by none of the modules that are
followed, but by what prepares a run.

A strategy of the user's own is decided by its file and by all that this imports, except for the standard
library and installed packages. Only import statements are followed.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from coati import version
from coati.assembly import strategy_row
from coati.errors import ConfigError, UsageError
from coati.named_objects import ONLY_IN_MAIN, changed_since_import, count_of_reimports, is_installed

_PACKAGE = Path(version.__file__).parent
_NAME = "coati"

# What every run goes through.
_ALWAYS = (
    "coati.budget",
    "coati.replaying.driver",
    "coati.replaying.measures",
    "coati.replaying.site",
)


def strategy_digest(strategy: str) -> str:
    """Name the code that decides a run of a strategy: equal for equal code, whatever the commit says."""
    return modules_digest(modules_of(strategy))


def modules_of(strategy: str) -> tuple[str, ...]:
    """List the modules that decide a run of a strategy, together with all that they import."""
    # The row of one's own may name what decides, and not the file that it stands in itself.
    path, colon, _ = strategy.partition(":")
    own = (path,) if colon else ()
    return (*_ALWAYS, *dict.fromkeys((*strategy_row(strategy).modules, *own)))


def modules_digest(modules: tuple[str, ...]) -> str:
    """Name the code of some modules, and of all that they import and that is not installed."""
    return _digest_known(modules, count_of_reimports())


def require_unchanged(modules: Iterable[str], otherwise: str = "") -> None:
    """Raise `UsageError` if a file that decides holds other code than this process runs.

    Python imports a module once; ``otherwise`` says what else may be done than starting it again.
    """
    changed = changed_since_import()
    found = sorted(changed & reached_files(modules)) if changed else ()
    if found:
        raise UsageError(
            f"{found[0]} has changed since Python imported it, and the old code would run: restart Python (in"
            f" a notebook: its kernel){otherwise}"
        )


def reached_files(modules: Iterable[str]) -> frozenset[Path]:
    """List the files that decide: those of some modules, and of all that they import and is not installed."""
    return frozenset(_reached(modules))


def forget_digests() -> None:
    """Let all code be read again: in a notebook, it may have changed since."""
    _digest_known.cache_clear()


def joint_digest(strategies: Iterable[str]) -> str:
    """Name the code of several strategies at once."""
    each = [strategy_digest(strategy) for strategy in sorted(set(strategies))]
    return each[0] if len(each) == 1 else hashlib.sha256(" ".join(each).encode()).hexdigest()[:16]


@cache
def _digest_known(modules: tuple[str, ...], _reimports: int) -> str:
    return _digest(_reached(modules))


class _WithoutTexts(ast.NodeTransformer):
    """Takes out what does nothing when it runs: docstrings, and other values that stand by themselves."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


class _Source(NamedTuple):
    """A file of Python that is imported as ``module``; ``package`` says that others lie within it."""

    file: Path
    module: str
    package: bool


def _digest(code: Mapping[Path, ast.Module]) -> str:
    total = hashlib.sha256()
    for file, tree in sorted(code.items()):
        ours = file.is_relative_to(_PACKAGE)
        name = file.relative_to(_PACKAGE).as_posix() if ours else file.name
        total.update(f"{name}\n{ast.dump(_WithoutTexts().visit(tree))}\n".encode())
    return total.hexdigest()[:16]


def _reached(modules: Iterable[str]) -> dict[Path, ast.Module]:
    """Parse the files that are imported, directly or not, when these modules are."""
    named = list(modules)
    for name in named:
        _require(name)
    # A strategy may be part of an installed package, which is then followed after all.
    follow = frozenset(name.partition(".")[0] for name in named)
    waiting = [source for name in named for source in _sources(name, follow)]
    found: dict[Path, ast.Module] = {}
    while waiting:
        source = waiting.pop()
        if source.file not in found:
            found[source.file] = tree = _parsed(source.file)
            names = (
                filter(_is_ours, _imports(tree, source))
                if _is_ours(source.module)
                else _imports(tree, source)
            )
            waiting += [each for name in names for each in _sources(name, follow)]
    return found


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes())
    except SyntaxError as error:
        # It was not there when the file was imported.
        raise ConfigError(f"{file}, line {error.lineno}: {error.msg}") from None


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _NAME


def _require(module: str) -> None:
    """Raise `ConfigError` for a module that decides, and whose changes could not be noticed."""
    if module == "__main__":
        raise ConfigError(ONLY_IN_MAIN)
    try:
        known = _is_ours(module) or find_spec(module) is not None
    except ImportError:
        known = False
    if not known:
        raise ConfigError(f"the module {module!r}, which a strategy's row names, cannot be imported")


def _sources(module: str, follow: frozenset[str]) -> Iterator[_Source]:
    """Find the file of a module, after those of the packages around it; none for a name within a module.

    Packages of ours do nothing when they are imported, and are left out.
    """
    top, *names = module.split(".")
    if _is_ours(module):
        source = _source_in(_PACKAGE, module, names)
        if source is not None:
            yield source
        return
    for place in _places(top, installed=top in follow):
        for end in range(len(names) + 1):
            source = _source_in(place, ".".join((top, *names[:end])), names[:end])
            if source is not None:
                yield source


def _source_in(place: Path, module: str, names: Iterable[str]) -> _Source | None:
    path = place.joinpath(*names)
    if (file := path.with_name(f"{path.name}.py")).is_file():
        return _Source(file, module, package=False)
    if (file := path / "__init__.py").is_file():
        return _Source(file, module, package=True)
    return None


def _places(top: str, *, installed: bool) -> tuple[Path, ...]:
    """Find where a module without dots in its name lies: its file without the suffix, or its folders.

    None for what is built in, and unless ``installed`` for the standard library and installed packages.
    """
    try:
        spec = find_spec(top)
    except ValueError:  # a module that was made, not imported
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations is not None:
        places = tuple(map(Path, spec.submodule_search_locations))
    else:
        places = (Path(spec.origin).with_suffix(""),) if spec.has_location and spec.origin else ()
    return tuple(place for place in places if installed or not is_installed(place))


def _imports(tree: ast.Module, source: _Source) -> Iterator[str]:
    """Return what a file imports when it runs: what stands under ``if TYPE_CHECKING`` does nothing then."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting.extend(node.orelse)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, source)
            for alias in node.names:
                origin = _origin(module, alias.name)
                yield origin
                # What is imported from a package may be one of its modules.
                yield f"{origin}.{alias.name}"
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _origin(module: str, name: str) -> str:
    """Name the module that a name comes from, where a package of ours hands it on; else the module itself.

    A row of the user's needs what describes rows (`coati.assembly.rows`), and not all that its package names.
    """
    source = _source_in(_PACKAGE, module, module.split(".")[1:]) if _is_ours(module) else None
    if source is None or not source.package:
        return module
    for node in _parsed(source.file).body:
        if isinstance(node, ast.ImportFrom) and any(
            (each.asname or each.name) == name for each in node.names
        ):
            return _absolute(node, source)
    return module


def _absolute(node: ast.ImportFrom, source: _Source) -> str:
    """Return what is imported from, also where it is written with leading dots."""
    if not node.level:
        return node.module or ""
    parts = source.module.split(".")
    around = parts[: len(parts) - node.level + source.package]
    return ".".join((*around, node.module) if node.module else around)
