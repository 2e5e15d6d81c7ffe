"""Which worker may crawl a site: leases in the store, each with a term and a fencing number.

A lease is an object ``leases/NAME/NUMBER`` that only one can create. The highest number holds. Whoever wants
the lease next creates the next number, once the holder has released it, or once the term is over and the pace
of the site has passed since. A holder renews its own object. One that was thought dead finds a higher number
and has lost it: it neither sends requests nor publishes any more.

Clocks of the machines may differ by a quarter of the term: that much before the end a holder stops sending
requests. A lease that nobody released is the trace of a holder that died: its next holder is told.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from coati.errors import CoatiError
from coati.fleet.objects import DamagedObjectError, ObjectStore, parsed
from coati.live.cookies import registered_domain
from coati.web.urls import host_of

# Of the term, the part after which a holder that could not renew sends nothing more.
_SAFE_SHARE: Final = 0.75
_UNSAFE = re.compile(r"[^a-z0-9.\-]+")


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as it stands in the store. Times are seconds since the epoch.

    ``pace_seconds`` is how long the site must be left alone after the holder's last request, and ``free_at``
    is when that is over, where the holder has released it. ``what`` is what it is held for.
    """

    name: str
    number: int
    owner: str
    what: str
    taken_at: float
    expires_at: float
    pace_seconds: float = 0.0
    released: bool = False
    free_at: float = 0.0

    def takes_until(self) -> float:
        """Return from when on somebody else may take it."""
        return self.free_at if self.released else self.expires_at + self.pace_seconds


class LeaseHeldError(CoatiError):
    """Somebody else holds the lease, or the site has to be left alone for a moment; ``lease`` says more."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        super().__init__(f"{lease.owner} holds {lease.name} for {lease.what}")


class LeaseLostError(CoatiError):
    """Somebody else has taken the lease meanwhile."""


def lease_name(url: str) -> str:
    """Return what a site is leased by: its registered domain, or its address where it has no name.

    >>> lease_name("https://data.example.co.uk/x"), lease_name("http://127.0.0.2:8000/")
    ('example.co.uk', '127.0.0.2')
    """
    return _UNSAFE.sub("-", registered_domain(host_of(url)).lower()).strip("-") or "site"


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of one store, as one owner sees them."""

    store: ObjectStore
    owner: str
    term_seconds: float = 60.0
    clock: Callable[[], float] = field(default=time.time)

    def take(self, name: str, what: str, pace_seconds: float = 0.0) -> HeldLease:
        """Take a lease; raises `LeaseHeldError` while somebody else has it."""
        now = self.clock()
        before = self.newest(name)
        if before is not None and now < before.takes_until():
            raise LeaseHeldError(before)
        lease = Lease(
            name,
            1 if before is None else before.number + 1,
            self.owner,
            what,
            taken_at=now,
            expires_at=now + self.term_seconds,
            pace_seconds=pace_seconds,
        )
        is_made = self.store.create(_path(lease), _written(lease))
        numbers = self._numbers(name)
        if not is_made or numbers[-1:] != [lease.number]:
            # Somebody was faster. An object below the highest number means nothing.
            raise LeaseHeldError(self.newest(name) or lease)
        for number in numbers[:-1]:
            self.store.delete(_path(replace(lease, number=number)))
        died = before is not None and not before.released
        return HeldLease(self, lease, before if died else None)

    def newest(self, name: str) -> Lease | None:
        """Return the lease as it stands; None if it was never taken."""
        while numbers := self._numbers(name):
            place = f"leases/{name}/{numbers[-1]:012}"
            content = self.store.read(place)
            if content is not None:
                return _lease(content, place)
        return None

    def is_highest(self, lease: Lease) -> bool:
        """Tell whether nobody has taken a lease since."""
        return self._numbers(lease.name)[-1:] == [lease.number]

    def _numbers(self, name: str) -> list[int]:
        return sorted(int(entry) for entry in self.store.names(f"leases/{name}") if entry.isdecimal())


class HeldLease:
    """A lease in the hands of its owner; ``left_by`` is that of the holder before, if it died."""

    def __init__(self, leases: Leases, lease: Lease, left_by: Lease | None = None) -> None:
        self._leases = leases
        self.lease = lease
        self.left_by = left_by

    @property
    def number(self) -> int:
        """The fencing number."""
        return self.lease.number

    def renew(self, pace_seconds: float | None = None) -> None:
        """Hold it for another term; raises `LeaseLostError` if somebody else has it."""
        begun = self._leases.clock()
        self.check()
        pace = self.lease.pace_seconds if pace_seconds is None else pace_seconds
        renewed = replace(self.lease, expires_at=begun + self._leases.term_seconds, pace_seconds=pace)
        self._leases.store.replace(_path(renewed), _written(renewed))
        self.check()
        self.lease = renewed

    def check(self) -> None:
        """Raise `LeaseLostError` if somebody else has it."""
        if not self._leases.is_highest(self.lease):
            newest = self._leases.newest(self.lease.name)
            owner = "nobody" if newest is None else newest.owner
            raise LeaseLostError(f"the lease of {self.lease.name} was taken over by {owner}")

    @property
    def seconds_usable(self) -> float:
        """How long the holder may send requests without renewing it."""
        margin = (1 - _SAFE_SHARE) * self._leases.term_seconds
        return self.lease.expires_at - margin - self._leases.clock()

    def release(self, free_at: float = 0.0) -> None:
        """Release it; the site is to be left alone until ``free_at``."""
        self.check()
        released = replace(self.lease, released=True, free_at=free_at)
        self._leases.store.replace(_path(released), _written(released))
        self.lease = released


def _path(lease: Lease) -> str:
    return f"leases/{lease.name}/{lease.number:012}"


def _written(lease: Lease) -> bytes:
    return json.dumps(asdict(lease)).encode()


def _lease(content: bytes, name: str) -> Lease:
    values = parsed(content, name)
    try:
        return Lease(**values)
    except TypeError as error:
        raise DamagedObjectError(name, f"is damaged, or of another version: {error}") from None
