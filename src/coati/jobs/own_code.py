"""What users name by its path (``my_module:MyThing``), looked at before a command leaves anything behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from coati.experiments.deciding_code import modules_of, require_unchanged
from coati.settings.crawl_plan import require_buildable

if TYPE_CHECKING:
    from coati.settings.run_settings import RunSettings


def require_usable(settings: RunSettings) -> None:
    """Raise `CoatiError` for settings that no crawl can be made of.

    Everything is built once: a strategy or a profile that is misspelt must not begin a run, which would then
    keep others from its folder.
    """
    require_buildable(settings)
    require_current([settings.strategy], [*settings.goal, *settings.profile, *settings.search])


def require_current(strategies: Iterable[str] = (), others: Iterable[str] = ()) -> None:
    """Raise `UsageError` if a file of the user's has changed since this process imported it.

    A command begins with this and does not ask again: a file may be edited while a crawl is running.
    ``others`` are paths of goals and the like. Names of ours have nothing to check.
    """
    modules = [module for name in strategies if ":" in name for module in modules_of(name)]
    modules += [module for name in others if (module := name.partition(":")[0]) != name and "=" not in name]
    # The script or the notebook itself is not imported.
    imported = [module for module in modules if module != "__main__"]
    if imported:
        require_unchanged(imported)
