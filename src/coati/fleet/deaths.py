"""Sites that workers die at: each death is an object, and a site with too many is left alone.

A site is known by the place of its run in the store, which is what its lease is held for.

Workers die for many reasons, and with them every site that they are crawling. A site that kills them does so
again and again at the same place. So deaths count in a row if nothing of the run was published between them,
and more are needed where something was. An end of a slice forgets them all.

Where workers are killed often, a site may still be left alone that did nothing. So each one gets a last try,
when all other sites are over; should its worker die once more, it is left alone for good.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from coati.fleet.generations import Chain
from coati.fleet.leases import Lease
from coati.fleet.objects import DamagedObjectError, ObjectStore, parsed

# This many at the same place, or this many in all, are too many.
MOST_AT_ONE_PLACE: Final = 3
_MOST: Final = 10


class Deaths(NamedTuple):
    """How many workers died at a site since a slice of it ended, and of these, at where the run is now."""

    all: int
    here: int

    @property
    def are_too_many(self) -> bool:
        """Whether the site is to be left alone."""
        return self.here >= MOST_AT_ONE_PLACE or self.all >= _MOST


def note_death(store: ObjectStore, lease: Lease) -> None:
    """Note that the holder of a lease died; a lease counts once.

    One that died before it had claimed the run says nothing about the site: it was still loading.
    """
    place = lease.what
    newest = Chain(store, place).newest()
    if newest is not None and newest.token == lease.number:
        facts = _facts_json(by=lease.owner, requests=newest.state.requests)
        store.create(f"{place}/deaths/{lease.name}-{lease.number}", facts)


def deaths_at(store: ObjectStore, place: str) -> Deaths:
    """Count those that died at a site since a slice of it ended."""
    names = store.names(f"{place}/deaths")
    if not names:
        return Deaths(0, 0)
    notes = [f"{place}/deaths/{name}" for name in names]
    noted = [_read_facts(store, note).get("requests") for note in notes]
    newest = Chain(store, place).newest()
    here = 0 if newest is None else newest.state.requests
    return Deaths(len(names), noted.count(here))


def forget_deaths(store: ObjectStore, place: str) -> None:
    """Count from nothing: a slice of the site ended."""
    for name in store.names(f"{place}/deaths"):
        store.delete(f"{place}/deaths/{name}")


def quarantine(store: ObjectStore, place: str, deaths: int, now: float) -> None:
    """Leave a site alone from now on, but for a last try."""
    # One that had its last try keeps that.
    store.create(f"{place}/quarantine", _facts_json(deaths=deaths, at=now))


def has_last_try(store: ObjectStore, place: str) -> bool:
    """Tell whether a site is left alone and has its last try before it."""
    return is_quarantined(store, place) and not _read_facts(store, f"{place}/quarantine").get("last_try")


def use_last_try(store: ObjectStore, place: str, token: int, now: float) -> bool:
    """Note the last try of a site, before it is made; tells whether it had not been used by another lease."""
    name = f"{place}/quarantine"
    facts = _read_facts(store, name)
    if facts.get("last_try", token) != token:
        return False
    store.replace(name, _facts_json(**{**facts, "last_try": token, "last_try_at": now}))
    return True


def is_quarantined(store: ObjectStore, place: str) -> bool:
    """Tell whether a site is left alone."""
    return store.exists(f"{place}/quarantine")


def end_quarantine(store: ObjectStore, place: str) -> bool:
    """Let a site be crawled again; tells whether it was left alone."""
    was = is_quarantined(store, place)
    forget_deaths(store, place)
    store.delete(f"{place}/quarantine")
    return was


def _read_facts(store: ObjectStore, name: str) -> dict[str, Any]:
    """Read a note; a damaged one still says by its name that there was a death, or a quarantine."""
    try:
        return parsed(store.read(name) or b"{}", name)
    except DamagedObjectError:
        return {}


def _facts_json(**facts: object) -> bytes:
    return json.dumps(facts).encode()
