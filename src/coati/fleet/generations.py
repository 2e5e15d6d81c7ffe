"""The published states of one run, as a chain of generations in the store.

A generation is a manifest ``PLACE/generations/NUMBER`` that names the parts of the run: its database as a
whole and the pages that changed since, its pages, its other files. Parts are put there first, so that whoever
reads a manifest sees a whole run. Target files are not named: the database has their hashes, and they are
objects of all sites together (`target_object`).

The next generation can be created once. Whoever takes over a run first creates one of their own, with nothing
new in it. So a worker that was thought dead cannot publish any more: the number that it would use is taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from coati.bandits.site_choice import Promises
from coati.errors import CoatiError
from coati.fleet.objects import DamagedObjectError, ObjectStore, parsed
from coati.harvesting.folder import SiteSummary
from coati.version import __version__

# Readers may still be busy with these.
_KEPT: Final = 3


class ChainBrokenError(CoatiError):
    """Somebody else has published the next generation of a run: it is theirs now."""


@dataclass(frozen=True, slots=True)
class Part:
    """An object with a piece of a run; the name ends with a hash of its content."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RunState:
    """What a generation says of its run: what it cost and brought, and what is to be expected of it.

    ``done``: nothing is left to request. ``free_at`` is until when it must be left alone.
    """

    start_url: str = ""
    requests: int = 0
    targets: int = 0
    files: int = 0
    target_bytes: int = 0
    bytes: int = 0
    pages: int = 0
    failures: int = 0
    seconds: float = 0.0
    stop_reason: str | None = None
    promises: Promises = field(default_factory=Promises)
    done: bool = False
    free_at: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the run has begun, and its last session has not ended: it rests, or its worker died."""
        return bool(self.requests) and self.stop_reason is None and not self.done

    @classmethod
    def of_summary(cls, summary: SiteSummary, promises: Promises) -> RunState:
        """Return the state of a run that is not done."""
        return cls(promises=promises, **{name: getattr(summary, name) for name in _COUNTED})

    def summary(self, site: str) -> SiteSummary:
        """Return a site as any harvest's report has it."""
        counted = {name: getattr(self, name) for name in _COUNTED}
        return SiteSummary(site=site, folder=f"sites/{site}", **counted)


_COUNTED: Final = tuple(name for name in SiteSummary.__slots__ if name in RunState.__slots__)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation.

    ``token`` is the fencing number of the lease under which it was published. ``slices`` counts those that
    ended. ``tables`` has the events after and up to which the last slice's rows stand in tables.
    """

    site: str
    generation: int
    token: int
    owner: str
    written_at: float
    database: tuple[Part, ...] = ()
    warc: tuple[Part, ...] = ()
    files: Mapping[str, Part] = field(default_factory=dict)
    state: RunState = field(default_factory=RunState)
    slices: int = 0
    tables: tuple[int, int] = (0, 0)
    coati: str = __version__

    def parts(self) -> Iterable[Part]:
        """Return all its parts."""
        return (*self.database, *self.warc, *self.files.values())

    def to_bytes(self) -> bytes:
        """Return it as the content of an object."""
        return json.dumps(self, default=_values).encode()

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> Manifest:
        """Read the object of this name; raises `DamagedObjectError` where it is damaged."""
        values = parsed(content, name)
        try:
            return cls(
                **{
                    **values,
                    "database": _parts(values["database"]),
                    "warc": _parts(values["warc"]),
                    "files": {name: Part(**part) for name, part in values["files"].items()},
                    "state": _state(values["state"]),
                    "tables": tuple(values["tables"]),
                }
            )
        except (LookupError, TypeError, AttributeError) as error:
            raise DamagedObjectError(name, f"is damaged, or of another version: {error}") from None


def _values(thing: object) -> dict[str, object]:
    """Return the fields of a dataclass; `dataclasses.asdict` would copy all that is below them."""
    return {name: getattr(thing, name) for name in type(thing).__slots__}  # type: ignore[attr-defined]


def _state(values: dict[str, Any]) -> RunState:
    # Other versions of Coati may have said more, or less; former ones called failures errors.
    values = {"failures": values.get("errors", 0), **values}
    known = {one.name: values[one.name] for one in fields(RunState) if one.name in values}
    return RunState(**{**known, "promises": Promises(*values.get("promises", ()))})


def _parts(values: list[dict[str, Any]]) -> tuple[Part, ...]:
    return tuple(Part(**part) for part in values)


def target_object(sha256: str) -> str:
    """Return the name of the object that holds a target file."""
    return f"objects/{sha256[:2]}/{sha256}"


class Chain:
    """The generations of one run; ``place`` is its folder in the store."""

    def __init__(self, store: ObjectStore, place: str) -> None:
        self.store = store
        self.place = place

    def newest(self) -> Manifest | None:
        """Return the last generation; None if nothing was published yet."""
        while numbers := self._numbers():
            content = self.store.read(self._name(numbers[-1]))
            if content is not None:
                return Manifest.from_bytes(content, self._name(numbers[-1]))
        return None

    def add(self, manifest: Manifest) -> None:
        """Publish a generation; raises `ChainBrokenError` if somebody else has published that one."""
        if not self.store.create(self._name(manifest.generation), manifest.to_bytes()):
            raise ChainBrokenError(f"{self.place} was published by somebody else meanwhile")

    def prune(self, token: int) -> None:
        """Remove what only old generations needed; of others, what belongs to later tokens is not touched."""
        numbers = self._numbers()
        for number in numbers[:-_KEPT]:
            self.store.delete(self._name(number))
        kept = [self.store.read(self._name(number)) for number in numbers[-_KEPT:]]
        if None in kept:
            # Somebody else is at it.
            return
        try:
            needed = {
                part.name.rpartition("/")[2]
                for number, content in zip(numbers[-_KEPT:], kept, strict=True)
                for part in Manifest.from_bytes(content or b"", self._name(number)).parts()
            }
        except DamagedObjectError:
            # Nobody knows what an older generation needs; it goes when newer ones come.
            return
        for name in self.store.names(f"{self.place}/parts"):
            if name not in needed and int(name.partition("-")[0]) <= token:
                self.store.delete(f"{self.place}/parts/{name}")

    def _numbers(self) -> list[int]:
        names = self.store.names(f"{self.place}/generations")
        return sorted(int(name) for name in names if name.isdecimal())

    def _name(self, number: int) -> str:
        return f"{self.place}/generations/{number:012}"
