"""What users name as ``my_module:MyThing``: a strategy, a goal, a search engine of their own."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coati.errors import CoatiError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


ONLY_IN_MAIN = (
    "what a script or a notebook defines is unknown to other processes: put it into a file of its own, such"
    " as my_module.py, and name it as my_module:MyName"
)


def how_to_name(thing: object) -> str:
    """Say how to name a class or a function that was given where its path is meant; nothing for all else.

    >>> from json import JSONDecoder
    >>> how_to_name(JSONDecoder), how_to_name(3)
    ("; name it as 'json.decoder:JSONDecoder'", '')
    """
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__name__", "")
    if not module or not name:
        return ""
    return f"; {ONLY_IN_MAIN}" if module == "__main__" else f"; name it as {f'{module}:{name}'!r}"


# Folders of installed libraries; they may also be in a folder of the user, or wherever `PYTHONPATH` leads.
_LIBRARIES = frozenset({"site-packages", "dist-packages"})


def is_installed(file: Path) -> bool:
    """Tell whether a file belongs to the standard library or to an installed package, not to the user.

    >>> import json
    >>> is_installed(Path(json.__file__)), is_installed(Path("my_module.py"))
    (True, False)
    """
    return not _LIBRARIES.isdisjoint(file.parts) or any(
        map(file.is_relative_to, (sys.prefix, sys.base_prefix))
    )


def place_in_users_code(error: BaseException) -> str:
    """Name where Coati called a strategy or another object of the user's that failed; else nothing."""
    package = Path(__file__).parent
    for caller, called in pairwise(traceback.extract_tb(error.__traceback__)):
        file = Path(called.filename)
        is_ours = Path(caller.filename).is_relative_to(package)
        if is_ours and file.is_file() and not file.is_relative_to(package) and not is_installed(file):
            return f"{called.filename}, line {called.lineno}"
    return ""


def object_at(what: str, path: str) -> Any:  # noqa: ANN401 - whatever stands there
    """Return what a module holds under a name; raises `ConfigError` that says what is wrong.

    >>> object_at("goal", "os.path:join").__name__
    'join'
    """
    module_name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), attribute)):
        raise ConfigError(f"{what} {path!r}: write it as my_module:MyName")
    # As `python -m` does it: it is mostly a file in the folder where the user works.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise ConfigError(f"{what} {path!r}: {module_name!r} cannot be imported: {error}") from None
    except Exception as error:
        # Whatever the user's own module does while it is imported.
        words = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{what} {path!r}: {module_name!r} cannot be imported: {words}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        # Processes of ours do not run the script of their user (`coati.child_processes`).
        hint = f"; {ONLY_IN_MAIN}" if module_name == "__main__" else ""
        raise ConfigError(f"{what} {path!r}: {module_name} has no {attribute!r}{hint}") from None


def made_at(what: str, path: str) -> Any:  # noqa: ANN401 - whatever stands there
    """Return what comes of calling the object of this name without arguments."""
    return made_by(object_at(what, path), what, path)


def made_by(make: Any, what: str, path: str, *arguments: object, takes: str = "no arguments") -> Any:  # noqa: ANN401 - whatever stands there
    """Call the object that a user named; raises `ConfigError` where that fails."""
    try:
        return make(*arguments)
    except CoatiError:
        # It says itself what is wrong, such as a key that is missing.
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{what} {path!r}: it cannot be made; it takes {takes}, and the call failed with {words}"
        ) from error


def require_members(made: object, what: str, path: str, members: Sequence[str]) -> None:
    """Raise `ConfigError` unless what a user named has all of these attributes and methods.

    >>> require_members(3, "profile", "mine:Cms", ("real", "title"))
    Traceback (most recent call last):
    coati.errors.ConfigError: profile 'mine:Cms' has no title; it needs real, title
    """
    missing = [name for name in members if not hasattr(made, name)]
    if missing:
        raise ConfigError(f"{what} {path!r} has no {', '.join(missing)}; it needs {', '.join(members)}")
