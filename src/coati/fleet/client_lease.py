"""One client at a time: the client of a store holds its lease, and a second one is refused."""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from coati.errors import ConfigError
from coati.fleet.leases import HeldLease, Lease, LeaseHeldError, LeaseLostError, Leases
from coati.fleet.objects import DamagedObjectError, ObjectStore, StoreError
from coati.fleet.store_retries import pause_for
from coati.times import to_iso_seconds

CLIENT: Final = "coati-client"
# How often it is looked whether a client that may be dead has renewed its lease, or has ended.
_LOOK_SECONDS: Final = 5.0


def client_name() -> str:
    """Return the name of this client: the user, the machine and the process."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}:{os.getpid()}"


def take_client_lease(
    store: ObjectStore,
    what: str,
    term_seconds: float,
    on_wait: Callable[[Lease], None] = lambda _: None,
    pause: Callable[[float], None] = pause_for,
    clock: Callable[[], float] = time.time,
) -> HeldLease:
    """Become the client of a store.

    The lease of one that died is waited for, and of one that ends meanwhile. Raises `ConfigError` with the
    name of one that is alive, as soon as it renews its lease.
    """
    leases = Leases(store, client_name(), term_seconds, clock)
    try:
        return leases.take(CLIENT, what)
    except LeaseHeldError as held:
        lease = held.lease
    if _is_dead(lease.owner):
        release_lease(HeldLease(Leases(store, lease.owner), lease))
    else:
        on_wait(lease)
        _wait_for(lease, leases, pause)
    try:
        return leases.take(CLIENT, what)
    except LeaseHeldError as held:
        raise _busy(store, held.lease) from None


def _wait_for(lease: Lease, leases: Leases, pause: Callable[[float], None]) -> None:
    """Wait until a lease is over or released; raises `ConfigError` if its holder lives."""
    while (seconds := lease.takes_until() - leases.clock()) > 0:
        pause(min(seconds, _LOOK_SECONDS))
        newest = leases.newest(CLIENT) or lease
        if newest.released:
            break
        if newest.number != lease.number or newest.expires_at > lease.expires_at:
            raise _busy(leases.store, newest)


def release_lease(lease: HeldLease) -> None:
    """Release the lease of this client, if it still has it and the store is there; else it expires."""
    with suppress(LeaseLostError, StoreError, DamagedObjectError):
        lease.release()


def _is_dead(owner: str) -> bool:
    """Tell whether a client was a process of this machine that has ended."""
    place, _, process = owner.rpartition(":")
    if place.rpartition("@")[2] != socket.gethostname() or not process.isdecimal():
        return False
    with suppress(PermissionError):
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True
    return False


def _busy(store: ObjectStore, lease: Lease) -> ConfigError:
    since = to_iso_seconds(lease.taken_at)
    return ConfigError(
        f"{store.url} is being written by another client: {lease.owner}, since {since}, for a {lease.what}."
        " Let it end, or use another store"
    )
