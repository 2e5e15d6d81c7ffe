"""The shortcuts of a crawl; the software behind sites is imported where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coati.assembly.strategies import strategy_row
from coati.errors import unknown_name
from coati.named_objects import object_at

if TYPE_CHECKING:
    from coati.shortcuts.shortcuts import Shortcuts

SHORTCUTS = {
    "auto": "if the strategy supports it: scent does, the published strategies do not",
    "off": "none",
    "only": "only what the site's software lists: no other link is followed",
}


def build_shortcuts(mode: str, strategy: str, profiles: Sequence[str] = ()) -> Shortcuts | None:
    """Build the shortcuts of a crawl; None where there are none. ``profiles`` are paths of further ones."""
    if mode not in SHORTCUTS:
        raise unknown_name("way to use shortcuts", mode, SHORTCUTS)
    if not profiles and (mode == "off" or (mode == "auto" and not strategy_row(strategy).shortcuts)):
        return None
    from coati.shortcuts.registry import PROFILES, checked_profile
    from coati.shortcuts.shortcuts import Shortcuts

    own = tuple(checked_profile(object_at("profile", path), path) for path in profiles)
    return None if mode == "off" else Shortcuts((*own, *PROFILES), only=mode == "only")
