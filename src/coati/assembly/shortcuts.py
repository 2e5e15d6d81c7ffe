"""The shortcuts of a crawl; the software behind sites is imported where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coati.assembly.discovery import DISCOVERY
from coati.assembly.registry import REGISTRY
from coati.assembly.strategies import strategy_row
from coati.errors import unknown_name
from coati.named_objects import object_at

if TYPE_CHECKING:
    from coati.shortcuts.shortcuts import Shortcuts

_SUPPORTING = [name for name, row in {**REGISTRY, **DISCOVERY}.items() if row.shortcuts]

SHORTCUTS = {
    "auto": f"if the strategy supports it: {', '.join(_SUPPORTING[:-1])} and {_SUPPORTING[-1]} do",
    "off": "none",
    "only": "only what the site's software lists: no other link is followed",
}


def build_shortcuts(mode: str, strategy: str = "", profiles: Sequence[str] = ()) -> Shortcuts | None:
    """Build the shortcuts of a crawl; None where there are none. ``profiles`` are paths of further ones.

    Without a strategy they are for whichever supports them.
    """
    if mode not in SHORTCUTS:
        raise unknown_name("way to use shortcuts", mode, SHORTCUTS)
    supported = not strategy or strategy_row(strategy).shortcuts
    if not profiles and (mode == "off" or (mode == "auto" and not supported)):
        return None
    from coati.shortcuts.registry import PROFILES, checked_profile
    from coati.shortcuts.shortcuts import Shortcuts

    own = tuple(checked_profile(object_at("profile", path), path) for path in profiles)
    return None if mode == "off" else Shortcuts((*own, *PROFILES), only=mode == "only")
