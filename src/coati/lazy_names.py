"""Names of a package that are imported on first use.

Some packages offer what takes a second to import beside what takes nothing, and most commands need only the
latter. Such a package says where each of its names is defined, and takes its ``__getattr__`` from here.
"""

from __future__ import annotations

import sys
from importlib import import_module

# As `typing` has it; nothing slow is imported here, for those who need one name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def names_from(package: str, places: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a package; ``places`` says which names each module defines.

    >>> find = names_from("coati", {"coati.model": ["Kind"]})
    >>> find("Kind").__name__
    'Kind'
    """
    modules = {name: module for module, names in places.items() for name in names}

    def __getattr__(name: str) -> object:  # noqa: N807 - it becomes the package's
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(modules[name]), name)
        # Found there from now on.
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__
