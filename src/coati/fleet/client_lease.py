"""One client at a time: whoever chooses for a store holds its lease, and is named to whoever comes second."""

from __future__ import annotations

import getpass
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from coati.errors import ConfigError
from coati.fleet.leases import HeldLease, Lease, LeaseHeldError, LeaseLostError, Leases
from coati.fleet.objects import ObjectStore, StoreError

CLIENT: Final = "coati-client"


def client_name() -> str:
    """Say who chooses: the user, the machine and the process."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}:{os.getpid()}"


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def take_client_lease(
    store: ObjectStore,
    what: str,
    term_seconds: float,
    on_wait: Callable[[Lease], None] = lambda _: None,
    pause: Callable[[float], None] = _pause,
    clock: Callable[[], float] = time.time,
) -> HeldLease:
    """Become the client of a store.

    The lease of one that died is waited for. Raises `ConfigError` with the name of one that is alive: it
    renews its lease meanwhile.
    """
    leases = Leases(store, client_name(), term_seconds, clock)
    try:
        return leases.take(CLIENT, what)
    except LeaseHeldError as held:
        lease = held.lease
    if not _is_dead(lease.owner):
        on_wait(lease)
        pause(max(0.0, lease.takes_until() - leases.clock()))
        newest = leases.newest(CLIENT)
        if newest is None or newest.number != lease.number or newest.expires_at > lease.expires_at:
            raise _busy(store, newest or lease)
    else:
        put_down(HeldLease(Leases(store, lease.owner), lease))
    try:
        return leases.take(CLIENT, what)
    except LeaseHeldError as held:
        raise _busy(store, held.lease) from None


def put_down(lease: HeldLease) -> None:
    """Give the lease of this client back, if it still has it and the store is there; else it runs out."""
    with suppress(LeaseLostError, StoreError):
        lease.release()


def _is_dead(owner: str) -> bool:
    """Tell whether a client was a process of this machine that is no more."""
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
    since = datetime.fromtimestamp(lease.taken_at, UTC).isoformat(timespec="seconds")
    return ConfigError(
        f"{store.url} is being written by another client: {lease.owner}, since {since}, for a {lease.what}."
        " Let it end, or use another store"
    )
