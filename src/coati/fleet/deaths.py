"""Sites that workers die at: each death is an object, and after three in a row the site is left alone."""

from __future__ import annotations

import json
from typing import Final

from coati.fleet.leases import Lease
from coati.fleet.objects import ObjectStore

# So many without an end of a slice in between.
MOST_DEATHS: Final = 3


def note_death(store: ObjectStore, lease: Lease) -> None:
    """Note that the holder of a lease died; a lease counts once."""
    store.replace(f"sites/{lease.what}/deaths/{lease.name}-{lease.number}", _said(by=lease.owner))


def deaths_at(store: ObjectStore, site: str) -> int:
    """Count those that died at a site since a slice of it ended."""
    return len(store.names(f"sites/{site}/deaths"))


def forget_deaths(store: ObjectStore, site: str) -> None:
    """Count from nothing: a slice of the site ended."""
    for name in store.names(f"sites/{site}/deaths"):
        store.delete(f"sites/{site}/deaths/{name}")


def quarantine(store: ObjectStore, site: str, deaths: int, now: float) -> None:
    """Leave a site alone from now on."""
    store.replace(f"sites/{site}/quarantine", _said(deaths=deaths, at=now))


def is_quarantined(store: ObjectStore, site: str) -> bool:
    """Tell whether a site is left alone."""
    return store.exists(f"sites/{site}/quarantine")


def end_quarantine(store: ObjectStore, site: str) -> bool:
    """Let a site be crawled again; tells whether it was left alone."""
    was = is_quarantined(store, site)
    forget_deaths(store, site)
    store.delete(f"sites/{site}/quarantine")
    return was


def _said(**facts: object) -> bytes:
    return json.dumps(facts).encode()
